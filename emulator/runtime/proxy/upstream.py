"""A request to workerd or a port of a sandbox, and its answer.

Connections are kept. Bytes are passed on as they come, in both directions at once, and no faster than the slower side
takes them.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, cast

import httptools

from emulator.calls import Receive, Scope
from emulator.runtime.headers import OURS

from .tunnel import LARGEST_HEAD, Tunnel

LOOPBACK = "127.0.0.1"
Headers = list[tuple[bytes, bytes]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_HOP_BY_HOP = frozenset(
    (b"connection", b"expect", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade")
)
_HIGH_WATER = 256 * 1024
_IDLE_LIMIT = 64
_IDLE_SECONDS = 3.0  # workerd closes what has been idle for five


@dataclass(frozen=True)
class Head:
    """A request without its body."""

    method: str
    target: bytes
    headers: Headers

    @classmethod
    def of(cls, scope: Scope, more: Headers, *, without: frozenset[bytes] = frozenset()) -> "Head":
        """A request as it came and with more headers, but without some and those that only the emulator may send."""
        kept = [each for each in scope["headers"] if each[0] not in without and not each[0].startswith(OURS)]
        path, query = scope["raw_path"], scope["query_string"]
        return cls(scope["method"], path + b"?" + query if query else path, [*more, *kept])

    @property
    def is_websocket(self) -> bool:
        """Whether the connection is to become a WebSocket; only GET can ask for that."""
        wanted = any(name == b"upgrade" and value.lower() == b"websocket" for name, value in self.headers)
        return wanted and self.method == "GET"

    @property
    def chunked(self) -> bool:
        """Whether the length of the body is not known beforehand."""
        return any(name == b"transfer-encoding" for name, _ in self.headers)

    def plain(self) -> bytes:
        """For a connection that is used again."""
        return self._lines([(b"transfer-encoding", b"chunked")] if self.chunked else [])

    def upgrade(self) -> bytes:
        """For a connection that becomes a WebSocket: what follows is no body."""
        return self._lines([(b"connection", b"upgrade"), (b"upgrade", b"websocket")], frozenset((b"content-length",)))

    def _lines(self, more: Headers, but: frozenset[bytes] = frozenset()) -> bytes:
        lines = [self.method.encode(), b" ", self.target, b" HTTP/1.1\r\n"]
        kept = [each for each in self.headers if each[0] not in _HOP_BY_HOP | but]
        for name, value in kept + more:
            lines += (name, b": ", value, b"\r\n")
        return b"".join((*lines, b"\r\n"))


class BrokenError(Exception):
    """The connection ended before the answer did; `started` says whether the client has seen any of it."""

    def __init__(self, *, started: bool) -> None:
        super().__init__("the connection ended before the answer did")
        self.started = started


class _Connection(asyncio.Protocol):
    """One connection to the server, used by one request at a time."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self.broken = False
        self._writable = asyncio.Event()
        self._writable.set()
        self.reset(head=False)

    def reset(self, *, head: bool) -> None:
        """Make ready for the next answer."""
        self._parser = httptools.HttpResponseParser(self)
        self._head = head
        self._kept = False
        self._news = asyncio.Event()
        self.status = 0
        self.headers: Headers = []
        self.chunks: list[bytes] = []
        self.backlog = 0
        self.complete = False
        self.sent = False
        self._between = 0  # bytes that are no body since the last that were: headers, trailers and the like
        self._bounded = False  # whether the answer says where it ends

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._between += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._cut()
        if self._between > LARGEST_HEAD:
            self._cut()
        self._news.set()

    def _cut(self) -> None:
        self.broken = True
        self.transport.abort()

    def eof_received(self) -> None:
        if self.status and not self._bounded:
            self.complete = True  # as servers of HTTP/1.0 end their answers
        self.broken = True
        self._news.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self.broken = True
        self._news.set()
        self._writable.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def on_header(self, name: bytes, value: bytes) -> None:
        lower = name.lower()
        if lower == b"content-length" or (lower == b"transfer-encoding" and b"chunked" in value.lower()):
            self._bounded = True
        if lower not in _HOP_BY_HOP and not self.status:
            self.headers.append((lower, value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:
            self.headers = []  # an interim answer; the real one follows
            return
        self.status = status
        self._between = 0
        self._kept = self._parser.should_keep_alive()
        if self._head:
            self.complete = True

    def on_body(self, body: bytes) -> None:
        self._between = 0
        self.chunks.append(body)
        self.backlog += len(body)
        if self.backlog > _HIGH_WATER:
            self.transport.pause_reading()

    def on_message_complete(self) -> None:
        if self.status:
            self.complete = True

    @property
    def reusable(self) -> bool:
        """Whether another request may follow; after HEAD the parser still waits for a body."""
        return self.complete and self.sent and not self.broken and not self._head and self._kept

    async def write(self, data: bytes) -> None:
        """Send bytes, waiting while the other side does not take them."""
        self.transport.write(data)
        if not self._writable.is_set():
            await self._writable.wait()

    async def news(self) -> None:
        """Wait until something has come."""
        await self._news.wait()
        self._news.clear()

    def take(self) -> bytes:
        """What has come of the body since last asked."""
        data = self.chunks[0] if len(self.chunks) == 1 else b"".join(self.chunks)
        self.chunks = []
        if self.backlog > _HIGH_WATER and not self.broken:
            self.transport.resume_reading()
        self.backlog = 0
        return data


Dial = Callable[[Callable[[], asyncio.Protocol]], Awaitable[tuple[asyncio.BaseTransport, asyncio.BaseProtocol]]]


def dial(port: int) -> Dial:
    """How to reach a port of this machine."""

    def connect(
        protocol: Callable[[], asyncio.Protocol],
    ) -> Awaitable[tuple[asyncio.BaseTransport, asyncio.BaseProtocol]]:
        return asyncio.get_running_loop().create_connection(protocol, LOOPBACK, port)

    return connect


class Upstream:
    """Kept connections to one server, which is workerd or what listens on a port of a sandbox."""

    def __init__(self, dial: Dial) -> None:
        self._dial = dial
        self._idle: list[tuple[float, _Connection]] = []

    async def pass_on(self, head: Head, receive: Receive, send: Send, client: asyncio.Transport) -> "Tunnel | None":
        """Pass a request on, and its answer back; one for a WebSocket becomes a tunnel, which is still to end."""
        if head.is_websocket:
            return await self.tunnel(head, client)
        await self.forward(head, receive, send)
        return None

    async def forward(self, head: Head, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back."""
        connection = await self._connection(head.method)
        connection.transport.write(head.plain())
        pump = asyncio.ensure_future(_pump(connection, receive, chunked=head.chunked))
        try:
            await _relay(connection, send)
        finally:
            pump.cancel()
            if connection.reusable and len(self._idle) < _IDLE_LIMIT:
                self._idle.append((time.monotonic(), connection))
            else:
                connection.transport.abort()

    async def _connection(self, method: str) -> _Connection:
        while self._idle:
            since, connection = self._idle.pop()
            if not connection.broken and time.monotonic() - since < _IDLE_SECONDS:
                connection.reset(head=method == "HEAD")
                return connection
            connection.transport.abort()
        try:
            _, made = await self._dial(_Connection)
        except OSError as error:
            raise BrokenError(started=False) from error
        connection = cast("_Connection", made)
        connection.reset(head=method == "HEAD")
        return connection

    async def tunnel(self, head: Head, client: asyncio.Transport) -> "Tunnel":
        """Join a client's connection with a new one to the server."""
        tunnel = Tunnel(client)
        try:
            made, _ = await self._dial(tunnel.towards)
        except OSError as error:
            raise BrokenError(started=False) from error
        transport = cast("asyncio.Transport", made)
        tunnel.join(transport)
        transport.write(head.upgrade())
        return tunnel

    def close(self) -> None:
        """Let go of the idle connections."""
        for _, connection in self._idle:
            connection.transport.abort()
        self._idle.clear()


async def break_off(client: asyncio.Transport, receive: Receive) -> None:
    """End a client's connection amid an answer: half of one must not look like a whole one."""
    client.abort()
    while (await receive())["type"] != "http.disconnect":
        pass  # the server would complain about the missing half before it has seen the cut


async def _pump(connection: _Connection, receive: Receive, *, chunked: bool) -> None:
    """Send the body; a client that goes away takes the connection with it."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            connection.transport.abort()
            return
        if body := message.get("body"):
            await connection.write(b"%x\r\n%b\r\n" % (len(body), body) if chunked else body)
        if not message.get("more_body") and not connection.sent:
            if chunked:
                await connection.write(b"0\r\n\r\n")
            connection.sent = True


async def _relay(connection: _Connection, send: Send) -> None:
    while not connection.status:
        if connection.broken:
            raise BrokenError(started=False)
        await connection.news()
    await send({"type": "http.response.start", "status": connection.status, "headers": connection.headers})
    while not connection.complete:
        if connection.chunks:
            await send({"type": "http.response.body", "body": connection.take(), "more_body": True})
        elif connection.broken:
            raise BrokenError(started=True)
        else:
            await connection.news()
    await send({"type": "http.response.body", "body": connection.take()})
