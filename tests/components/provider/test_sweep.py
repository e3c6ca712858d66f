"""The fault sweep through the plugin's gRPC: every request of every phase, every way to fail."""

import re
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest

from bench.faults.engine import PHASES as ENGINE_PHASES
from bench.faults.engine import leaks
from bench.faults.sweep import FAULTS, PHASES, REVERTED, SECRET, Fault, Phase, calls_of, created_twice, disturbed
from bench.faults.table import FILE
from testbed.plugin.account import Cloud, Worker
from testbed.plugin.driver import Plugin, Stack
from tests.components.provider.process import Process, kill_at, was_killed


@pytest.fixture
def fresh(plugin: Plugin, cloud: Cloud, tmp_path: Path) -> Callable[[], tuple[Stack, Worker]]:
    """Empty the account; return a new stack and a Worker."""

    def make() -> tuple[Stack, Worker]:
        return Stack(plugin), Worker(tmp_path, cloud.emptied())

    return make


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
@pytest.mark.parametrize("phase", PHASES, ids=lambda phase: phase.name)
def test_the_next_run_mends_everything(phase: Phase, fault: Fault, fresh: Callable[[], tuple[Stack, Worker]]):
    calls, clean = calls_of(phase, *fresh())
    assert calls
    for nth in range(1, len(calls) + 1):
        stack, worker = fresh()
        outcome = disturbed(phase, fault, nth, stack, worker)
        point = f"{phase.name}, {fault.name}, request {nth} ({calls[nth - 1]})"
        assert worker.cloud.picture() == clean, point
        assert created_twice(worker.cloud) == [], point
        assert outcome == ("failed, then repaired" if fault.lasting else "retried"), point
        assert SECRET not in stack.text().replace(f'"value": "{SECRET}"', ""), point


KILLED = [phase for phase in (*PHASES, REVERTED) if phase.name in ENGINE_PHASES]


@pytest.mark.parametrize("after", [False, True], ids=["before the work", "after the work"])
@pytest.mark.parametrize("phase", KILLED, ids=lambda phase: phase.name)
def test_the_next_run_mends_what_a_killed_plugin_left(
    phase: Phase, after: bool, fresh: Callable[[], tuple[Stack, Worker]], cloud: Cloud
):
    calls, clean = calls_of(phase, *fresh())
    process = Process(cloud)
    for nth in range(1, len(calls) + 1):
        stack, worker = fresh()
        phase.before(stack, worker)
        stack.plugin = process.plugin
        cloud.clear()
        watcher = kill_at(cloud, process, nth, after=after)
        with pytest.raises(grpc.RpcError) as caught:
            phase.act(stack, worker)
        watcher.join()
        assert was_killed(caught.value)
        assert process.kill() == "", "a killed plugin writes nothing"
        cloud.clear_faults()
        process = Process(cloud)
        stack.plugin = process.plugin
        phase.repair(stack, worker)
        point = f"{phase.name}, killed at request {nth} ({calls[nth - 1]})"
        assert cloud.picture() == clean, point
        assert created_twice(cloud) == [], point
    process.kill()


def test_the_sweep_on_the_engine_finds_what_should_be_hidden():
    texts = {"first run": "all well", "next run": f"token abc and {SECRET}", "state": SECRET}
    assert leaks("abc", texts) == [
        "the token is in the next run",
        "the secret is in the next run",
        "the secret is in the state",
    ]


def test_the_table_of_faults_has_every_request(fresh: Callable[[], tuple[Stack, Worker]]):
    rows = re.findall(r"^\| (\w+) \| \d+\. ([^|]+) \|", FILE.read_text(), re.MULTILINE)
    assert {name for name, _ in rows} == {phase.name for phase in KILLED}
    for phase in KILLED:
        calls, _ = calls_of(phase, *fresh())
        assert [call for name, call in rows if name == phase.name] == calls, "run `make sweep`"
