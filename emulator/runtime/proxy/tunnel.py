"""The tunnel that a WebSocket becomes: two connections, joined once the server has agreed to it."""

import asyncio
from typing import cast

from emulator.runtime.headers import OURS

LARGEST_HEAD = 128 * 1024  # bytes; what Cloudflare's edge takes
_MOST_EARLY = 64 * 1024  # bytes a client may say before it has been answered


class Tunnel:
    """Two connections of which each says what the other hears, until either ends."""

    def __init__(self, client: asyncio.Transport) -> None:
        self._client = client
        self._server = cast("asyncio.Protocol", client.get_protocol())
        self._closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._transports = [client]
        self._request = _Request(self._closed)

    def towards(self) -> asyncio.Protocol:
        """The protocol of the connection to the server."""
        return _Answer(self._client, self._closed, self._request)

    def join(self, transport: asyncio.Transport) -> None:
        """Take the client's connection from the one who served it."""
        self._transports.append(transport)
        self._request.other = transport
        self._client.set_protocol(self._request)

    async def last(self) -> None:
        """Until it ends."""
        try:
            await self._closed
        finally:
            for transport in self._transports:
                transport.close()
            self._server.connection_lost(None)  # the server counts its connections


class _Splice(asyncio.Protocol):
    """Writes what one side says to the other, which says nothing while this one does not take it."""

    other: asyncio.Transport

    def __init__(self, closed: asyncio.Future[None]) -> None:
        self._closed = closed

    def data_received(self, data: bytes) -> None:
        self.other.write(data)

    def pause_writing(self) -> None:
        if not self.other.is_closing():
            self.other.pause_reading()

    def resume_writing(self) -> None:
        if not self.other.is_closing():
            self.other.resume_reading()

    def eof_received(self) -> None:
        self.end()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self.end()

    def end(self) -> None:
        if not self._closed.done():
            self._closed.set_result(None)


class _Request(_Splice):
    """What the client says. Before the server has agreed it could pass for another request, which nobody judged."""

    def __init__(self, closed: asyncio.Future[None]) -> None:
        super().__init__(closed)
        self._early: bytearray | None = bytearray()
        self._refused = False

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        if self._early is None:
            super().data_received(data)
            return
        self._early += data
        if len(self._early) > _MOST_EARLY:
            self.end()

    def agree(self) -> None:
        """The server speaks WebSocket: it hears what was said, and all that follows."""
        early, self._early = self._early, None
        if early:
            self.other.write(bytes(early))

    def refuse(self) -> None:
        """The server answers as it answers any request: nothing may follow."""
        self._refused, self._early = True, None


class _Answer(_Splice):
    """What the server says, after its head has been read."""

    def __init__(self, client: asyncio.Transport, closed: asyncio.Future[None], request: _Request) -> None:
        super().__init__(closed)
        self.other = client
        self._request = request
        self._head: bytearray | None = bytearray()

    def data_received(self, data: bytes) -> None:
        if self._head is None:
            super().data_received(data)
            return
        seen = max(len(self._head) - 3, 0)
        self._head += data
        end = self._head.find(b"\r\n\r\n", seen)
        if end < 0 or end > LARGEST_HEAD:
            if len(self._head) > LARGEST_HEAD:
                self.end()
            return
        head, rest = bytes(self._head[:end]), bytes(self._head[end + 4 :])
        self._head = None
        self._begin(head.splitlines(), rest)

    def _begin(self, lines: list[bytes], rest: bytes) -> None:
        """Pass the head on, without what only the emulator may say."""
        if not lines or not all(lines):  # some take a lone line feed for the end of a line, so also for that of a head
            self.end()
            return
        status, *headers = lines
        agreed = status.split()[1:2] == [b"101"]
        hidden = (OURS,) if agreed else (OURS, b"connection:", b"keep-alive:")
        kept = [each for each in headers if not each.lower().startswith(hidden)]
        if agreed:
            self._request.agree()
        else:
            self._request.refuse()
            kept.append(b"connection: close")
        super().data_received(b"\r\n".join((status, *kept, b"", rest)))
