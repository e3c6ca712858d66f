"""The engine's programs, as set-up provides them and as the engine finds them."""

import os
import shutil
from io import StringIO
from pathlib import Path

import pytest

from emulator.engine import programs, runc_version
from emulator.engine.programs import UnavailableError
from testbed.emulator.boxes import LAYERS
from testbed.emulator.machine import machine, parts
from tools.progress import Board
from tools.setup import packaged


@pytest.mark.containers
def test_a_sandbox_starts_with_the_runc_that_set_up_finds_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Debian's is linked with a library, which tempts to put both into a folder."""
    tools, _ = parts()
    installed, folder = tmp_path / "installed", tmp_path / "tools"
    for each in (installed, folder):
        each.mkdir()
    shutil.copy(tools / "runc", installed)
    shutil.copy(tools / "sandbox-layers", folder)
    monkeypatch.setenv("PATH", f"{installed}{os.pathsep}{os.environ['PATH']}")
    packaged.provide(packaged.RUNC, folder, board=Board(StringIO()))
    with machine(tmp_path / "sandboxes", LAYERS, folder) as here:
        assert here.start("true").wait() == 0
        assert here.engine._programs
        assert here.engine._programs.runc == folder / "runc"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("runc version 1.1.12\ncommit: v1.1.12-0-g51d5e946\n", None),
        ("runc version 1.2.0-rc.1\ncommit: x\n", None),
        ("runc version 1.3.4\n", None),
        ("runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1+deb12u1\nspec: 1.0.2-dev\n", None),
        ("runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1\n", "its version is 1.1.5, which has no fix for CVE-2024-21626"),
        ("runc version 1.1.11\n", "its version is 1.1.11, which has no fix for CVE-2024-21626"),
        ("runc version 1.0.0-rc93\n", "its version is 1.0.0, which has no fix for CVE-2024-21626"),
        ("", "it does not tell its version"),
    ],
)
def test_runc_without_the_fix_that_keeps_sandboxes_in_is_refused(said: str, reason: str | None):
    assert runc_version.why_not(said) == reason


def test_the_engine_says_why_it_does_not_use_a_runc(tmp_path: Path):
    for name in ("runc", "sandbox-layers"):
        (tmp_path / name).write_text("#!/bin/sh\necho runc version 1.1.11\n")
        (tmp_path / name).chmod(0o755)
    with pytest.raises(UnavailableError) as caught:
        programs.find(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}/runc is not used: its version is 1.1.11, which has no fix for CVE-2024-21626; "
        "install 1.1.12 or newer (Debian 12: 1.1.5+ds1-1+deb12u1), then run `make setup`"
    )


def test_a_remedy_is_a_command_that_the_reader_has(tmp_path: Path):
    assert programs.set_up_by(tmp_path) == "`sandbox-stack local up`"
    (tmp_path / "Makefile").touch()
    assert programs.set_up_by(tmp_path) == "`make setup`"
