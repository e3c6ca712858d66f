"""The server's side of a WebSocket that mostly speaks: what a tail needs.

Libraries refuse frames that a client did not mask, as the standard says; wrangler sends its first one like that, and
Cloudflare takes it. So this reads both. What the client says is thrown away, but for pings and the end.
"""

import asyncio
import base64
import hashlib
import struct
from typing import cast

from emulator.calls import Call

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # of RFC 6455, section 1.3
_TEXT, _CLOSE, _PING, _PONG = 0x1, 0x8, 0x9, 0xA
_SHORT, _MEDIUM = 125, 0xFFFF
_LONGEST = 64 * 1024  # bytes of a client's frame
NORMAL, TOO_LARGE = 1000, 1009


def wants_websocket(call: Call) -> bool:
    """Whether a request asks for one."""
    return call.headers.get("upgrade", "").lower() == "websocket" and "sec-websocket-key" in call.headers


class WebSocket(asyncio.Protocol):
    """One connection, taken from the server that accepted it."""

    def __init__(self, call: Call, protocol: str) -> None:
        self._transport = cast("asyncio.Transport", call.scope["state"]["transport"])
        self._server = cast("asyncio.Protocol", self._transport.get_protocol())
        self._unread = bytearray()
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._transport.set_protocol(self)
        key = hashlib.sha1(call.headers["sec-websocket-key"].encode() + _GUID, usedforsecurity=False).digest()
        self._transport.write(
            b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
            b"sec-websocket-accept: " + base64.b64encode(key) + b"\r\n"
            b"sec-websocket-protocol: " + protocol.encode() + b"\r\n\r\n"
        )

    def send(self, text: str) -> None:
        """Say something."""
        self._write(_TEXT, text.encode())

    def close(self, code: int = NORMAL) -> None:
        """Say goodbye and hang up."""
        self._write(_CLOSE, struct.pack(">H", code))
        self._transport.close()

    async def last(self) -> None:
        """Until either side ends it."""
        try:
            await self._ended
        finally:
            self._transport.close()
            self._server.connection_lost(None)  # the server counts its connections

    def data_received(self, data: bytes) -> None:
        """Read whole frames, leave the rest for later."""
        self._unread += data
        while (frame := _take_frame(self._unread)) is not None:
            kind, content = frame
            if kind == _PING:
                self._write(_PONG, content)
            elif kind == _CLOSE:
                self._write(_CLOSE, content[:2])
                self._transport.close()
        if len(self._unread) > _LONGEST:
            self.close(TOO_LARGE)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """The other side is gone."""
        if not self._ended.done():
            self._ended.set_result(None)

    def _write(self, kind: int, content: bytes) -> None:
        if self._transport.is_closing():
            return
        size = len(content)
        if size <= _SHORT:
            head = struct.pack(">BB", 0x80 | kind, size)
        elif size <= _MEDIUM:
            head = struct.pack(">BBH", 0x80 | kind, 126, size)
        else:
            head = struct.pack(">BBQ", 0x80 | kind, 127, size)
        self._transport.write(head + content)


def _take_frame(unread: bytearray) -> tuple[int, bytes] | None:
    """Kind and content of the first frame, taken away from what is unread; None until it is whole."""
    if len(unread) < 2:
        return None
    masked, size, start = bool(unread[1] & 0x80), unread[1] & 0x7F, 2
    if size > _SHORT:
        form = ">H" if size == 126 else ">Q"
        start += struct.calcsize(form)
        if len(unread) < start:
            return None
        (size,) = struct.unpack_from(form, unread, 2)
    mask = bytes(unread[start : start + 4]) if masked else b""
    start += len(mask)
    if len(unread) < start + size or (masked and len(mask) < 4):
        return None
    content = bytes(unread[start : start + size])
    if masked:
        content = bytes(byte ^ mask[index % 4] for index, byte in enumerate(content))
    kind = unread[0] & 0x0F
    del unread[: start + size]
    return kind, content
