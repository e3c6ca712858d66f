"""Requests to the API of a forge, with its token in a header that is sent to that host alone: redirects are refused."""

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from ...errors import UserError
from ...provider.api_client import is_loopback, user_agent

PAGE: Final = 100
"""The most that GitHub and GitLab give at once."""
_MOST_PAGES: Final = 1000
_SECONDS: Final = 30.0
_AGAIN: Final = (429, 502, 503, 504)
_LONGEST_WAIT: Final = 30.0


class ForgeError(UserError):
    """What a forge did not do, and why."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Follow none: the header with the token would go along."""


@dataclass(frozen=True)
class Answer:
    """What the API said."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Wire:
    """The API of one forge."""

    name: str
    address: str
    headers: Mapping[str, str] = field(repr=False)
    token: str = field(repr=False)
    waits: tuple[float, ...] = (1.0, 3.0)

    def __post_init__(self) -> None:
        place = urlsplit(self.address)
        if place.scheme not in ("http", "https") or not place.hostname:
            raise ForgeError(f"{self.address!r} is not the address of an API; it begins with https://")
        if place.scheme == "http" and not is_loopback(place.netloc):
            raise ForgeError(f"{self.address}: the token would travel in clear; use https")

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Answer:
        """Make a request; one that does no harm twice is repeated when it fails for a moment."""
        waits = () if method == "POST" else self.waits
        for wait in (*waits, None):
            answer = self._once(method, path, body, query)
            if wait is None or answer.status not in _AGAIN:
                break
            time.sleep(_pause(answer.headers, wait))
        if answer.status >= 300:
            raise ForgeError(f"{self.name} refuses {method} {path}: {answer.status} {_reason(answer, self.token)}")
        return answer

    def pages(self, path: str, **query: Any) -> Iterator[Any]:
        """Return all entries of a list."""
        for page in range(1, _MOST_PAGES):
            found = self.ask("GET", path, per_page=PAGE, page=page, **query).body
            if not isinstance(found, list):
                raise ForgeError(f"{self.name} answers GET {path} with something else than a list")
            yield from found
            if len(found) < PAGE:
                return

    def _once(self, method: str, path: str, body: Any, query: Mapping[str, Any]) -> Answer:
        address = f"{self.address.rstrip('/')}{path}" + (f"?{urlencode(query)}" if query else "")
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address, content, method=method)  # noqa: S310 - the scheme was looked at
        for name, value in {"User-Agent": user_agent(), "Content-Type": "application/json", **self.headers}.items():
            request.add_header(name, value)
        try:
            with urllib.request.build_opener(_NoRedirects).open(request, timeout=_SECONDS) as response:
                return Answer(response.status, _read(response.read()), _lower(response.headers))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, _read(error.read()), _lower(error.headers))
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise ForgeError(f"{self.name} cannot be reached at {self.address}: {reason}") from None


def _lower(headers: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _read(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _pause(headers: Mapping[str, str], wait: float) -> float:
    given = headers.get("retry-after", "")
    return min(float(given), _LONGEST_WAIT) if given.isdigit() else wait


def _reason(answer: Answer, token: str) -> str:
    if answer.status in range(300, 400):
        return f"it leads to another address, {answer.headers.get('location', 'unnamed')}; was it renamed?"
    said = answer.body if isinstance(answer.body, dict) else {}
    text = str(said.get("message") or said.get("error") or "without a reason")
    text = text.replace(token, "[token]") if token else text
    if answer.status == 401:
        return f"{text}; the token is not valid"
    if answer.status in (403, 404):
        return f"{text}; the token may lack a permission, or there is nothing of that name"
    return text
