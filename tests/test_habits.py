"""What the repository says to contributors is true: files it names are there, and its own pipeline runs `.ci/run`."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from tools.paths import ROOT

SECURITY = (ROOT / "SECURITY.md").read_text()
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
PAGES = [ROOT / name for name in ("SECURITY.md", "CODE_OF_CONDUCT.md", ".github/PULL_REQUEST_TEMPLATE.md")]


@pytest.mark.parametrize("place", re.findall(r"`((?:worker_src|components|emulator)/[\w./-]*)`", SECURITY))
def test_each_promise_names_a_place_that_is_there(place: str):
    assert (ROOT / place).exists()


def test_the_pipeline_does_what_a_change_must_pass_and_has_no_more_rights_than_to_read():
    steps = WORKFLOW["jobs"]["ci"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert [command.split()[-2:] for command in commands] == [["bash", ".ci/run"]]
    assert WORKFLOW["permissions"] == {"contents": "read"}


def test_hooks_and_dev_container_use_the_environment_that_set_up_makes():
    hooks = [hook for repository in HOOKS["repos"] for hook in repository["hooks"]]
    assert {hook["entry"].partition("/")[0] for hook in hooks} == {".venv"}
    described = "\n".join((ROOT / ".devcontainer" / "devcontainer.json").read_text().splitlines()[1:])
    container = json.loads(described)
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"].removeprefix(">=")
    assert f"python:{oldest}-" in container["image"]
    assert container["postCreateCommand"] == "make setup"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_target_of_make_that_a_page_names_is_there(page: Path):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)`", page.read_text())) <= targets
