"""Processes in namespaces of their own end with those that made them, at whatever moment these are killed."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools.paths import ROOT

SECONDS = 60
# Stops one process just before it asks the kernel to end it with its parent, says so, and goes on when it is told.
STOPPING = """import os, sys, time
from emulator.engine import confine, kernel
asked = kernel.end_with_parent
def ask_late(number):
    if (os.getpid() == 1) == (sys.argv[1] == "first"):
        os.write(1, b"now")
        os.read(0, 1)
    asked(number)
kernel.end_with_parent = ask_late
confine.run(confine.Surroundings(), lambda: time.sleep(600) or 0)
"""


def children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


@pytest.mark.parametrize("process", ["middle", "first"])
def test_one_whose_parent_is_killed_before_it_asked_to_end_with_it_ends(process: str):
    with subprocess.Popen(
        [sys.executable, "-c", STOPPING, process], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as shim:
        assert shim.stdout
        assert shim.stdin
        assert shim.stdout.read(3) == b"now"
        (middle,) = children(shim.pid)
        family = [middle, *children(middle)]
        parent = middle if process == "first" else shim.pid
        os.kill(parent, signal.SIGKILL)
        end = time.monotonic() + SECONDS
        while not has_ended(parent):
            assert time.monotonic() < end
            time.sleep(0.01)
        shim.stdin.write(b"x")
        try:
            # All of them have it open, and none writes to it.
            assert select.select([shim.stdout], [], [], SECONDS)[0], "a process is left for ever"
            assert shim.stdout.read(1) == b""
        finally:
            for each in family:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)
