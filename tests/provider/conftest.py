"""An emulated Cloudflare, the plugin beside it, and a small Worker to deploy."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2_grpc

from components.provider.api import Pace
from components.provider.messages import Messages
from components.provider.service import Service
from emulator.testing import Running, running
from tests.provider.driver import Plugin, Stack
from tests.provider.world import Cloud, Worker

QUICK = Pace(retries=(0.001, 0.002), poll=0.005, enabling=0.2, hope=0)


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
    server = grpc.server(ThreadPoolExecutor(32))
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Service(Messages(None), QUICK), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(0)


@pytest.fixture(scope="session")
def plugin(address: str, whole_cloud: Cloud) -> Plugin:
    return Plugin(address, {"apiToken": whole_cloud.token, "baseUrl": whole_cloud.url}).configured()


@pytest.fixture
def worker(tmp_path: Path, cloud: Cloud) -> Worker:
    return Worker(tmp_path, cloud)


@pytest.fixture
def stack(plugin: Plugin) -> Stack:
    return Stack(plugin)
