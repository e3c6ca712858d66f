"""The process that gives a sandbox its internet: as long as the sandbox, and no longer, whatever ends that."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools.paths import ROOT, cache_root
from tools.setup import toolchain

pytestmark = pytest.mark.skipif(
    not os.access("/dev/net/tun", os.W_OK), reason="there is no tun that this user may open"
)
_PROGRAM = "slirp4netns"


@pytest.fixture
def kept(tmp_path: Path) -> "subprocess.Popen[str]":
    """A program that keeps a sandbox with internet, and ends it when it is told to."""
    tools = toolchain.load()
    arguments = (tmp_path / "state", tools.containers, cache_root() / "layers", tools.base_image)
    return subprocess.Popen(
        [sys.executable, "-m", "tests.emulator.runtime.egress.keeper", *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def networks(of: int) -> set[int]:
    """The user-mode networks among the descendants of a process."""
    parents, names = {}, {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, _, rest = each.read_text().partition(" (")
        except OSError:
            continue
        name, _, fields = rest.rpartition(") ")
        parents[int(pid)], names[int(pid)] = int(fields.split()[1]), name
    found = {of}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return {pid for pid in found if names.get(pid) == _PROGRAM}


def gone(pids: set[int]) -> bool:
    until = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize("end", ["sandbox", "killed"])
def test_it_ends_with_the_sandbox(kept: "subprocess.Popen[str]", end: str) -> None:
    assert kept.stdin is not None
    assert kept.stdout is not None
    with kept:
        try:
            assert kept.stdout.readline() == "internet: True\n"
            found = networks(kept.pid)
            assert len(found) == 1
            if end == "killed":
                kept.send_signal(signal.SIGKILL)
            else:
                kept.stdin.write("end\n")
                kept.stdin.flush()
                assert kept.stdout.readline() == "ended\n"
            assert gone(found)
        finally:
            kept.kill()
