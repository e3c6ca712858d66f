"""A record of the last requests, for tests and for people.

Says what was asked and what was answered, never a header or a body: of a body only its size and hash.
Bounded, in memory, one tuple per request.
"""

import hashlib
from collections import deque
from typing import Any
from urllib.parse import parse_qsl, urlencode

CAPACITY = 20_000
_SECRET_WORDS = ("token", "key", "secret", "password", "sig", "jwt")  # part of a parameter's name
_FIELDS = (
    "sequence",
    "time",
    "method",
    "path",
    "query",
    "status",
    "ms",
    "operation",
    "fault",
    "body_size",
    "body_sha256",
)


class Journal:
    """The last requests, oldest first."""

    def __init__(self) -> None:
        self._entries: deque[tuple[Any, ...]] = deque(maxlen=CAPACITY)
        self._sequence = 0

    def record(
        self,
        *,
        time: float,
        method: str,
        path: str,
        query: str,
        status: int,
        ms: float,
        operation: str,
        fault: str,
        body: bytes,
    ) -> None:
        """Add a request; status 0 means that the connection was dropped."""
        self._sequence += 1
        digest = hashlib.sha256(body).hexdigest() if body else ""
        shown = _without_secrets(query) if query else ""
        entry = (self._sequence, time, method, path, shown, status, round(ms, 3), operation, fault, len(body), digest)
        self._entries.append(entry)

    @property
    def last(self) -> int:
        """Number of the last request."""
        return self._sequence

    def entries(self, *, after: int = 0, limit: int = CAPACITY, operation: str = "") -> list[dict[str, Any]]:
        """Requests with a larger sequence number, at most `limit` of them, of one operation or all."""
        chosen = (entry for entry in self._entries if entry[0] > after and operation in ("", entry[7]))
        return [dict(zip(_FIELDS, entry, strict=True)) for entry, _ in zip(chosen, range(limit), strict=False)]

    def clear(self) -> None:
        """Forget the requests; numbering goes on, so `after` stays meaningful."""
        self._entries.clear()


def _without_secrets(query: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True)
    if not any(_is_secret(name) for name, _ in pairs):
        return query
    return urlencode([(name, "***" if _is_secret(name) else value) for name, value in pairs])


def _is_secret(parameter: str) -> bool:
    return any(word in parameter.lower() for word in _SECRET_WORDS)
