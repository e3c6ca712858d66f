"""One emulator for the whole run, cleared before every test that asks for it.

Answers to the official SDK and to plain requests are all checked against the official description.
"""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from cloudflare import Cloudflare

from emulator.testing import Running, running
from testbed.emulator.control import Control, judge
from testbed.emulator.runtime_stage import PACKAGES, Stage, fetch_runtime
from testbed.wrangler.cli import Wrangler, install
from tools.setup import toolchain


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("emulator")) as emulator:
        yield emulator


@pytest.fixture
def emulator(shared: Running) -> Running:
    shared.reset()
    return shared


@pytest.fixture
def raw(emulator: Running) -> Iterator[Control]:
    control = Control(emulator)
    yield control
    control.http.close()


@pytest.fixture(scope="session")
def workerd_fetched() -> None:
    fetch_runtime()


@pytest.fixture
def stage(workerd_fetched: None, tmp_path: Path) -> Iterator[Stage]:  # noqa: ARG001 - a fixture for its effect
    """An emulator of its own that runs Workers."""
    with running(tmp_path / "state", packages=PACKAGES, node=toolchain.load().node) as emulator:
        control = Control(emulator)
        stage = Stage(control)
        stage.prepare()
        yield stage
        control.http.close()
        stage.http.close()


@pytest.fixture
def client(emulator: Running) -> Iterator[Cloudflare]:
    """The official SDK, judging every answer."""
    with (
        httpx.Client(event_hooks={"response": [judge]}) as http,
        Cloudflare(
            api_token=emulator.token,
            base_url=emulator.url,
            http_client=http,
            _strict_response_validation=True,
            max_retries=0,
        ) as client,
    ):
        yield client


@pytest.fixture
def account(emulator: Running) -> str:
    return emulator.account_id


@pytest.fixture
def zone(emulator: Running) -> str:
    return str(emulator.state.store.find("zone", "", "name", "sandbox.example")[0]["id"])


@pytest.fixture(scope="session")
def wrangler_program() -> tuple[Path, Path]:
    """Folder of node, and wrangler's entry."""
    node = toolchain.load().node
    return node, install(node) / "node_modules" / "wrangler" / "bin" / "wrangler.js"


@pytest.fixture
def wrangler(wrangler_program: tuple[Path, Path], emulator: Running, tmp_path: Path) -> Wrangler:
    home = tmp_path / "home"
    home.mkdir()
    return Wrangler(*wrangler_program, emulator, home)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs wrangler, which takes seconds a call."""
    for item in items:
        if "wrangler" in getattr(item, "fixturenames", ()):
            item.add_marker("wrangler")
