"""What an emulator's sandboxes have on this machine: processes, namespaces, mounts, groups, loop devices, disks."""

import contextlib
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from emulator.engine import cgroups
from emulator.engine.engine import Engine

_NAMESPACES = ("user", "pid", "mnt", "net", "ipc", "uts")


@dataclass(frozen=True)
class Traces:
    """Empty when nothing is left."""

    processes: frozenset[int] = frozenset()
    namespaces: frozenset[str] = frozenset()
    mounts: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    loops: frozenset[str] = frozenset()
    disks: frozenset[str] = frozenset()
    taken: float = field(default=0.0, compare=False)  # seconds since the machine started


def of(state: Path, emulator: int) -> Traces:
    """Traces of an emulator that runs, by its folder and its process."""
    family = _descendants(emulator)
    own = _namespaces(emulator)
    found = {each for pid in family for each in _namespaces(pid)} - own
    return Traces(frozenset(family), frozenset(found), *_on_machine(state), taken=_uptime())


def left(state: Path, before: Traces) -> Traces:
    """What is still there of what was."""
    processes = frozenset(pid for pid in before.processes if _alive(pid))
    # The kernel uses numbers of namespaces again, so younger processes tell nothing.
    old = (int(path.name) for path in Path("/proc").glob("[0-9]*") if _born(int(path.name)) <= before.taken)
    used = {each for pid in old for each in _namespaces(pid)}
    return Traces(processes, before.namespaces & used, *_on_machine(state))


def wait_until_gone(state: Path, before: Traces, seconds: float = 20) -> None:
    """Fail unless all of it goes."""
    end = time.monotonic() + seconds
    while (found := left(state, before)) != Traces():
        assert time.monotonic() < end, f"left behind: {found}"
        time.sleep(0.05)


def _on_machine(state: Path) -> tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]]:
    folder = state.resolve() / "sandboxes"
    there = cgroups.find()
    groups = there.names(Engine(folder, None, folder)._prefix) if there else []
    mounts = {line.split()[1] for line in Path("/proc/mounts").read_text().splitlines() if str(state) in line}
    loops = {each for each in Path("/sys/block").glob("loop*/loop/backing_file") if str(state) in _text(each)}
    disks = {each.name for each in folder.iterdir()} if folder.exists() else set()
    return frozenset(mounts), frozenset(groups), frozenset(map(str, loops)), frozenset(disks)


def _descendants(pid: int) -> set[int]:
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*"):
        if said := _text(path / "stat"):
            parents[int(path.name)] = int(said.rpartition(")")[2].split()[1])
    found: set[int] = set()
    fresh = {pid}
    while fresh:
        fresh = {child for child, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found


def _namespaces(pid: int) -> set[str]:
    found = set()
    for name in _NAMESPACES:
        with contextlib.suppress(OSError):
            found.add(str(Path(f"/proc/{pid}/ns/{name}").readlink()))
    return found


def _born(pid: int) -> float:
    said = _text(Path(f"/proc/{pid}/stat"))
    return int(said.rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK") if said else float("inf")


def _uptime() -> float:
    return float(Path("/proc/uptime").read_text().split()[0])


def _alive(pid: int) -> bool:
    said = _text(Path(f"/proc/{pid}/stat"))
    return bool(said) and said.rpartition(")")[2].split()[0] != "Z"


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
