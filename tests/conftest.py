"""Fixtures shared by all tests: the real engine in a throw-away world."""

from pathlib import Path

import hypothesis
import pytest

from tests.project import Project
from tools import engine, toolchain
from tools.paths import VENV

# How fast the machine is must not decide whether a property holds.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")


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
        runtime = f"runtime: {{name: python, options: {{virtualenv: {VENV}}}}}"
        (folder / "Pulumi.yaml").write_text(f"name: {name}\n{runtime}\n{extra_yaml}")
        project = Project(folder, isolated_engine)
        project.succeed("stack", "init", "test")
        return project

    return make
