"""Components that are made by the plugin's process, beside its other calls."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import provider_pb2

from components.stack import TYPE
from emulator.testing import running
from testbed.plugin.account import Cloud
from tests.components.provider.process import Process

NOBODY = "127.0.0.1:1"


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    with running(tmp_path / "cloud") as emulator:
        found = Process(Cloud(emulator))
        yield found
        found.kill()


def test_many_that_are_being_made_leave_room_for_the_calls_they_wait_for(process: Process):
    stub = process.plugin.stub
    asked = [
        stub.Construct.future(provider_pb2.ConstructRequest(type=TYPE, name=str(number), monitorEndpoint=NOBODY))
        for number in range(200)
    ]
    assert stub.GetPluginInfo(Empty(), timeout=120).version
    # Their engine is gone, so none of them is answered.
    assert not any(each.done() for each in asked)
