"""What a handler gets and returns.

A `Call` is one request after routing and authentication: parameters, query, headers, body, and the state it acts on.
A handler returns a `Result` (goes into Cloudflare's envelope) or a `Raw` (bytes or a file, as they are).
"""

import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from . import errors
from .errors import ApiError, Failure
from .identity import Identity
from .query import Query
from .registry import Handler, Operation
from .schema import Check
from .state import State
from .store import Document, Store

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

JSON_TYPE = "application/json"


@dataclass
class Result:
    """Goes out as `result` of the envelope."""

    result: Any
    info: dict[str, Any] | None = None
    status: int = 200
    messages: list[Any] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Raw:
    """Goes out as it is; a path is sent as the file's content."""

    body: bytes | Path = b""
    content_type: str | None = JSON_TYPE
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    window: tuple[int, int] | None = None  # first byte and length, for a part of a file
    prefix: bytes = b""  # sent before the file


class Taken(Raw):
    """The handler took the connection over, and it has ended: nothing is to be sent."""


Reply = Result | Raw


class PendingError(Exception):
    """A handler cannot go on before something has been done that takes time; it is undone and then called again."""

    def __init__(self, work: Callable[[], Awaitable[None]]) -> None:
        super().__init__("something has to be done first")
        self.work = work


class Call:
    """One request."""

    operation: Operation  # set when `operation_id` is
    identity: Identity
    zone: Document  # set when the path names a zone
    account_id: str = ""  # of the path, or of the path's zone

    def __init__(self, state: State, scope: Scope, receive: Receive) -> None:
        self.state = state
        self.scope = scope
        self.receive = receive
        self.method: str = scope["method"]
        self.raw_path = scope["raw_path"].decode("latin-1")
        self.query_string: str = scope["query_string"].decode("latin-1")
        self.params: dict[str, str] = {}
        self.hosted: Handler | None = None  # what serves the whole host
        self.operation_id = ""  # empty when the path and method have no operation
        self.allowed: dict[str, Operation] = {}  # what the path offers, by method
        self.body_bytes = b""

    @property
    def store(self) -> Store:
        """The state."""
        return self.state.store

    @cached_property
    def path(self) -> str:
        """The path for people; route by `segments`."""
        return unquote(self.raw_path, errors="replace")

    @cached_property
    def segments(self) -> list[str]:
        """Segments, each decoded by itself so that an encoded slash stays inside its segment."""
        parts = self.raw_path.strip("/").split("/")
        return [unquote(part, errors="replace") if "%" in part else part for part in parts]

    @cached_property
    def headers(self) -> dict[str, str]:
        """Headers by lower-case name."""
        return {name.decode("latin-1"): value.decode("latin-1") for name, value in self.scope["headers"]}

    @cached_property
    def query(self) -> Query:
        """Query parameters, which know which of them were asked for."""
        return Query(self.query_string)

    def flag(self, name: str) -> bool:
        """A boolean query parameter, false when absent."""
        value = self.query.get(name, "false")
        if value not in ("true", "false", "1", "0", ""):
            raise errors.BAD_QUERY(name=name, problem="must be true or false")
        return value in ("true", "1")

    def choice(self, name: str, choices: tuple[str, ...], default: str) -> str:
        """A query parameter out of a set."""
        value = self.query.get(name) or default
        if value not in choices:
            raise errors.BAD_QUERY(name=name, problem=f"must be one of {', '.join(choices)}")
        return value

    async def read(self) -> None:
        """Take in the whole body, up to the operation's limit."""
        limit = self.operation.body_limit
        if int(self.headers.get("content-length") or 0) > limit:
            raise errors.TOO_LARGE(limit=limit)
        self.body_bytes = await self.take(limit, errors.TOO_LARGE)

    async def take(self, limit: int, too_large: Callable[..., ApiError]) -> bytes:
        """The body of a request that streams, up to a limit of bytes."""
        content = bytearray()
        async for chunk in self.stream():
            content += chunk
            if len(content) > limit:
                raise too_large(limit=limit)
        return bytes(content)

    async def stream(self) -> AsyncIterator[bytes]:
        """The body in chunks, for operations declared with `stream=True`."""
        while True:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise ConnectionResetError
            if chunk := message.get("body"):
                yield chunk
            if not message.get("more_body"):
                return

    def json(self) -> Any:
        """The body as JSON; None when there is none."""
        if not self.body_bytes:
            return None
        return parse_json(self.body_bytes)

    def body(self, check: Check, failure: Failure = errors.BAD_BODY) -> Any:
        """The body as JSON that passes the check, else the failure."""
        value = self.json()
        failure.unless(check, value)
        return value


def parse_json(content: bytes) -> Any:
    """Strict JSON: UTF-8, no NaN, no infinite numbers, no half characters, not nested beyond reason."""
    try:
        # Of bytes json.loads guesses the encoding, and lets halves of surrogate pairs through.
        value = json.loads(content.decode(), parse_constant=_refuse, parse_float=_finite)
        if b"\\u" in content:
            json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair cannot be stored as text
    except (ValueError, RecursionError) as error:
        raise errors.BAD_JSON() from error
    return value


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(digits)
    return value


def error_reply(error: ApiError) -> Raw:
    """The envelope of a refusal."""
    body = error.body
    if body is None:
        body = {"success": False, "errors": error.errors, "messages": [], "result": None}
    return Raw(dump(body), status=error.status, headers=error.headers)


def envelope(result: Result) -> Raw:
    """The envelope of a success."""
    body: dict[str, Any] = {"success": True, "errors": [], "messages": result.messages, "result": result.result}
    if result.info is not None:
        body["result_info"] = result.info
    return Raw(dump(body), status=result.status, headers=result.headers)


def dump(value: object) -> bytes:
    """Compact JSON."""
    return json.dumps(value, separators=(",", ":")).encode()
