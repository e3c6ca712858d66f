"""One emulator for the whole run, cleared before every test that asks for it."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from cloudflare import Cloudflare

from emulator.testing import Running, running


class Control:
    """The control routes, and the API without a client library."""

    def __init__(self, emulator: Running) -> None:
        self.emulator = emulator
        self.http = httpx.Client(headers={"authorization": f"Bearer {emulator.token}"}, timeout=20)

    def api(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Call the API."""
        return self.http.request(method, self.emulator.url + path, **options)

    def control(self, method: str, path: str, **options: Any) -> Any:
        """Call a control route; its result."""
        response = self.http.request(method, f"{self.emulator.origin}/_emulator{path}", **options)
        assert response.status_code < 300, response.text
        return response.json()["result"]

    def fault(self, **rule: Any) -> Any:
        """Put a fault in force."""
        return self.control("POST", "/faults", json=rule)


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


@pytest.fixture
def client(emulator: Running) -> Iterator[Cloudflare]:
    """The official SDK, judging every answer."""
    with Cloudflare(
        api_token=emulator.token, base_url=emulator.url, _strict_response_validation=True, max_retries=0
    ) as client:
        yield client


@pytest.fixture
def account(emulator: Running) -> str:
    return emulator.account_id


@pytest.fixture
def zone(emulator: Running) -> str:
    return str(emulator.world.store.find("zone", "", "name", "sandbox.example")[0]["id"])
