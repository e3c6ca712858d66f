"""One program run to its end under a clock, with every process it started.

A command gets a session of its own, so whatever happens to the run (a failure, a deadline, Ctrl-C) nothing it started
outlives it. A watcher sees the processes while they live; the clock of a watched run is only given for information.
"""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bench.deployments import processes

DEADLINE_SECONDS = 600


class CommandError(Exception):
    """A command of either side ended with an error; the whole run ends with it."""


@dataclass(frozen=True)
class Command:
    """What to run, where, and all that it sees."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True)
class Finished:
    """A command that succeeded."""

    seconds: float
    began: float
    """Time of the day, as traces and the journal have it."""
    ended: float


class Watcher(Protocol):
    """Looks at the living processes of a run, again and again."""

    every_seconds: float

    def look(self, living: list[processes.Process]) -> None:
        """See all processes of the run at one moment."""


def run(command: Command, watcher: Watcher | None = None) -> Finished:
    """Run to the end; anything but success is an error with all that was said."""
    began, clock = time.time(), time.perf_counter()
    process = subprocess.Popen(
        command.argv,
        cwd=command.cwd,
        env=dict(command.env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        with _watched(process.pid, watcher):
            said, _ = process.communicate(timeout=DEADLINE_SECONDS)
        seconds, ended = time.perf_counter() - clock, time.time()
    except subprocess.TimeoutExpired:
        raise CommandError(f"`{' '.join(command.argv)}` did not end within {DEADLINE_SECONDS} seconds") from None
    finally:
        _end(process)
    if process.returncode:
        raise CommandError(f"`{' '.join(command.argv)}` ended with {process.returncode}:\n{said}")
    return Finished(seconds, began, ended)


@contextlib.contextmanager
def _watched(session: int, watcher: Watcher | None) -> Iterator[None]:
    if watcher is None:
        yield
        return
    over = threading.Event()

    seen = processes.Session(session)

    def watch() -> None:
        while not over.wait(watcher.every_seconds):
            watcher.look(seen.living())

    thread = threading.Thread(target=watch, name="watcher", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _end(process: subprocess.Popen[str]) -> None:
    """End what is left of the session: plugins have process groups of their own, but never another session."""
    session = processes.Session(process.pid)
    while left := session.living():
        for each in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each.pid, signal.SIGKILL)
        time.sleep(0.01)
    process.wait()
    if process.stdout:
        process.stdout.close()
