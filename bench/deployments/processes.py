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
    program: str
    """Name of the file that was started, without its folder."""
    rss_bytes: int
    began: float
    """Time of the day, exact to a hundredth of a second."""


class Session:
    """All processes of one session. Those of others are read once, so that looking costs the run next to nothing."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._foreign: set[str] = set()
        # Linux counts the starts of processes from here.
        self._boot = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)

    def living(self) -> list[Process]:
        """Return those that live; who ends meanwhile is left out."""
        found = []
        for name in (entry.name for entry in _PROC.iterdir()):
            if name.isdigit() and name not in self._foreign:
                with contextlib.suppress(OSError):
                    stat = (_PROC / name / "stat").read_text()
                    if _session_of(stat) != self._number:
                        self._foreign.add(name)
                    elif process := parse(stat, (_PROC / name / "cmdline").read_bytes(), self._boot):
                        found.append(process)
        return found


def parse(stat: str, arguments: bytes, boot: float) -> Process | None:
    """Read /proc/PID/stat and cmdline; None for a process that has ended or is about to."""
    fields = stat.rpartition(") ")[2].split()
    # On its way out a process first loses its memory, arguments included, and then waits to be noticed.
    if fields[0] == "Z" or not arguments:
        return None
    # Not the name in `stat`: Node calls its main thread by another.
    program = Path(arguments.partition(b"\0")[0].decode(errors="replace")).name
    return Process(int(stat.split(" ", 1)[0]), program, int(fields[21]) * _PAGE, boot + int(fields[19]) / _TICKS)


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
    """A watcher that keeps when each process was there, to a hundredth of a second."""

    every_seconds = 0.01

    def __init__(self) -> None:
        self._seen: dict[int, tuple[Process, float]] = {}

    def look(self, living: list[Process]) -> None:
        now = time.time()
        for each in living:
            self._seen[each.pid] = (each, now)

    def of(self, program: str) -> list[tuple[float, float]]:
        """Return start and end of every process of this program."""
        return sorted((each.began, last) for each, last in self._seen.values() if each.program == program)
