"""The stand-in on a thread of the test process, and an emulated account behind a recorder."""

from collections.abc import Iterator
from typing import Any

import pytest

from components.pulumi_protocol.engine_log import EngineLog
from emulator.bridged_plugin.client import RetryPolicy
from emulator.bridged_plugin.service import Service
from emulator.testing import Running
from testbed.emulator.workers_upload import Uploads
from tests.emulator.bridged_plugin.driver import Recorder, Resource, configure, connect, recording
from tests.emulator.bridged_plugin.scenes import ACCOUNT, GROUP, POLICY, ZONE, inputs_of
from tests.plugins import served

QUICK = RetryPolicy(retries=3, first=0.001, longest=0.002)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The stand-in on a thread of the test process."""
    with served(Service(EngineLog(None), QUICK), threads=64) as address:
        yield address


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
