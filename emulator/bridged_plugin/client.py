"""Calls the emulator over kept connections, with the retries of the real plugin.

Only loopback is ever called: `checked_url` refuses everything else, redirects are not followed and proxies of the
environment are not looked at. `success` in answers is never checked, only the status: the real plugin does the same.
"""

import http.client
import json
import random
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_SECONDS: Final = 60.0
_JSON: Final = "application/json"
_PURPOSE: Final = (
    "This is a stand-in for the plugin pulumi-resource-cloudflare. It works on an emulator on this machine and never "
    "on a real account: {problem}. Start the emulator and set CLOUDFLARE_BASE_URL (or cloudflare:baseUrl) to its "
    "address, or get the real plugin with `pulumi plugin install resource cloudflare {version}`."
)


class RefusedUrlError(Exception):
    """The address is not one that the stand-in calls."""


class CallError(Exception):
    """A call failed for good; the text is the real plugin's."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(f"failed to make http request: {text}")
        self.status = status


class SilentError(Exception):
    """Nobody listens. The real plugin would try for minutes, which helps only where a network is in between."""

    def __init__(self, url: str) -> None:
        super().__init__(
            f"the emulator at {url} does not answer; was it stopped? Start it again, as `make up` does, then run the "
            "same command again"
        )


class DeserializationError(Exception):
    """An answer to a read is not what the API promises."""

    def __str__(self) -> str:
        return "failed to deserialize http request: the answer is not the JSON that was expected"


class StoppedError(Exception):
    """The run was cancelled."""

    def __str__(self) -> str:
        return "the run was cancelled"


def checked_url(url: str, version: str) -> str:
    """Return the address without its trailing slash, or refuse it."""
    if not url:
        raise RefusedUrlError(_PURPOSE.format(problem="no address is set", version=version))
    try:
        parts = urlsplit(url)
        _ = parts.port
        local = parts.scheme in ("http", "https") and parts.hostname in LOOPBACK
    except ValueError:
        local = False
    if not local:
        raise RefusedUrlError(_PURPOSE.format(problem=f"{url} is not on loopback", version=version))
    return url.rstrip("/")


@dataclass(frozen=True)
class RetryPolicy:
    """How often and after how many seconds a call is made again."""

    retries: int = 10
    first: float = 2.0
    longest: float = 30.0

    def delay(self, nth: int) -> float:
        """Return the wait before the n-th repetition, the first being 0: up to a quarter shorter by chance."""
        return min(self.longest, self.first * 2.0**nth) * (1 - random.random() / 4)  # noqa: S311 - no secret depends on it


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    reason: str
    headers: Mapping[str, str]
    content: bytes

    def lenient(self) -> dict[str, Any]:
        """Return the object inside the envelope of a write; whatever is not one is as good as empty."""
        try:
            found = json.loads(self.content)["result"]
        except (ValueError, KeyError, TypeError):
            found = None
        return found if isinstance(found, dict) else {}

    def strict(self) -> Any:
        """Return what is inside the envelope of a read."""
        try:
            return json.loads(self.content)["result"]
        except (ValueError, KeyError, TypeError):
            raise DeserializationError from None


class Client:
    """One address, one token, as many connections as calls at a time."""

    def __init__(self, url: str, token: str, retry: RetryPolicy | None = None) -> None:
        parts = urlsplit(url)
        self._url, self._prefix = url, parts.path
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname or "", parts.port
        self._token = token
        self._retry = retry or RetryPolicy()
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def __repr__(self) -> str:
        return f"Client({self._url})"

    def stop(self) -> None:
        """End all waits."""
        self._stopped.set()

    def get(
        self, path: str, headers: Mapping[str, str] | None = None, query: Mapping[str, str] | None = None
    ) -> Answer:
        """Read."""
        return self.call("GET", path + (f"?{urlencode(query)}" if query else ""), headers)

    def delete(self, path: str, headers: Mapping[str, str] | None = None, *, may_be_empty: bool = False) -> None:
        """Delete; an answer that is not JSON is an error."""
        answer = self.call("DELETE", path, headers)
        if not may_be_empty and not answer.headers.get("content-type", "").startswith(_JSON):
            found = answer.headers.get("content-type", "")
            raise CallError(f"DELETE {path}: the answer has the content type '{found}' and not '{_JSON}'")

    def call(self, method: str, path: str, headers: Mapping[str, str] | None = None, body: Any = None) -> Answer:
        """Make a request, again and again while it may help; return the answer unless it is a refusal."""
        content = b"" if body is None else json.dumps(body).encode()
        place = f'{method} "{self._url}{path}"'
        nth = 0
        while True:
            answer, trouble = self._try(method, path, {**self._headers(nth, content), **(headers or {})}, content)
            if answer is not None and answer.status < 400:
                return answer
            wait = self._wait(answer, nth)
            if wait is None:
                status = answer.status if answer else 0
                told = (
                    trouble
                    if answer is None
                    else f"{status} {answer.reason} {answer.content.decode('utf-8', 'replace')}"
                )
                raise CallError(f"{place}: {told}", status)
            if self._stopped.wait(wait):
                raise StoppedError
            nth += 1

    def _wait(self, answer: Answer | None, nth: int) -> float | None:
        """Return the seconds until the next try, or None when this was the last."""
        if answer is None:
            return self._retry.delay(nth) if nth < self._retry.retries else None
        said = answer.headers.get("x-should-retry")
        again = answer.status in (408, 409, 429) or answer.status >= 500 or said == "true"
        if not again or said == "false" or nth >= self._retry.retries:
            return None
        for header, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
            try:
                return max(0.0, float(answer.headers[header]) / unit)
            except (KeyError, ValueError):
                continue
        return self._retry.delay(nth)

    def _headers(self, nth: int, content: bytes) -> dict[str, str]:
        sent = {"Authorization": f"Bearer {self._token}", "Accept": _JSON, "X-Stainless-Retry-Count": str(nth)}
        return {**sent, "Content-Type": _JSON} if content else sent

    def _try(self, method: str, path: str, headers: Mapping[str, str], content: bytes) -> tuple[Answer | None, str]:
        """Make one request; a kept connection that turns out to be closed is replaced at once."""
        while True:
            with self._lock:
                kept = self._idle.pop() if self._idle else None
            connection = kept or self._connection()
            try:
                connection.request(method, self._prefix + path, body=content or None, headers=dict(headers))
                response = connection.getresponse()
                read = response.read()
            except ConnectionRefusedError:
                connection.close()
                raise SilentError(self._url) from None
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if kept is not None and isinstance(error, ConnectionError | http.client.RemoteDisconnected):
                    continue
                return None, str(error) or type(error).__name__
            if not response.will_close:
                with self._lock:
                    self._idle.append(connection)
            lower = {name.lower(): value for name, value in response.headers.items()}
            return Answer(response.status, response.reason, lower, read), ""

    def _connection(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        return kind(self._host, self._port, timeout=_SECONDS)
