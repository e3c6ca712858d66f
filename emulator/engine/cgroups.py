"""Limits of memory, processor and processes, as control groups of version 1 or 2 allow them.

A group is made before its sandbox starts and removed by the process that outlives it. Where groups cannot be written,
as for most ordinary users, `find` says so and sandboxes run without these limits.
"""

import contextlib
import json
import os
import signal
import time
from dataclasses import asdict, dataclass
from pathlib import Path

_MOUNT = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")
_CONTROLLERS = ("memory", "cpu", "pids")
_NOT_WRITABLE = "this user cannot write control groups here"
_RECORD = "group"
_PERIOD = 100_000  # microseconds
_REMOVAL_SECONDS = 5.0
MOST_PROCESSES = 1024
_WHERE_SWAP_IS_COUNTED = ("memory.swap.max", "memory.memsw.limit_in_bytes")


@dataclass(frozen=True)
class Limits:
    """What a sandbox may use."""

    vcpu: float
    memory_mib: int


@dataclass(frozen=True)
class Hierarchy:
    """Where groups can be made: one folder per controller, all of them the same one in version 2."""

    folders: dict[str, str]
    unified: bool

    def group(self, name: str) -> "Group":
        """The group of a name; it need not exist."""
        return Group({each: str(Path(place, name)) for each, place in self.folders.items()}, self.unified)

    def names(self, prefix: str) -> list[str]:
        """Groups that there are, by the beginning of their names."""
        return sorted({each.name for place in self.folders.values() for each in Path(place).glob(f"{prefix}*")})


@dataclass(frozen=True)
class Group:
    """A group of processes."""

    folders: dict[str, str]
    unified: bool

    def make(self, limits: Limits) -> None:
        """Make the group with its limits."""
        for folder in set(self.folders.values()):
            Path(folder).mkdir(parents=True, exist_ok=True)
        values = _unified(limits) if self.unified else _separate(limits)
        for controller, name, value in values:
            file = Path(self.folders[controller], name)
            if file.exists() or name not in _WHERE_SWAP_IS_COUNTED:
                file.write_text(value)

    def join(self) -> None:
        """Put this process into the group."""
        for folder in set(self.folders.values()):
            Path(folder, "cgroup.procs").write_text("0")

    def memory(self) -> int | None:
        """Bytes in use; None when the group is gone."""
        name = "memory.current" if self.unified else "memory.usage_in_bytes"
        try:
            return int(Path(self.folders["memory"], name).read_text())
        except (OSError, ValueError):
            return None

    def out_of_memory(self) -> int:
        """How often the kernel ended a process of the group for want of memory."""
        name = "memory.events" if self.unified else "memory.oom_control"
        with contextlib.suppress(OSError):
            for line in Path(self.folders["memory"], name).read_text().splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
        return 0

    def remove(self) -> bool:
        """End what is left in the group and remove it; whether it is gone."""
        until = time.monotonic() + _REMOVAL_SECONDS
        left = set(self.folders.values())
        while left := {each for each in left if not _remove(Path(each))}:
            if time.monotonic() > until:
                return False
            time.sleep(0.002)
        return True

    def record(self, folder: Path) -> None:
        """Write down where the group is, in its sandbox's folder, before it is made.

        The next emulator may be in another group itself, after a new login say, and would look below that one.
        """
        (folder / _RECORD).write_text(json.dumps(asdict(self)), encoding="utf-8")


def recorded(folder: Path) -> Group | None:
    """The group of a sandbox by its folder; None when it has none, or what is written there is something else."""
    try:
        group = Group(**json.loads((folder / _RECORD).read_text(encoding="utf-8")))
        return group if {Path(each).name for each in group.folders.values()} == {folder.name} else None
    except (OSError, ValueError, TypeError, AttributeError):
        return None


class UnlimitedError(Exception):
    """No groups can be made; the message says why."""


def find() -> Hierarchy | None:
    """The place for groups that this process may write; None where there is none."""
    with contextlib.suppress(UnlimitedError):
        return look()
    return None


def look() -> Hierarchy:
    """The place for groups; UnlimitedError says why there is none."""
    own = dict(_own_groups())
    if (_MOUNT / "cgroup.controllers").exists():
        return _unified_place(own.get("", "/"))
    folders = {each: str(_MOUNT / each) + own.get(each, "/").rstrip("/") for each in _CONTROLLERS}
    missing = [each for each, folder in folders.items() if not Path(folder).is_dir()]
    if missing:
        raise UnlimitedError(f"there are no control groups for {_listed(missing)} here")
    if not all(os.access(each, os.W_OK) for each in folders.values()):
        raise UnlimitedError(_NOT_WRITABLE)
    return Hierarchy(folders, unified=False)


def _unified_place(own: str) -> Hierarchy:
    """The nearest group above this process that gives its children all controllers and may be written.

    A group that holds processes, as the own one does, gives its children none, unless it is the root of all. Processes
    are moved within the group that is found, so its own list has to be writable.
    """
    at = _MOUNT if ".." in own else _MOUNT / own.lstrip("/")  # else it lies outside of what is mounted here
    above = [each for each in (at, *at.parents) if each.is_relative_to(_MOUNT)]
    offering = [each for each in above if not _withheld(each)]
    if not offering:
        # Of those above, the outermost gives the most.
        raise UnlimitedError(f"the control group {_MOUNT} gives its children no {_listed(_withheld(_MOUNT))}")
    for each in offering:
        if os.access(each, os.W_OK) and os.access(each / "cgroup.procs", os.W_OK):
            return Hierarchy(dict.fromkeys(_CONTROLLERS, str(each)), unified=True)
    raise UnlimitedError(_NOT_WRITABLE)


def _withheld(folder: Path) -> list[str]:
    """The controllers that a group of version 2 does not give its children."""
    try:
        offered = (folder / "cgroup.subtree_control").read_text().split()
    except OSError:
        offered = []
    return [each for each in _CONTROLLERS if each not in offered]


def _listed(names: list[str]) -> str:
    return " and ".join(", ".join(names).rsplit(", ", 1))


def _own_groups() -> list[tuple[str, str]]:
    """The own group of each controller; that of version 2 has no name."""
    with contextlib.suppress(OSError):
        lines = [line.split(":", 2) for line in _OWN.read_text().splitlines()]
        return [(name, path) for _, names, path in lines for name in names.split(",")]
    return []


def _separate(limits: Limits) -> list[tuple[str, str, str]]:
    memory = str(limits.memory_mib * 1024 * 1024)
    return [
        ("memory", "memory.limit_in_bytes", memory),
        ("memory", "memory.memsw.limit_in_bytes", memory),
        ("cpu", "cpu.cfs_period_us", str(_PERIOD)),
        ("cpu", "cpu.cfs_quota_us", str(int(limits.vcpu * _PERIOD))),
        ("pids", "pids.max", str(MOST_PROCESSES)),
    ]


def _unified(limits: Limits) -> list[tuple[str, str, str]]:
    return [
        ("memory", "memory.max", str(limits.memory_mib * 1024 * 1024)),
        ("memory", "memory.swap.max", "0"),
        ("cpu", "cpu.max", f"{int(limits.vcpu * _PERIOD)} {_PERIOD}"),
        ("pids", "pids.max", str(MOST_PROCESSES)),
    ]


def _remove(folder: Path) -> bool:
    """Remove one group; whether it is gone."""
    with contextlib.suppress(OSError, ValueError):
        pids = [int(each) for each in (folder / "cgroup.procs").read_text().split()]
        for pid in (each for each in pids if each):  # 0 is a process that is not visible here, and would mean this one
            os.kill(pid, signal.SIGKILL)
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
