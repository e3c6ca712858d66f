"""An emulated account: its API, the emulator's control routes, and what was asked of it."""

from typing import Any

import httpx

from emulator.testing import Running


class EmulatedAccount:
    """The first account of a running emulator."""

    def __init__(self, emulator: Running) -> None:
        self.emulator = emulator
        self.url, self.token, self.account = emulator.url, emulator.token, emulator.account_id
        self.http = httpx.Client(headers={"authorization": f"Bearer {self.token}"}, timeout=60)
        self.env = {
            "CLOUDFLARE_ACCOUNT_ID": self.account,
            "CLOUDFLARE_API_TOKEN": self.token,
            "CLOUDFLARE_BASE_URL": self.url,
        }

    def api(self, method: str, path: str, **options: Any) -> Any:
        """Call the API below the account; the result."""
        return self._result(method, f"{self.url}/accounts/{self.account}{path}", options)

    def call(self, method: str, path: str, **options: Any) -> Any:
        """Call the API; the result."""
        return self._result(method, f"{self.url}{path}", options)

    def control(self, method: str, path: str, **options: Any) -> Any:
        """Call a control route; the result."""
        return self._result(method, f"{self.emulator.origin}/_emulator{path}", options)

    def _result(self, method: str, address: str, options: dict[str, Any]) -> Any:
        response = self.http.request(method, address, **options)
        assert response.status_code < 300, response.text
        return response.json()["result"]

    def fault(self, **rule: Any) -> Any:
        """Put a fault in force."""
        return self.control("POST", "/faults", json=rule)

    def journal(self) -> list[dict[str, Any]]:
        """Requests since the journal was last cleared, in the order of the answers."""
        found: list[dict[str, Any]] = self.control("GET", "/journal")
        return found

    def clear_journal(self) -> None:
        self.control("DELETE", "/journal")

    def deployed(self) -> dict[str, int]:
        """How many of each kind there are."""
        found: dict[str, int] = self.control("GET", "/state")["deployed"]
        return found
