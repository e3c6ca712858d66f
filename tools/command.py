"""Runs a program with its output in a log file, and turns a failure into one sentence with the reason found there."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from tools import interrupt, locks
from tools.errors import FinalError, SetupError
from tools.paths import LOGS

_NO_SPACE = "no space left on device"
_NO_INDEX = re.compile(
    r"could not find a version|no matching distribution|failed to establish a new connection|name resolution"
    r"|connection refused|no such host|i/o timeout|network is unreachable|max retries exceeded",
    re.IGNORECASE,
)


def run(argv: Sequence[str], *, what: str, log: str, cwd: Path, env: Mapping[str, str] | None = None) -> None:
    """Run `argv`; raise a SetupError that names `what`, the reason and the log when it fails."""
    LOGS.mkdir(parents=True, exist_ok=True)
    path = LOGS / f"{log}.log"
    try:
        with path.open("wb") as output:
            code = _running.wait_for(argv, cwd=cwd, env=env, output=output)
    except OSError as error:
        raise SetupError(what, str(error), f"Check that {argv[0]} can be run, then try again") from error
    if code:
        raise failure(what, path.read_text(errors="replace"), path, code)


def log_of(name: str) -> str:
    """Return what a program has said that ran with this log."""
    return (LOGS / f"{name}.log").read_text(errors="replace")


class _Running:
    """The programs that are running, each with a process group of its own so that its offspring ends with it."""

    def __init__(self) -> None:
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()

    def wait_for(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None, output: IO[bytes]) -> int:
        with self._lock:
            interrupt.check()
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                process_group=0,
                pass_fds=locks.held(),
            )
            self._processes.add(process)
        try:
            return process.wait()
        except BaseException:
            _end(process)
            raise
        finally:
            with self._lock:
                self._processes.remove(process)

    def stop(self) -> None:
        with self._lock:
            interrupt.stopping.set()
            for process in self._processes:
                _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)


_running = _Running()


def stop_all() -> None:
    """End every running program and start no more: one step has failed, or the user has had enough."""
    _running.stop()


def failure(what: str, output: str, log: Path, code: int) -> SetupError:
    """Read the reason of a failed program out of its output."""
    if _NO_SPACE in output.lower():
        return FinalError(
            what, "the disk is full", "Free a few GB and run the same command again; it goes on from here"
        )
    if code < 0:
        why = f"it was ended by signal {-code}"
        return SetupError(what, why, f"Run the same command again; what it printed is in {_shown(log)}")
    telling = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in telling if re.search(r"error|fatal|cannot|could not", line, re.IGNORECASE)]
    reason = (errors or telling or ["no output"])[-1][:300]
    remedy = f"The whole output is in {_shown(log)}"
    if _NO_INDEX.search(output):
        remedy = f"Check the network and the package index settings, then run it again; details are in {_shown(log)}"
    return SetupError(what, f"{reason} (exit code {code})", remedy)


def version_of(argv: Sequence[str]) -> tuple[int, ...] | None:
    """Ask a program for its version; None when it cannot be run or does not say."""
    try:
        answer = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", answer.stdout)
    return tuple(int(part or 0) for part in found.groups()) if found else None


def suitable_on_path(name: str, version_argument: str, minimum: tuple[int, ...]) -> Path | None:
    """Find a program on PATH that is at least as new as `minimum`."""
    found = shutil.which(name)
    version = version_of([found, version_argument]) if found else None
    return Path(found) if found and version and version >= minimum else None


def require_space(folder: Path, gigabytes: float, *, what: str) -> None:
    """Refuse to start work that would fill the disk."""
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(existing).free / 1e9
    if free < gigabytes:
        why = f"{existing} has {free:.1f} GB free and {gigabytes:g} GB are needed"
        raise FinalError(what, why, "Free space there and try again")


def _shown(path: Path) -> str:
    return os.path.relpath(path)
