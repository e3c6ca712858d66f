"""Starts and destroys sandboxes in a row and runs commands in one, and prints what was lost, left and grown.

`python -m bench.sandboxes.soak` takes some minutes; the suite runs a short form of it.
"""

import argparse
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from bench.verdict import verdict
from testbed import loopback
from testbed.emulator import traces
from testbed.emulator.boxes import Object, Program, program

_AT_ONCE = 4
_WARM_UP = 4
_MOST_GROWTH = 30 * 2**20
_MOST_HANDLES = 10  # connections that are kept for the next request


@dataclass
class Result:
    """What a soak has shown."""

    starts: list[float] = field(default_factory=list)  # seconds from start to the first answer and the end
    commands: list[float] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    left: traces.Traces = field(default_factory=traces.Traces)
    growth: int = 0  # of the emulator's memory, in bytes, after a first few
    handles: int = 0  # files the emulator has open more than after the first few

    def faults(self) -> list[str]:
        """Say what must not be."""
        found = [f"lost: {', '.join(self.lost[:5])}"] if self.lost else []
        found += [f"left behind: {self.left}"] if self.left != traces.Traces() else []
        if self.growth >= _MOST_GROWTH:
            found.append(f"the emulator grew by {_mib(self.growth)}, and {_mib(_MOST_GROWTH)} is the most")
        if self.handles >= _MOST_HANDLES:
            found.append(f"it has {self.handles} more files open, and fewer than {_MOST_HANDLES} are right")
        return found


def run(state: Path, starts: int, commands: int) -> Result:
    """Soak an emulator of its own."""
    result = Result()
    with program(state) as emulator:
        emulator.boxes.deploy()
        for number in range(_WARM_UP):
            _start_and_destroy(emulator, number, Result())
        first, opened = emulator.resident(), emulator.handles()
        for number in range(starts):
            _start_and_destroy(emulator, _WARM_UP + number, result)
        box = emulator.boxes.object("commands").begin()
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda number: _command(box, number, result), range(commands)))
        box.call("destroy")
        result.growth = emulator.resident() - first
        result.handles = emulator.handles() - opened
        before = traces.of(state, emulator.process.pid)
        emulator.process.terminate()
        emulator.process.wait(30)
        traces.wait_until_gone(state, before)
        result.left = traces.left(state, before)
    return result


def _start_and_destroy(emulator: Program, number: int, result: Result) -> None:
    box = emulator.boxes.object(f"soak-{number}")
    began = time.perf_counter()
    said = box.begin()("exec", ["echo", str(number)])["stdout"]
    box.call("destroy")
    result.starts.append(time.perf_counter() - began)
    if said != f"{number}\n" or box.end() is not None or box.running:
        result.lost.append(f"start {number}")


def _command(box: Object, number: int, result: Result) -> None:
    began = time.perf_counter()
    said = box("exec", ["sh", "-c", f"echo {number}; exit {number % 200}"])
    result.commands.append(time.perf_counter() - began)
    if (said["stdout"], said["exitCode"]) != (f"{number}\n", number % 200):
        result.lost.append(f"command {number}")


def _mib(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"


def main() -> int:
    """Print a table and what must not be; 1 when anything was lost, left or grew too much."""
    parser = argparse.ArgumentParser(prog="python -m bench.sandboxes.soak", description=__doc__)
    parser.add_argument("--starts", type=int, default=200)
    parser.add_argument("--commands", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        result = run(Path(folder) / "state", options.starts, options.commands)
    rows = [
        ("started and destroyed", f"{len(result.starts)}", f"median {statistics.median(result.starts) * 1000:.0f} ms"),
        ("commands", f"{len(result.commands)}", f"median {statistics.median(result.commands) * 1000:.0f} ms"),
        ("lost", f"{len(result.lost)}", ", ".join(result.lost[:5])),
        ("left behind", "nothing" if result.left == traces.Traces() else f"{result.left}", ""),
        ("growth of the emulator", _mib(result.growth), f"{result.handles} open files"),
    ]
    for row in rows:
        print(f"{row[0]:<24}{row[1]:>10}  {row[2]}")
    return verdict(result.faults())


if __name__ == "__main__":
    loopback.enforce()
    sys.exit(main())
