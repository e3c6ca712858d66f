"""Processes whose starter is gone, as after a `kill -9` of the CLI."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

_LONGEST = 60
_STARTER = (
    "import os, subprocess, sys;"
    "p = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True);"
    "sys.argv[1] == 'True' and p.stdout.readline(); print(p.pid, flush=True); os._exit(0)"
)


def seconds_alone(command: list[str], *, read: bool = True) -> float:
    """Start a command and let its starter die, after its first line or before; how long it lives on."""
    argv = [sys.executable, "-c", _STARTER, str(read), *command]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return seconds_until_gone(lambda: [int(done.stdout)])


def seconds_until_gone(find: Callable[[], list[int]]) -> float:
    """Wait until none of the processes lives; whoever stays for too long is killed."""
    begun = time.monotonic()
    while (left := [pid for pid in find() if lives(pid)]) and time.monotonic() - begun < _LONGEST:
        time.sleep(0.05)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return time.monotonic() - begun


def eventually(holds: Callable[[], bool], seconds: float = 60) -> bool:
    """Wait until something holds; whether it did in time."""
    until = time.monotonic() + seconds
    while not (held := holds()) and time.monotonic() < until:
        time.sleep(0.1)
    return held


def processes_with(word: str) -> list[int]:
    """Ids of the processes, other than this one, that have a word in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        if word.encode() in environment and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


def lives(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be taken note of does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
