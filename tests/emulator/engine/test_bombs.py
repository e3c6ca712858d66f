"""A sandbox that takes all it can get: it alone suffers, others answer as before.

Each bomb first reads its limits from the kernel, so that none goes off without them; an ordinary user, who cannot set
them, has no bombs here. That he has no more processes than others is tested in `test_processes`.
"""

import os
import statistics
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from emulator.engine.container import NotListeningError
from emulator.engine.engine import Size
from testbed.emulator.machine import Box, Machine

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user can make no control groups")

MEMORY_MIB, PROCESSES = 64, 80
TIGHT = Size(vcpu=0.25, memory_mib=MEMORY_MIB, disk_mb=40)
SLOWEST = 5.0  # seconds another sandbox may take for a command while a bomb goes off on a busy machine
AT_LEAST = 3  # answers of the other


def limited(here: Machine, *argv: str) -> Box:
    """A sandbox whose limits are seen to be in force."""
    box = here.start(*argv, size=TIGHT).started()
    group = box.container._group
    assert group, "there are no control groups here, so no bomb goes off"
    memory = "memory.max" if group.unified else "memory.limit_in_bytes"
    assert int(Path(group.folders["memory"], memory).read_text()) == MEMORY_MIB * 1024 * 1024
    most = Path(group.folders["pids"], "pids.max")
    assert int(most.read_text()) == 1024
    most.write_text(str(PROCESSES))  # a smaller bomb tells as much
    members = Path(group.folders["pids"], "cgroup.procs").read_text().split()
    assert members, "its processes are in the group"
    return box


@contextmanager
def unharmed(here: Machine) -> Iterator[list[float]]:
    """Another sandbox answers in the meantime and afterwards; the seconds that each answer took."""
    other = here.start().started()
    took: list[float] = []
    over = threading.Event()

    def ask() -> None:
        while not over.is_set() or len(took) < AT_LEAST:
            began = time.monotonic()
            assert other.sh("echo well").out == "well\n"
            took.append(time.monotonic() - began)
            over.wait(0.05)

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask)
        try:
            yield took
        finally:
            over.set()
        asking.result()
    assert statistics.median(took) < SLOWEST


def answers(took: list[float]) -> None:
    """Wait for some more answers of the other sandbox."""
    wanted = len(took) + AT_LEAST
    _until(lambda: len(took) >= wanted)


def test_a_fork_bomb_stays_within_its_group(here: Machine):
    box = limited(here)
    with unharmed(here) as took:
        box.begin("bash", "-c", "bomb() { bomb | bomb & }; bomb; sleep 30")
        group = box.container._group
        assert group
        current = Path(group.folders["pids"], "pids.current")
        _until(lambda: int(current.read_text()) >= PROCESSES - 5)
        answers(took)
        assert int(current.read_text()) <= PROCESSES
    assert box.kill() == 137
    assert not current.exists()


def test_a_memory_bomb_ends_that_sandbox_and_is_told_as_such(here: Machine):
    bomb = limited(here, "bash", "-c", "sleep 1; exec perl -e 'my @x; push @x, q(x) x 1_000_000 while 1'")
    with unharmed(here):
        assert bomb.wait() == 137
    assert bomb.container.out_of_memory


def test_a_command_that_takes_too_much_memory_ends_alone(here: Machine):
    box = limited(here)
    assert box.run("perl", "-e", "my @x; push @x, q(x) x 1_000_000 while 1").code == 137
    assert box.sh("echo still here").out == "still here\n"


@pytest.mark.parametrize("place", ["/dev/shm/big", "/dev/big"])  # noqa: S108 - of the sandbox
def test_memory_in_files_counts_too(here: Machine, place: str):
    box = limited(here)
    with unharmed(here):
        try:
            assert box.sh(f"head -c 200000000 /dev/zero > {place}").code != 0
        except NotListeningError:  # the kernel has chosen its first process
            assert box.wait() == 137


def test_the_files_that_the_engine_gives_it_cannot_be_grown_without_end(here: Machine):
    box = limited(here)
    with unharmed(here):
        done = box.sh("head -c 100000000 /dev/zero > /etc/hosts")
        assert "No space left on device" in done.err
    assert box.kill() == 137


def test_a_full_disk_is_full_for_that_sandbox_alone(here: Machine):
    box = limited(here)
    before = _free(here.engine._folder)
    with unharmed(here):
        done = box.sh("head -c 500000000 /dev/zero > /big; ls -s --block-size=1 /big | cut -d' ' -f1")
        assert "No space left on device" in done.err
        assert int(done.out) <= TIGHT.disk_mb * 1_000_000
        assert box.sh("echo more > /small; ls / > /dev/null; echo $?").out == "0\n"
        for _ in range(3):
            box.sh("mkdir -p /many; cd /many; for i in $(seq 3000); do : > $i; done")
    assert before - _free(here.engine._folder) < 200_000_000  # others write to this disk too
    assert box.kill() == 137


def test_a_busy_sandbox_gets_its_share_of_the_processor(here: Machine):
    box = limited(here)
    with unharmed(here) as took:
        box.begin("bash", "-c", "while :; do :; done")
        time.sleep(0.2)
        first, began = _processor(box), time.monotonic()
        time.sleep(1.5)
        used = (_processor(box) - first) / (time.monotonic() - began)
        answers(took)
    assert TIGHT.vcpu * 0.2 < used < TIGHT.vcpu * 1.5  # on a busy machine it gets less than its share


def _processor(box: Box) -> float:
    """Seconds of a processor that its processes have had."""
    lines = box.sh("cat /proc/[0-9]*/stat 2>/dev/null").out.splitlines()
    ticks = sum(int(each) for line in lines for each in line.rpartition(")")[2].split()[11:13])
    return ticks / os.sysconf("SC_CLK_TCK")


def _free(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def _until(holds) -> None:  # noqa: ANN001
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
