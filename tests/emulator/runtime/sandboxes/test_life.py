"""What becomes of sandboxes when their emulator ends, however it ends; and many of them."""

import contextlib
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bench.sandboxes import soak
from testbed.emulator import traces
from testbed.emulator.boxes import SERVE, SLEEP, Boxes, program

pytestmark = [pytest.mark.workerd, pytest.mark.containers]


def test_a_killed_emulator_leaves_nothing_and_the_next_says_what_ended(tmp_path: Path):
    state = tmp_path / "state"
    with program(state) as first:
        first.boxes.deploy()
        names = ["one", "two"]
        for name in names:
            first.boxes.object(name).begin(SERVE)
            first.boxes.object(name)("get", 8080, "http://inside/")
        before = traces.of(state, first.process.pid)
        assert len(before.disks) == len(names)
        assert len(before.namespaces) >= 4 * len(names)  # users, processes, mounts and network of each, at least
        if os.geteuid() == 0:
            assert len(before.groups) == len(before.loops) == len(names)
        instances = _instances(first.boxes)
        assert [each["status"]["state"] for each in instances] == ["running", "running"]
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
        traces.wait_until_gone(state, before)
    with program(state) as second:
        told = ", ".join(sorted(each["id"][:12] for each in instances))
        assert f"Sandboxes that ended with the emulator that ran them: {told}\n" in second.said
        assert second.boxes.object("one").running is False
        second.boxes.object("one").begin(SLEEP)("exec", ["true"])
        now = traces.of(state, second.process.pid)
        assert len(now.disks) == 1
        second.process.terminate()
        assert second.process.wait(20) == 0
        traces.wait_until_gone(state, now, 1)


def test_what_was_killed_with_its_emulator_is_removed_by_the_next(tmp_path: Path):
    """All its processes at once, as a machine that runs out of memory may do it."""
    state = tmp_path / "state"
    with program(state) as first:
        first.boxes.deploy()
        first.boxes.object("one").begin()
        first.boxes.object("one")("exec", ["true"])
        before = traces.of(state, first.process.pid)
        first.process.send_signal(signal.SIGSTOP)  # it must not notice
        for pid in sorted(before.processes):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        first.process.kill()
        first.process.wait()
        assert traces.left(state, before).disks == before.disks
    with program(state) as second:
        traces.wait_until_gone(state, before)
        assert "Sandboxes that ended with the emulator that ran them: " in second.said


def _instances(boxes: Boxes) -> list[dict[str, Any]]:
    path = f"/accounts/{boxes.stage.account}/containers/applications/{boxes.application['id']}/instances-v2"
    listed = boxes.stage.raw.api("GET", path)
    assert listed.status_code == 200, listed.text
    found: list[dict[str, Any]] = listed.json()["result"]
    return found


def test_twenty_at_once(tmp_path: Path):
    state = tmp_path / "state"
    with program(state) as emulator:
        emulator.boxes.deploy()

        def use(number: int) -> str:
            box = emulator.boxes.object(f"box-{number}").begin()
            return box("exec", ["sh", "-c", f"echo {number} > /mine; cat /mine"])["stdout"]

        with ThreadPoolExecutor(20) as pool:
            assert list(pool.map(use, range(20))) == [f"{number}\n" for number in range(20)]
        before = traces.of(state, emulator.process.pid)
        assert len(before.disks) == 20
        with ThreadPoolExecutor(20) as pool:
            list(pool.map(lambda number: emulator.boxes.object(f"box-{number}").call("destroy"), range(20)))
        after = traces.of(state, emulator.process.pid)
        assert (after.disks, after.groups, after.loops) == (frozenset(), frozenset(), frozenset())


def test_starts_and_commands_in_a_row_leave_nothing(tmp_path: Path):
    """The short form of `make soak`."""
    result = soak.run(tmp_path / "state", starts=8, commands=40)
    assert result.faults() == []


def test_a_soak_that_loses_leaves_or_grows_says_so():
    left = traces.Traces(disks=frozenset({"one"}))
    found = soak.Result(lost=["start 3"], left=left, growth=31 * 2**20, handles=10).faults()
    assert [each.split()[0] for each in found] == ["lost:", "left", "the", "it"]
