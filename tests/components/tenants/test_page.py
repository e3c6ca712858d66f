"""docs/tenants.md says what there is, and its program runs."""

import inspect
import re
from pathlib import Path

import pytest

import components
from components import Tenants
from components.tenants.outcome import Outcome, Outcomes, Status
from tools.paths import ROOT

PAGE = (ROOT / "docs" / "tenants.md").read_text()


def test_every_argument_method_and_status_is_on_it():
    arguments = set(inspect.signature(Tenants).parameters)
    methods = {name for name, found in vars(Tenants).items() if inspect.isfunction(found) and not name.startswith("_")}
    rows = "\n".join(line.partition(" | ")[0] for line in PAGE.splitlines() if line.startswith("| "))
    named = {name.partition("(")[0] for name in re.findall(r"`([^`]+)`", rows)}
    assert named == arguments | methods | {str(status) for status in Status}


def test_its_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    program, project = (
        re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0] for kind in ("python", "yaml")
    )
    (tmp_path / "customers").mkdir()
    (tmp_path / "customers" / "Pulumi.yaml").write_text(project)
    monkeypatch.chdir(tmp_path)
    done = lambda tenants: Outcomes(tuple(Outcome(name, Status.CHANGED) for name in tenants.names))  # noqa: E731
    monkeypatch.setattr(Tenants, "up", done)
    monkeypatch.setitem(__import__("sys").modules, "pulumi_cloudflare_sandbox", components)
    exec(program, {"IMAGE": f"docker.io/cloudflare/sandbox@sha256:{'1' * 64}"})  # noqa: S102
    assert capsys.readouterr().out.splitlines()[-1] == "2 changed"
