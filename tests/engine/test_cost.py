"""What a preview says of money: what a stack costs, what a change of size or number does to it, and the budget."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from components import cli
from components.commands.exits import Exit
from testbed.cloud import Cloud, copy_of_the_program
from testbed.project import Project
from tools.local import bases, engine
from tools.local.emulator import Emulated
from tools.setup.toolchain import Toolchain

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]  # many runs of the engine, on a machine under load
KEYS = {"api_keys": {"a": {"sha256": "c" * 64, "tenant": "t", "scopes": ["*"]}}}
SMALL = {"instance_type": "lite", "max_instances": 3}
LARGE = {"instance_type": "standard-1", "max_instances": 5}
LINE = (
    "about $5.30 (idle) to $27.69 (every instance busy) a month by list prices of 2026-10; `sandbox-stack cost` tells"
)
DIFFERENCE = (
    "3 x lite cost at most $15.67 a month, 5 x standard-1 at most $266.46: a difference of +$250.79 (all instances"
)


def previewed(project: Project, *arguments: str) -> str:
    done = project.run("preview", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def priced(file: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert cli.main(["cost", "--preview", str(file), *arguments]) == Exit.DONE
    return capsys.readouterr().out


@pytest.mark.long
def test_a_preview_says_what_a_change_costs(
    cloud: Cloud,
    tools_provided: Toolchain,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    folder = tmp_path / "checkout"
    copy_of_the_program(folder)
    project = Project(folder, engine.isolated(tools_provided, tmp_path / "engine", extra=cloud.env))
    project.succeed("stack", "init", "test")
    served = cloud.emulator
    image = bases.seed_empty(Emulated(served.url, served.account_id, served.token))
    path = folder / "Pulumi.test.yaml"
    kept = yaml.safe_load(path.read_text()) if path.exists() else {}

    def settings(**document: Any) -> None:
        whole = {"environment": "throw-away", "access": KEYS, "image": {"reference": image}, **document}
        path.write_text(yaml.safe_dump({**kept, "config": {"sandbox-stack:settings": whole}}))

    settings(container=SMALL)
    first = previewed(project)
    assert first.partition("Diagnostics:")[2].count(LINE) == 1
    assert "a difference of" not in first
    assert "about $" not in project.up(), "an update that was previewed says it once"
    assert "a difference of" not in previewed(project, "--expect-no-changes")

    application = json.loads(project.succeed("stack", "output", "--json"))["application_ids"]["main"]
    awake = f"/containers/{served.account_id}/applications/{application}/instances"
    cloud.control("PUT", awake, json={"state": "running"})
    for name, value in cloud.env.items():
        monkeypatch.setenv(name, value)
    assert cli.main(["cost", "--usage"]) == Exit.DONE
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["sandbox-test-main", "lite", "1", "of", "3", "5.22"] in rows
    assert ["Total", "1", "5.22"] in rows

    settings(container=LARGE)
    assert DIFFERENCE in previewed(project)
    assert DIFFERENCE in previewed(project, "--diff")
    change = tmp_path / "change.json"
    _check_the_file(change, project, lambda *more: priced(change, capsys, *more))

    settings(container=LARGE, budget={"monthly_usd": 100})
    refused = project.fail("preview")
    assert "budget.monthly_usd: the instances may cost 266.46 US dollars a month" in refused
    assert "Traceback" not in refused

    project.succeed("destroy", "--yes", "--skip-preview")
    assert cloud.deployed() == {}


def _check_the_file(change: Path, project: Project, cost: Callable[..., str]) -> None:
    """A change is priced from what the engine writes, whole or with what changes alone."""
    change.write_text(project.succeed("preview", "--json", "--show-sames"))
    shown = cost()
    assert "Before: sandbox-containers 3 x lite " in shown
    assert "After: sandbox-containers 5 x standard-1 " in shown
    assert shown.splitlines()[4].split() == ["Difference", "0.00", "+34.40", "+259.09"]
    found = json.loads(cost("--format", "json"))
    assert found["before"]["idle"] == found["after"]["idle"] == 5.30
    assert "| **Difference** | **0.00** | **+34.40** | **+259.09** |" in cost("--format", "markdown")
    change.write_text(project.succeed("preview", "--json"))
    assert "resources that stay as they are are not in the file" in cost()
