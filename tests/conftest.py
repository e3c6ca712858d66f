"""Fixtures shared by all tests: the real engine in a throw-away world."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools import engine, toolchain  # noqa: E402 - found through the line above


@dataclass(frozen=True)
class Project:
    """A Pulumi project with a stack `test` on the real engine."""

    folder: Path
    pulumi: engine.Engine

    def run(self, *arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        return self.pulumi.run(*arguments, cwd=self.folder, timeout=timeout)

    def succeed(self, *arguments: str, timeout: float = 120) -> str:
        done = self.run(*arguments, timeout=timeout)
        assert done.returncode == 0, f"pulumi {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def fail(self, *arguments: str, timeout: float = 120) -> str:
        done = self.run(*arguments, timeout=timeout)
        assert done.returncode != 0, f"pulumi {' '.join(arguments)} should have failed\n{done.stdout}"
        return done.stdout + done.stderr

    def up(self, *arguments: str) -> str:
        return self.succeed("up", "--yes", "--skip-preview", *arguments)


@pytest.fixture(scope="session")
def tools_provided() -> toolchain.Toolchain:
    """What set-up has provided. Engine tests fail, never skip, when it is missing."""
    return toolchain.load()


@pytest.fixture
def isolated_engine(tools_provided: toolchain.Toolchain, tmp_path: Path) -> engine.Engine:
    return engine.isolated(tools_provided, tmp_path / "world")


@pytest.fixture
def make_project(isolated_engine: engine.Engine, tmp_path: Path):
    """Write a Python project and give it a stack."""

    def make(program: str, *, name: str = "small", extra_yaml: str = "") -> Project:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__main__.py").write_text(program)
        venv = ROOT / ".venv"
        runtime = f"runtime: {{name: python, options: {{virtualenv: {venv}}}}}"
        (folder / "Pulumi.yaml").write_text(f"name: {name}\n{runtime}\n{extra_yaml}")
        project = Project(folder, isolated_engine)
        project.succeed("stack", "init", "test")
        return project

    return make
