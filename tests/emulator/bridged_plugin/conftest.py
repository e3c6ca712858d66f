"""The stand-in on a thread of the test process, and an emulated account behind a recorder."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2_grpc

from emulator.bridged_plugin.client import Pace
from emulator.bridged_plugin.service import Service
from emulator.testing import Running
from tests.emulator.bridged_plugin.driver import Recorder, Resource, configure, connect, recording
from tests.emulator.bridged_plugin.scenes import ACCOUNT, GROUP, POLICY, ZONE, inputs_of
from tests.emulator.workers_upload import Uploads

QUICK = Pace(retries=3, first=0.001, longest=0.002)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The stand-in on a thread of the test process."""
    server = grpc.server(ThreadPoolExecutor(64))
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Service(None, QUICK), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(0)


@pytest.fixture
def recorder(emulator: Running, raw: Any) -> Iterator[Recorder]:
    """An account with a bucket, two Workers and a policy, and the recorder before it."""
    Uploads(raw).put("small")
    Uploads(raw).put("other")
    account = f"/accounts/{emulator.account_id}"
    for name in ("files", "other"):
        assert raw.api("POST", f"{account}/r2/buckets", json={"name": name}).status_code == 200
    with recording(emulator) as recorder:
        yield recorder


@pytest.fixture
def stub(address: str, recorder: Recorder, emulator: Running) -> Any:
    stub = connect(address)
    configure(stub, apiToken=emulator.token, baseUrl=recorder.url)
    return stub


@pytest.fixture
def names(emulator: Running, raw: Any, zone: str) -> dict[str, str]:
    """What stands for the words of the scenes."""
    account = f"/accounts/{emulator.account_id}"
    body = {"name": "p", "decision": "allow", "include": [{"everyone": {}}]}
    policy = raw.api("POST", f"{account}/access/policies", json=body).json()["result"]["id"]
    group = raw.api("GET", f"{account}/tokens/permission_groups?name=Workers%20R2%20Storage%20Write").json()["result"]
    return {ACCOUNT: emulator.account_id, ZONE: zone, POLICY: policy, GROUP: group[0]["id"]}


@pytest.fixture
def make(stub: Any, recorder: Recorder, names: dict[str, str]) -> Any:
    """Create what a scene has, with changes; forget the call."""

    def create(kind: str, **change: Any) -> Resource:
        it = Resource(stub, kind).create(inputs_of(kind, names, **change))
        recorder.take()
        return it

    return create
