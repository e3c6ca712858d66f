"""Both sides of the comparison: this program under `pulumi`, and a project of `wrangler` with the same Worker.

Each says what to prepare for a case, which is not timed, and which commands a user would type, which is. Both have
their packages installed and have run once before.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import yaml

from bench.deployments.cases import Case
from bench.deployments.commands import Command
from bench.deployments.stage import Stage
from components.bundle import packaged
from components.platform import compatibility
from components.stack import BUILD_FOLDER
from testbed import worker_build
from testbed.cloud import copy_of_the_program
from testbed.project import Project
from testbed.wrangler.cli import Wrangler
from tools.local import engine
from tools.setup.toolchain import Toolchain

_ENTRY = "src/index.ts"
_LINE = "    const { hostname, pathname } = new URL(request.url);\n"
_DATE = "2026-07-01"
_INSTANCES = {"instance_type": "basic", "max_instances": 10}
_NO_STORAGE = {role: {"enabled": False} for role in ("files", "backups", "artifacts", "conversations")}
# Whatever both sides can be told, so that they upload the same.
_VARIABLES = {"ENVIRONMENT": "throw-away", "SANDBOX_LOG_LEVEL": "error"}

LIKE = {
    "name": "like",
    "environment": "throw-away",
    "container": _INSTANCES,
    "storage": _NO_STORAGE,
    "worker": {"compatibility_date": _DATE, "schedules": [], "rate_limit": None},
}
"""Settings of a stack that is what wrangler's project is: Worker, class and application."""
WHOLE = {
    "name": "whole",
    "environment": "throw-away",
    "container": _INSTANCES,
    "worker": {"compatibility_date": _DATE},
    "domain": {"hostname": "sandbox.localhost"},
}
"""Settings of a stack with storage, schedule, token and domain."""


class Side(Protocol):
    """One way to deploy."""

    def prepare(self, case: Case, number: int) -> None:
        """Bring the files into the state of the case; `number` differs between rounds."""

    def commands(self, case: Case) -> list[Command]:
        """Return what a user would type."""


class Pulumi:
    """This repository's program, in a copy of its own."""

    def __init__(self, folder: Path, tools: Toolchain, stage: Stage, settings: Mapping[str, Any]) -> None:
        copy_of_the_program(folder)
        pulumi = engine.isolated(tools, folder.with_name(f"{folder.name}-engine"), extra=stage.cloud.env)
        self.project = Project(folder, pulumi)
        self.project.succeed("stack", "init", "test")
        self._stage, self._settings = stage, settings
        self._code = Code(folder / "worker_src")

    def prepare(self, case: Case, number: int) -> None:
        if case is Case.FIRST:
            # Nobody has a bundle before the first deployment.
            shutil.rmtree(self.project.folder / BUILD_FOLDER / "worker", ignore_errors=True)
            self._code.restore()
            self.configure(self._stage.images[0])
        elif case is Case.CODE:
            self._code.change(number)
        elif case is Case.IMAGE:
            self.configure(self._stage.images[1])

    def commands(self, case: Case) -> list[Command]:
        verb = {Case.PREVIEW: "preview", Case.DESTROY: "destroy"}.get(case, "up")
        arguments = [verb] if verb == "preview" else [verb, "--yes", "--skip-preview"]
        return [self.command(*arguments)]

    def command(self, *arguments: str) -> Command:
        pulumi = self.project.pulumi
        argv = (str(pulumi.program), *arguments, "--non-interactive")
        return Command(argv, self.project.folder, pulumi.env)

    def configure(self, image: str, **config: Any) -> None:
        """Write the stack's configuration."""
        path = self.project.folder / "Pulumi.test.yaml"
        kept = yaml.safe_load(path.read_text())
        written = {"settings": {**self._settings, "image": {"reference": image}}, **config}
        path.write_text(yaml.safe_dump({**kept, "config": {f"sandbox-stack:{key}": written[key] for key in written}}))


class WranglerProject:
    """The same Worker as a project of wrangler."""

    def __init__(self, folder: Path, wrangler: Wrangler, stage: Stage, name: str) -> None:
        source = packaged.folder("worker_src")
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("node_modules", "dist", "test", ".wrangler"))
        packages = worker_build.packages() / "node_modules"
        (folder / "node_modules").symlink_to(packages)
        self._folder, self._wrangler, self._stage, self._name = folder, wrangler, stage, name
        self._apply_diff = str(packages / "@openai/agents-core/dist/utils/applyDiff.mjs")
        self._code = Code(folder)

    def prepare(self, case: Case, number: int) -> None:
        if case is Case.FIRST:
            self._code.restore()
            self._configure(self._stage.images[0])
        elif case is Case.CODE:
            self._code.change(number)
        elif case is Case.IMAGE:
            self._configure(self._stage.images[1])

    def commands(self, case: Case) -> list[Command]:
        if case is Case.DESTROY:
            # The first leaves the application running, warns of it and names the second.
            application = self._stage.applications()[self._name]
            return [self._command("delete", "--force"), self._command("containers", "delete", application)]
        return [self._command("deploy", *(["--dry-run"] if case is Case.PREVIEW else []))]

    def _command(self, *arguments: str) -> Command:
        argv = (str(self._wrangler.node / "node"), str(self._wrangler.program), *arguments)
        # Neither side asks the network for newer versions of itself.
        env = {**self._wrangler.environment(), "WRANGLER_HIDE_BANNER": "true"}
        return Command(argv, self._folder, env)

    def _configure(self, image: str) -> None:
        config = {
            "name": self._name,
            "main": _ENTRY,
            "compatibility_date": _DATE,
            "compatibility_flags": compatibility.flags(_DATE),
            "minify": True,
            # What build.mjs does too: the whole of this package would be 800 kB.
            "alias": {"@openai/agents": self._apply_diff},
            "workers_dev": False,
            "preview_urls": False,
            "observability": {"enabled": True, "head_sampling_rate": 1},
            "vars": _VARIABLES,
            "durable_objects": {"bindings": [{"name": "Sandbox", "class_name": "Sandbox"}]},
            "migrations": [{"tag": "v1", "new_sqlite_classes": ["Sandbox"]}],
            "containers": [{"class_name": "Sandbox", "name": self._name, "image": image, **_INSTANCES}],
        }
        (self._folder / "wrangler.json").write_text(json.dumps(config))


class Code:
    """The Worker's entry, in which one line is changed."""

    def __init__(self, worker_src: Path) -> None:
        self._entry = worker_src / _ENTRY
        self._original = self._entry.read_text()

    def change(self, number: int) -> None:
        """Add one line that no round before had."""
        changed = f'    if (pathname === "/bench-{number}") return new Response("{number}");\n'
        text = self._original.replace(_LINE, _LINE + changed)
        assert text != self._original, f"{self._entry.name} has lost the line that is changed"
        self._entry.write_text(text)

    def restore(self) -> None:
        self._entry.write_text(self._original)
