"""The stand-in as a process of its own, as the engine starts it."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pulumi.runtime.proto import provider_pb2

from testbed.orphans import seconds_alone
from tests.emulator.bridged_plugin.driver import Recorder, Resource, configure, connect
from tests.emulator.bridged_plugin.scenes import inputs_of
from tests.plugins import assert_ends_at_once_and_silently, cpu_seconds
from tools.local.bridged import STAND_IN


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Started through a link, as it lies in the engine's plugin folder."""
    link = tmp_path / STAND_IN.name
    link.symlink_to(STAND_IN)
    with subprocess.Popen(
        [link, "127.0.0.1:1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as started:
        yield started
        started.kill()


def port_of(process: subprocess.Popen[str]) -> int:
    assert process.stdout
    return int(process.stdout.readline())


def test_it_serves(process: subprocess.Popen[str], recorder: Recorder, names: dict[str, str]):
    stub = connect(f"127.0.0.1:{port_of(process)}")
    configure(stub, apiToken=recorder.emulator.token, baseUrl=recorder.url)
    it = Resource(stub, "Queue").create(inputs_of("Queue", names))
    assert it.refresh()
    assert stub.GetPluginInfo(provider_pb2.GetSchemaRequest()).version == "6.23.1"


def test_it_is_ready_in_half_a_second(tmp_path: Path):
    def start_and_end() -> None:
        started = subprocess.Popen([STAND_IN], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
        port_of(started)
        started.kill()
        started.communicate(timeout=10)

    assert cpu_seconds(start_and_end) < 0.5


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_once_and_silently(number: int, process: subprocess.Popen[str]):
    port_of(process)
    assert_ends_at_once_and_silently(process, number)


@pytest.mark.parametrize("read", [True, False], ids=["after it was started", "while it starts"])
def test_it_leaves_when_who_started_it_is_gone(read: bool):
    """An engine that is killed sends no signal."""
    assert seconds_alone([str(STAND_IN)], read=read) < 20


def test_starting_it_loads_neither_the_sdk_nor_the_emulator():
    probe = (
        "import sys, emulator.bridged_plugin.service;"
        "print([name for name in ('httpx', 'cloudflare', 'starlette', 'pulumi_cloudflare') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=STAND_IN.parents[3], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
