"""Tails: what a Worker logs and throws, from the moment the API begins one until it is taken away again."""

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urlsplit

from ..errors import UserError
from .websocket import BrokenError, WebSocket

PROTOCOL: Final = "trace-v1"
_HELLO: Final = '{"debug":false}'  # what wrangler says first
_SECONDS: Final = 30.0
_LARGEST: Final = 1024 * 1024
_NO_SUCH_WORKER: Final = 10007


class TailError(UserError):
    """A log that cannot be followed; the message says why."""


@dataclass(frozen=True)
class Api:
    """Cloudflare's API for one account."""

    base_url: str
    account: str
    token: str = field(repr=False)

    @contextmanager
    def follow(self, worker: str) -> Iterator[Iterator[dict[str, Any]]]:
        """Return a Worker's events while the block runs."""
        tails = f"/accounts/{quote(self.account, safe='')}/workers/scripts/{quote(worker, safe='')}/tails"
        begun = self._ask("POST", tails, {"filters": []}, worker)
        try:
            with WebSocket(str(begun["url"]), PROTOCOL) as stream:
                stream.send(_HELLO)
                yield _events(stream)
        except BrokenError as error:
            raise TailError(f"the log of {worker} broke off: {error}") from None
        finally:
            with suppress(TailError):  # one that is left expires by itself
                self._ask("DELETE", f"{tails}/{begun['id']}", None, worker)

    def _ask(self, method: str, path: str, body: Any, worker: str) -> Any:
        place = urlsplit(self.base_url)
        kind = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
        connection = kind(place.hostname or "", place.port, timeout=_SECONDS)
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        try:
            connection.request(method, place.path.rstrip("/") + path, json.dumps(body) if body else None, headers)
            response = connection.getresponse()
            answer = _document(response.read(_LARGEST))
        except (OSError, http.client.HTTPException) as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            raise TailError(f"{place.netloc} cannot be reached: {why}") from None
        finally:
            connection.close()
        if response.status >= 400 or not answer.get("success"):
            raise TailError(_refusal(response.status, answer, worker))
        return answer["result"]


def _document(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _refusal(status: int, answer: dict[str, Any], worker: str) -> str:
    said = next((each for each in answer.get("errors") or () if isinstance(each, dict)), {})
    code, message = said.get("code"), "".join(each for each in str(said.get("message", "")) if each.isprintable())
    if code == _NO_SUCH_WORKER:
        return f"there is no Worker {worker} in the account"
    if status in (401, 403):
        return f"Cloudflare refused the token (code {code}: {message}); it needs the permission Workers Tail Read"
    return f"Cloudflare answered {status}, code {code}: {message}" if said else f"Cloudflare answered {status}"


def _events(stream: WebSocket) -> Iterator[dict[str, Any]]:
    for text in stream.messages():
        event = _document(text.encode())
        if event:
            yield event
