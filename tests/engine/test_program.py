"""This repository's own program on the real engine."""

import json
import shutil
from pathlib import Path

import pytest

from tests.project import Project
from tools import engine

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.engine


@pytest.fixture
def program(isolated_engine: engine.Engine, tmp_path: Path) -> Project:
    """A copy of the program, so that its stack file can be written to."""
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT / "components", folder / "components", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / name, folder)
    (folder / ".venv").symlink_to(ROOT / ".venv")
    project = Project(folder, isolated_engine)
    project.succeed("stack", "init", "test")
    return project


def test_up_twice_and_destroy(program: Project):
    assert "+ 2 created" in program.up()
    assert json.loads(program.succeed("stack", "output", "--json")) == {
        "bucket_names": {
            "artifacts": "sandbox-test-artifacts",
            "backups": "sandbox-test-backups",
            "files": "sandbox-test-files",
        },
        "environment": "lasting",
        "image_name": "sandbox-test-image",
        "worker_name": "sandbox-test",
    }
    assert "2 unchanged" in program.up("--expect-no-changes")
    assert "- 2 deleted" in program.succeed("destroy", "--yes", "--skip-preview")


def test_settings_reach_the_stack(program: Project):
    program.succeed("config", "set", "--path", "settings.name", "mine")
    program.succeed("config", "set", "--path", "settings.environment", "throw-away")
    program.up()
    outputs = json.loads(program.succeed("stack", "output", "--json"))
    assert (outputs["worker_name"], outputs["environment"]) == ("mine-test", "throw-away")


def test_wrong_settings_stop_the_preview_with_all_mistakes_and_no_traceback(program: Project):
    program.succeed("config", "set", "--path", "settings.name", "Not Valid")
    program.succeed("config", "set", "--path", "settings.colour", "red")
    output = program.fail("preview")
    assert "2 mistakes in the sandbox settings:" in output
    assert "name: use 1 to 32 lower-case letters" in output
    assert "colour: no such setting; known are environment, name" in output
    assert "Traceback" not in output
