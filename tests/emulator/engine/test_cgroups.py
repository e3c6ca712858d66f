"""Limits as they are written, in folders that stand for the kernel's."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from emulator.engine import cgroups
from emulator.engine.cgroups import Group, Hierarchy, Limits, UnlimitedError
from tools.paths import ROOT

LIMITS = Limits(vcpu=0.25, memory_mib=256)


def separate(root: Path) -> Hierarchy:
    folders = {each: str(root / each) for each in ("memory", "cpu", "pids")}
    for each in folders.values():
        Path(each).mkdir()
    return Hierarchy(folders, unified=False)


def unified(root: Path) -> Hierarchy:
    return Hierarchy(dict.fromkeys(("memory", "cpu", "pids"), str(root)), unified=True)


def written(root: Path) -> dict[str, str]:
    return {str(each.relative_to(root)): each.read_text() for each in root.rglob("*") if each.is_file()}


def test_version_1_has_a_folder_per_controller(tmp_path: Path):
    separate(tmp_path).group("box").make(LIMITS)
    assert written(tmp_path) == {
        "memory/box/memory.limit_in_bytes": str(256 * 1024 * 1024),
        "cpu/box/cpu.cfs_period_us": "100000",
        "cpu/box/cpu.cfs_quota_us": "25000",
        "pids/box/pids.max": "1024",
    }


def test_version_1_limits_swap_with_memory_where_it_is_counted(tmp_path: Path):
    group = separate(tmp_path).group("box")
    swap = tmp_path / "memory" / "box" / "memory.memsw.limit_in_bytes"
    swap.parent.mkdir()
    swap.write_text("")
    group.make(LIMITS)
    assert swap.read_text() == str(256 * 1024 * 1024)


def test_version_2_has_one_folder(tmp_path: Path):
    unified(tmp_path).group("box").make(LIMITS)
    assert written(tmp_path) == {
        "box/memory.max": str(256 * 1024 * 1024),
        "box/cpu.max": "25000 100000",
        "box/pids.max": "1024",
    }


def test_version_2_forbids_swap_where_it_is_counted(tmp_path: Path):
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "memory.swap.max").write_text("max")
    unified(tmp_path).group("box").make(LIMITS)
    assert (tmp_path / "box" / "memory.swap.max").read_text() == "0"


@pytest.mark.parametrize(
    ("make", "usage", "kills"),
    [(separate, "memory.usage_in_bytes", "memory.oom_control"), (unified, "memory.current", "memory.events")],
)
def test_use_and_kills_are_read(tmp_path: Path, make: Callable[[Path], Hierarchy], usage: str, kills: str):
    group: Group = make(tmp_path).group("box")
    assert (group.memory(), group.out_of_memory()) == (None, 0)
    folder = Path(group.folders["memory"])
    folder.mkdir()
    (folder / usage).write_text("4096\n")
    (folder / kills).write_text("oom 1\nunder_oom 0\noom_kill 3\n")
    assert (group.memory(), group.out_of_memory()) == (4096, 3)


def test_groups_are_found_by_the_beginning_of_their_names(tmp_path: Path):
    there = separate(tmp_path)
    for controller, name in (("memory", "ours.1"), ("cpu", "ours.1"), ("pids", "ours.2"), ("cpu", "theirs.1")):
        (tmp_path / controller / name).mkdir()
    assert there.names("ours.") == ["ours.1", "ours.2"]


Tree = dict[str, str]  # groups of version 2 and what each gives its children
ALL = "cpuset cpu io memory pids"


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders in place of the kernel's, and nothing in them."""
    monkeypatch.setattr(cgroups, "_MOUNT", tmp_path / "groups")
    monkeypatch.setattr(cgroups, "_OWN", tmp_path / "own")
    (tmp_path / "groups").mkdir()
    return tmp_path / "groups"


def plant(mount: Path, tree: Tree, own: str) -> None:
    (mount / "cgroup.controllers").write_text(f"{ALL}\n")
    (mount.parent / "own").write_text(f"1:name=systemd:/other\n0::{own}\n")
    for group, offered in tree.items():
        folder = mount / group.lstrip("/")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cgroup.subtree_control").write_text(f"{offered}\n")
        (folder / "cgroup.procs").write_text("")


SESSION = "/user.slice/user-0.slice/session-1.scope"
BELOW_A_USER = "/user.slice/user-1000.slice/user@1000.service/app.slice/run.scope"


@pytest.mark.parametrize(
    ("tree", "own", "found"),
    [
        ({"/": ALL, "/user.slice": "memory pids", "/user.slice/user-0.slice": "", SESSION: ""}, SESSION, "/"),
        ({"/": ALL, "/user.slice": ALL, "/user.slice/user-0.slice": "pids", SESSION: ""}, SESSION, "/user.slice"),
        ({"/": "", "/user.slice/user-1000.slice/user@1000.service": ALL, BELOW_A_USER: ""}, BELOW_A_USER, "delegated"),
        ({"/": ALL}, "/", "/"),
        ({"/": ALL}, "/../../gone", "/"),  # as seen from a namespace that does not hold it
    ],
)
def test_version_2_takes_the_nearest_group_above_that_gives_all(stand_in: Path, tree: Tree, own: str, found: str):
    plant(stand_in, tree, own)
    place = f"{stand_in}/user.slice/user-1000.slice/user@1000.service" if found == "delegated" else f"{stand_in}{found}"
    assert cgroups.look() == unified(Path(place))


@pytest.mark.parametrize("closed", ["", "cgroup.procs"])
def test_version_2_passes_over_what_cannot_be_written(stand_in: Path, monkeypatch: pytest.MonkeyPatch, closed: str):
    """Root can write everything, so it is told otherwise."""
    plant(stand_in, {"/": ALL, "/near": ALL, "/near/own": ""}, "/near/own")
    shut = [stand_in / "near" / closed]
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) not in shut)
    assert cgroups.look() == unified(stand_in)
    shut.append(stand_in / closed)
    with pytest.raises(UnlimitedError, match=r"^this user cannot write control groups here$"):
        cgroups.look()
    assert cgroups.find() is None


@pytest.mark.parametrize(
    ("offered", "text"),
    [("", "no memory, cpu and pids"), ("memory pids", "no cpu"), ("cpu", "no memory and pids")],
)
def test_version_2_says_which_controllers_are_not_given(stand_in: Path, offered: str, text: str):
    """Root in a container that got no groups of its own can write there, which is not the reason."""
    plant(stand_in, {"/": offered}, "/")
    with pytest.raises(UnlimitedError) as caught:
        cgroups.look()
    assert str(caught.value) == f"the control group {stand_in} gives its children {text}"


def test_version_1_says_which_controllers_are_not_there(stand_in: Path):
    for each in ("cpu", "pids"):
        (stand_in / each).mkdir()
    with pytest.raises(UnlimitedError, match=r"^there are no control groups for memory here$"):
        cgroups.look()
    (stand_in / "memory").mkdir()
    assert cgroups.look() == Hierarchy(
        {each: str(stand_in / each) for each in ("memory", "cpu", "pids")}, unified=False
    )


def test_version_1_that_cannot_be_written_is_not_used(stand_in: Path, monkeypatch: pytest.MonkeyPatch):
    separate(stand_in)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(UnlimitedError, match=r"^this user cannot write control groups here$"):
        cgroups.look()


def test_a_process_that_is_not_visible_here_is_not_taken_for_this_one(tmp_path: Path):
    (tmp_path / "cgroup.procs").write_text("0\n")
    code = "import pathlib, sys; from emulator.engine import cgroups; print(cgroups._remove(pathlib.Path(sys.argv[1])))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, start_new_session=True, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"False\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes control groups")
def test_a_real_group_limits_reports_and_goes():
    there = cgroups.find()
    assert there, "root can write control groups here"
    group = there.group(f"cloudflare-sandbox.test-{os.getpid()}")
    group.make(LIMITS)
    try:
        name = "memory.max" if there.unified else "memory.limit_in_bytes"
        assert Path(group.folders["memory"], name).read_text().strip() == str(256 * 1024 * 1024)
        with subprocess.Popen(["sleep", "60"], preexec_fn=group.join) as sleeper:  # noqa: PLW1509 - a test with one thread
            for _ in range(500):
                if group.memory():
                    break
                time.sleep(0.01)
            assert group.memory()
            group.remove()
            assert sleeper.wait(60) == -9
    finally:
        group.remove()
    assert not any(Path(each).exists() for each in group.folders.values())
