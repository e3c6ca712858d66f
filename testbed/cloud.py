"""An emulated account as engine tests see it: what it holds, what it was asked, and a program deployed to it."""

import json
import shutil
from pathlib import Path
from typing import Any

import yaml

from testbed.account import EmulatedAccount
from testbed.project import Project
from testbed.worker_build import share_packages
from tools.paths import ROOT

WRITES = ("POST", "PUT", "PATCH", "DELETE")


class Cloud(EmulatedAccount):
    """The account, with its requests by path."""

    def calls(self) -> list[str]:
        """What was asked of the API since the last time."""
        found = [f"{each['method']} {each['path']}" for each in self.journal() if "/_emulator/" not in each["path"]]
        self.clear_journal()
        return found

    def writes(self) -> list[str]:
        """What was asked since the last time that changes something; minting credentials does not."""
        return [each for each in self.calls() if each.startswith(WRITES) and not each.endswith("/credentials")]


class Program:
    """A copy of this repository's program with a stack `test`, so that its stack file can be written to."""

    def __init__(self, project: Project, cloud: Cloud, builder: str) -> None:
        self.project, self.cloud, self.builder = project, cloud, builder

    def settings(self, document: dict[str, Any], **config: str) -> None:
        """Write the stack's settings; images are built by the test's builder."""
        further = {
            kind: {**each, "image": self._built(each)} for kind, each in document.get("further_sandboxes", {}).items()
        }
        whole = {**document, "image": self._built(document), **({"further_sandboxes": further} if further else {})}
        path = self.project.folder / "Pulumi.test.yaml"
        kept = yaml.safe_load(path.read_text()) if path.exists() else {}
        written = {f"sandbox-stack:{key}": value for key, value in {"settings": whole, **config}.items()}
        path.write_text(yaml.safe_dump({**kept, "config": written}))

    def _built(self, kind: dict[str, Any]) -> dict[str, Any]:
        image = kind.get("image", {})
        return image if "reference" in image else {**image, "builder": {"name": self.builder}}

    def outputs(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.project.succeed("stack", "output", "--json"))
        return found

    def up(self, *arguments: str) -> str:
        return self.project.up(*arguments)

    def destroy(self) -> str:
        return self.project.succeed("destroy", "--yes", "--skip-preview", timeout=180)


def copy_of_the_program(folder: Path) -> None:
    """Copy what a deployment needs."""
    ignored = shutil.ignore_patterns("__pycache__", "node_modules", "dist", "test")
    for name in ("components", "images", "worker_src"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / name, folder)
    (folder / ".venv").symlink_to(ROOT / ".venv")
    share_packages(folder)
