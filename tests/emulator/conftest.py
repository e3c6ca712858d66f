"""One emulator for the whole run, cleared before every test that asks for it.

Answers to the official SDK and to plain requests are all checked against the official description.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from cloudflare import Cloudflare

from emulator.registry import API, load_services
from emulator.router import Router, split
from emulator.testing import Running, running
from tests.emulator import official
from tests.emulator.runtime_stage import PACKAGES, Stage, fetch_runtime
from tests.emulator.wrangler_cli import wrangler, wrangler_program  # noqa: F401 - fixtures for all tests here
from tools import toolchain

ROUTER = Router(operation for service in load_services() for operation in service.operations)


def judge(response: httpx.Response) -> None:
    """Fail when an answer of the API is not what the description says."""
    path = response.request.url.path
    if not path.startswith(API):
        return
    operation = ROUTER.find(split(path))[0].get(response.request.method)
    if operation is None:
        return
    response.read()
    complaint = official.complaint(operation.method, operation.path, response)
    assert not complaint, f"{operation.id}: {complaint}"


class Control:
    """The control routes, and the API without a client library."""

    def __init__(self, emulator: Running, token: str = "") -> None:
        self.emulator = emulator
        headers = {"authorization": f"Bearer {token or emulator.token}"}
        self.http = httpx.Client(headers=headers, timeout=20, event_hooks={"response": [judge]})

    def api(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Call the API."""
        return self.http.request(method, self.emulator.url + path, **options)

    def refusal(self, method: str, path: str, **options: Any) -> tuple[int, int, str]:
        """Call the API, which refuses: status, code and text of the first error."""
        response = self.api(method, path, **options)
        envelope = response.json()
        assert envelope["success"] is False
        assert envelope["result"] is None
        error = envelope["errors"][0]
        return response.status_code, error["code"], error["message"]

    def control(self, method: str, path: str, **options: Any) -> Any:
        """Call a control route; its result."""
        response = self.http.request(method, f"{self.emulator.origin}/_emulator{path}", **options)
        assert response.status_code < 300, response.text
        return response.json()["result"]

    def fault(self, **rule: Any) -> Any:
        """Put a fault in force."""
        return self.control("POST", "/faults", json=rule)

    def advance(self, seconds: float) -> None:
        """Move the emulator's clock on."""
        self.control("POST", "/clock", json={"advance": seconds})

    def as_token(self, token: str) -> "Control":
        """The same emulator, called with another token."""
        return Control(self.emulator, token)


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
    return str(emulator.world.store.find("zone", "", "name", "sandbox.example")[0]["id"])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs wrangler, which takes seconds a call, and what needs workerd."""
    for item in items:
        if item.path.name.startswith("test_runtime"):
            item.add_marker("workerd")
        if "wrangler" in getattr(item, "fixturenames", ()):
            item.add_marker("wrangler")
