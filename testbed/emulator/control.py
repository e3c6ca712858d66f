"""The emulator without a client library: every answer of the API is checked against the official description."""

from typing import Any

import httpx

from emulator.registry import API, load_services
from emulator.router import Router, split
from emulator.testing import Running
from testbed.emulator import official

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
