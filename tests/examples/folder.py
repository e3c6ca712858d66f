"""The folder of examples as somebody has it who has installed the package, and what they run in it."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from testbed import languages
from testbed.loopback import with_registries
from testbed.worker_build import share_packages
from tests.examples import readme
from tools.local.projects import stack_of
from tools.paths import ROOT, cache_root

EXAMPLES = ROOT / "examples"
LANGUAGES = [EXAMPLES / name for name in languages.ALL]
"""`tests/engine/test_languages.py` runs them: they bring what runs them along."""
ALL = sorted(
    path
    for path in EXAMPLES.iterdir()
    if path.is_dir() and path not in LANGUAGES and not path.name.startswith((".", "__"))
)
SHARED = EXAMPLES / "stack"
"""What the clients call."""
PROJECTS = [path for path in ALL if (path / "Pulumi.yaml").exists() and path != SHARED]
"""They deploy a stack of their own."""
CLIENTS = [path for path in ALL if path not in PROJECTS and path != SHARED]


class Folder:
    """A copy of the examples, and a home that must stay empty."""

    def __init__(self, folder: Path, environment: Path) -> None:
        self.path, self.home = folder / "examples", folder / "home"
        self.home.mkdir()
        shutil.copytree(EXAMPLES, self.path, ignore=shutil.ignore_patterns(".*local", ".venv", "node_modules"))
        # What installing would do, without asking anybody: the versions of all lock files are the same.
        for project in (SHARED, *PROJECTS):
            copy = self.path / project.name
            (copy / ".venv").symlink_to(environment)
            packages = next(share_packages(copy).glob("packages/*/node_modules"))
            if (copy / "worker").exists():
                (copy / "worker" / "node_modules").symlink_to(packages)
        # Projects of programs that are clients themselves.
        (self.path / ".venv").symlink_to(environment)
        for project in self.path.glob("*/*/Pulumi.yaml"):
            share_packages(project.parent)
        self.env = with_registries(os.environ) | {
            "PATH": f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            # Nobody answers there: what is deployed must not depend on whether this machine reaches Docker Hub.
            "DOCKER_HUB_MIRROR": "http://127.0.0.1:9",
            "NO_PROXY": ".localhost,127.0.0.1",
            "XDG_CACHE_HOME": str(cache_root().parent),
            "npm_config_cache": str(ROOT / ".local" / "npm"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def type(self, steps: Sequence[readme.Step]) -> None:
        """Type commands into one shell; what they print is what is shown."""
        problems = readme.run(steps, self.path, self.env)
        assert not problems, "\n".join(problems)

    def printed(self, command: str) -> str:
        """What a command prints that is not in a README."""
        argv = ["bash", "-c", command]
        done = subprocess.run(argv, cwd=self.path, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def take_down(self) -> None:
        """End what a test that has failed left behind."""
        for project in self.path.glob("*/.sandbox-local"):
            # An emulator without any stack ends with whichever stack is named.
            for stack in stack_of(project.parent, name="none").known() or ["none"]:
                name = stack.rpartition("/")[2]
                self.printed(f"sandbox-stack local down --force --project {project.parent.name} --stack {name}")
            assert not (project / "emulator.json").exists(), f"the emulator of {project.parent.name} still runs"
