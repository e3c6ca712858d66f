"""What killed processes leave, and who removes it: of shims the engine, of emulators the next one."""

import fcntl
import os
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from emulator.engine import cgroups, engine
from emulator.engine.cgroups import Group, Hierarchy
from emulator.engine.images import Layers
from testbed.emulator.boxes import LAYERS
from testbed.emulator.machine import Machine, machine, parts, until
from tools.paths import ROOT

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root writes control groups")


def shims(here: Machine) -> list[int]:
    assert here.engine._process
    pid = here.engine._process.pid
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def exists(group: Group) -> bool:
    return any(Path(each).exists() for each in group.folders.values())


def test_nothing_is_left_of_a_sandbox_whose_shim_is_killed(here: Machine):
    box = here.start().started()
    folder, group = here.engine._folder / box.container.name, box.container._group
    assert folder.exists()
    (shim,) = shims(here)
    os.kill(shim, signal.SIGKILL)
    assert box.wait() == 128 + signal.SIGKILL
    assert not folder.exists()
    assert group is None or not exists(group)
    assert box.container.name not in here.engine.containers


@pytest.fixture
def logins(tmp_path: Path) -> Iterator[list[Hierarchy]]:
    """Two places for groups, as an emulator has them that is started from one login and then from another."""
    there = cgroups.find()
    assert there, "root can write control groups here"
    places = [
        Hierarchy({each: f"{place}/{tmp_path.name}.{login}" for each, place in there.folders.items()}, there.unified)
        for login in ("first", "second")
    ]
    folders = {folder for place in places for folder in place.folders.values()}
    for each in folders:
        Path(each).mkdir()
    yield places
    for each in folders:
        Path(each).rmdir()


@as_root
@pytest.mark.containers
def test_groups_are_found_from_another_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logins: list[Hierarchy]):
    if logins[0].unified:
        pytest.skip("groups of version 2 are not made below that of a login")
    state = tmp_path / "sandboxes"
    monkeypatch.setattr(cgroups, "find", lambda: logins[0])
    with machine(state, LAYERS) as first:
        box = first.start().started()
        group = box.container._group
        assert group
        with monkeypatch.context() as killed_too:
            killed_too.setattr(engine, "_clear", lambda *_: None)
            for each in shims(first):
                os.kill(each, signal.SIGKILL)
            box.wait()
        assert exists(group)
        monkeypatch.setattr(cgroups, "find", lambda: logins[1])
        with machine(state, LAYERS) as second:
            assert second.start("true").wait() == 0
            until(lambda: not exists(group))
            until(lambda: not (state / box.container.name).exists())


@pytest.mark.parametrize(
    "written",
    ["", "[]", "{}", '{"folders": {"memory": "/elsewhere"}, "unified": true}', '{"folders": 1, "unified": 1}'],
)
def test_a_record_of_something_else_is_none(tmp_path: Path, written: str):
    (tmp_path / "group").write_text(written)
    assert cgroups.recorded(tmp_path) is None


def test_a_sandbox_whose_group_does_not_go_is_kept_to_be_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cgroups, "_REMOVAL_SECONDS", 0.01)
    folder = tmp_path / "state" / "box"
    folder.mkdir(parents=True)
    group = Group({"memory": str(tmp_path / "groups" / "box")}, unified=False)
    group.record(folder)
    busy = Path(group.folders["memory"], "busy")
    busy.mkdir(parents=True)
    engine._clear([folder])
    assert cgroups.recorded(folder) == group
    busy.rmdir()
    engine._clear([folder])
    assert not folder.exists()
    assert not exists(group)


def test_folders_are_only_removed_where_nobody_unpacks(tmp_path: Path):
    layers = Layers(tmp_path, Path("/nonexistent"))
    above = layers._folder
    for name in ("new-left", "new-taken", "sha256-0"):
        (above / name).mkdir(parents=True)
        (above / name / "file").touch()
    taken = os.open(above / "new-taken", os.O_RDONLY)
    fcntl.flock(taken, fcntl.LOCK_EX)
    layers.clear()
    assert sorted(each.name for each in above.iterdir()) == ["new-taken", "sha256-0"]
    os.close(taken)
    layers.clear()
    assert [each.name for each in above.iterdir()] == ["sha256-0"]


UNPACKS = """import asyncio, sys
from pathlib import Path
from emulator.engine.images import Image, Layer, Layers
blob, folder, program = map(Path, sys.argv[1:4])
layer = Layer(blob, "application/vnd.oci.image.layer.v1.tar", sys.argv[4])
asyncio.run(Layers(folder, program).provide(Image("x", "x", {}, (layer,))))
"""


def test_unpacking_ends_with_a_killed_emulator_and_its_rubbish_goes(tmp_path: Path):
    """The layer is a pipe, which is never whole."""
    blob, layers = tmp_path / "blob", tmp_path / "layers"
    os.mkfifo(blob)
    program = parts()[0] / "sandbox-layers"
    argv = [sys.executable, "-c", UNPACKS, str(blob), str(layers), str(program), f"sha256:{'0' * 64}"]
    with subprocess.Popen(argv, cwd=ROOT) as emulator:
        writer = os.open(blob, os.O_WRONLY)
        file = tarfile.TarInfo("large")
        file.size = 10_000_000
        os.write(writer, file.tobuf() + b"x" * 4096)
        (scratch,) = Layers(layers, program)._folder.iterdir()
        until(lambda: list(scratch.iterdir()))
        emulator.kill()
    until(lambda: _nobody_reads(writer))
    os.close(writer)
    until(lambda: (Layers(layers, program).clear(), not scratch.exists())[1])


def _nobody_reads(writer: int) -> bool:
    os.set_blocking(writer, False)
    try:
        os.write(writer, b"x")
    except BrokenPipeError:
        return True
    except BlockingIOError:
        return False
    return False
