"""The processes of a session as Linux shows them in /proc: who they are, what they hold, when they began."""

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Process:
    """A living process at one moment."""

    pid: int
    name: str
    rss_bytes: int
    began: float
    """Time of the day, exact to a hundredth of a second."""


def of_session(session: int) -> list[Process]:
    """Give the living processes of a session; those that end meanwhile are left out."""
    found = []
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                stat = (entry / "stat").read_text()
                if _session_of(stat) == session and (process := parse(stat, boot_time())):
                    found.append(process)
    return found


def boot_time() -> float:
    """Give the time of the day from which Linux counts the starts of processes."""
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)


def parse(stat: str, boot: float) -> Process | None:
    """Read a line of /proc/PID/stat; None for a process that has ended and waits to be noticed."""
    pid, _, rest = stat.partition(" (")
    name, _, numbers = rest.rpartition(") ")
    fields = numbers.split()
    if fields[0] == "Z":
        return None
    return Process(int(pid), name, int(fields[21]) * _PAGE, boot + int(fields[19]) / _TICKS)


def _session_of(stat: str) -> int:
    return int(stat.rpartition(") ")[2].split()[3])


class Memory:
    """A watcher that keeps the largest sum of resident memory."""

    every_seconds = 0.05

    def __init__(self) -> None:
        self.peak_bytes = 0

    def look(self, living: list[Process]) -> None:
        self.peak_bytes = max(self.peak_bytes, sum(each.rss_bytes for each in living))


class Lives:
    """A watcher that keeps when each program of one name was there, to a hundredth of a second."""

    every_seconds = 0.01

    def __init__(self) -> None:
        self._seen: dict[int, tuple[Process, float]] = {}

    def look(self, living: list[Process]) -> None:
        now = time.time()
        for each in living:
            self._seen[each.pid] = (each, now)

    def of(self, name: str) -> list[tuple[float, float]]:
        """Give start and end of every process of this name."""
        return sorted((each.began, last) for each, last in self._seen.values() if each.name == name)
