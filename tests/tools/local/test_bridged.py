"""Which plugin serves pulumi_cloudflare."""

import os
from pathlib import Path

import pytest

from tools.local import bridged

INSTALLED, ON_PATH = Path("/home/user/plugin"), Path("/usr/bin/plugin")


@pytest.mark.parametrize(
    ("installed", "on_path", "chosen"),
    [
        (None, None, bridged.STAND_IN),
        (INSTALLED, None, INSTALLED),
        (INSTALLED, (ON_PATH, "6.23.1"), INSTALLED),
        (None, (ON_PATH, "6.23.1"), ON_PATH),
        (None, (ON_PATH, "6.23.7"), ON_PATH),
        (None, (ON_PATH, "6.24.0"), bridged.STAND_IN),
        (None, (ON_PATH, "5.23.1"), bridged.STAND_IN),
        (None, (ON_PATH, ""), bridged.STAND_IN),
    ],
)
def test_the_real_plugin_is_preferred(installed: Path | None, on_path: tuple[Path, str] | None, chosen: Path):
    assert bridged.choose("6.23.1", installed, on_path) == chosen


def test_it_is_looked_for_where_pulumi_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bridged.plugin(tmp_path) == bridged.STAND_IN
    program = tmp_path / ".pulumi" / "plugins" / f"resource-cloudflare-v{bridged.version()}" / bridged.PROGRAM
    program.parent.mkdir(parents=True)
    program.touch()
    assert bridged.plugin(tmp_path) == program
    assert not bridged.is_stand_in(program)


@pytest.mark.parametrize(("answer", "real"), [("echo v6.23.4", True), ("echo 6.22.0", False), ("exit 3", False)])
def test_one_on_path_is_asked_for_its_version(answer: str, real: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program = tmp_path / bridged.PROGRAM
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert bridged.plugin(tmp_path) == (program if real else bridged.STAND_IN)


def test_the_stand_in_can_be_run():
    assert os.access(bridged.STAND_IN, os.X_OK)
