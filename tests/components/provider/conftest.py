"""An emulated Cloudflare, the plugin beside it, and a small Worker to deploy."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from components.provider.api_client import WaitTimes
from components.provider.service import Service
from components.pulumi_protocol.engine_log import EngineLog
from emulator.testing import Running, running
from testbed.plugin.account import Cloud, Worker
from testbed.plugin.driver import Plugin, Stack
from tests.plugins import served

QUICK = WaitTimes(retries=(0.001, 0.002), poll=0.005, enabling=0.2, hope=0)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("cloud")) as emulator:
        yield emulator


@pytest.fixture(scope="session")
def whole_cloud(shared: Running) -> Cloud:
    return Cloud(shared)


@pytest.fixture
def cloud(whole_cloud: Cloud) -> Cloud:
    """Cloudflare, empty but for two images, and quick: deletions and rollout steps take no time."""
    return whole_cloud.emptied()


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The plugin on a thread of the test process."""
    with served(Service(EngineLog(None), QUICK), threads=32) as address:
        yield address


@pytest.fixture(scope="session")
def plugin(address: str, whole_cloud: Cloud) -> Plugin:
    return Plugin(address, {"apiToken": whole_cloud.token, "baseUrl": whole_cloud.url}).configured()


@pytest.fixture
def worker(tmp_path: Path, cloud: Cloud) -> Worker:
    return Worker(tmp_path, cloud)


@pytest.fixture
def stack(plugin: Plugin) -> Stack:
    return Stack(plugin)
