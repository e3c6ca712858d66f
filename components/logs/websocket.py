"""The client's side of a WebSocket (RFC 6455) that mostly listens: what a tail needs, on the standard library alone."""

import base64
import hashlib
import secrets
import socket
import ssl
from collections.abc import Iterator
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

_GUID: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # of RFC 6455, section 1.3
_CONTINUED, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
_FINAL, _MASKED = 0x80, 0x80
_SHORT, _MEDIUM, _LONG = 125, 126, 127
_CONNECT_SECONDS: Final = 30.0
_SILENCE_SECONDS: Final = 20.0
LARGEST: Final = 16 * 1024 * 1024  # bytes of a message
_LARGEST_HEAD: Final = 16 * 1024


class BrokenError(Exception):
    """The connection cannot be made, or is over; the message says why."""


class WebSocket:
    """A connection to a `ws` or `wss` address."""

    def __init__(self, url: str, protocol: str, silence: float = _SILENCE_SECONDS) -> None:
        """Connect; after `silence` seconds without a word the other side is asked whether it is still there."""
        parts = urlsplit(url)
        self._unread = bytearray()
        self._socket = _connected(parts.scheme, parts.hostname or "", parts.port)
        try:
            self._shake_hands(parts.netloc, f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}", protocol)
        except BaseException:
            self._socket.close()
            raise
        self._socket.settimeout(silence)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def send(self, text: str) -> None:
        """Say something."""
        self._write(_TEXT, text.encode())

    def messages(self) -> Iterator[str]:
        """Return what is said until it is broken off."""
        whole = bytearray()
        while True:
            kind, final, content = self._frame()
            if kind == _PING:
                self._write(_PONG, content)
            elif kind == _CLOSE:
                raise BrokenError(f"the other side ended it{_reason(content)}")
            elif kind in (_TEXT, _BINARY, _CONTINUED):
                whole += content
                if len(whole) > LARGEST:
                    raise BrokenError(f"a message has more than {LARGEST} bytes")
                if final:
                    yield whole.decode("utf-8", "replace")
                    whole.clear()

    def _shake_hands(self, host: str, target: str, protocol: str) -> None:
        key = base64.b64encode(secrets.token_bytes(16))
        self._send(
            f"GET {target} HTTP/1.1\r\nhost: {host}\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
            f"sec-websocket-version: 13\r\nsec-websocket-key: {key.decode()}\r\n"
            f"sec-websocket-protocol: {protocol}\r\nuser-agent: sandbox-logs\r\n\r\n".encode()
        )
        while b"\r\n\r\n" not in self._unread:
            if len(self._unread) > _LARGEST_HEAD:
                raise BrokenError("the answer is no WebSocket")
            try:
                self._receive()
            except TimeoutError:
                raise BrokenError(f"no answer within {_CONNECT_SECONDS:g} seconds") from None
        head, _, rest = bytes(self._unread).partition(b"\r\n\r\n")
        self._unread[:] = rest
        status, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (each.partition(":") for each in lines)}
        digest = hashlib.sha1(key + _GUID, usedforsecurity=False).digest()
        if status.split(" ")[1:2] != ["101"]:
            raise BrokenError(f"the answer was {status.partition(' ')[2]!r} and no WebSocket")
        if headers.get("sec-websocket-accept") != base64.b64encode(digest).decode():
            raise BrokenError("the answer is of another WebSocket")

    def _frame(self) -> tuple[int, bool, bytes]:
        first, second = self._take(2)
        size = second & ~_MASKED
        if size == _MEDIUM:
            size = int.from_bytes(self._take(2))
        elif size == _LONG:
            size = int.from_bytes(self._take(8))
        if second & _MASKED or size > LARGEST:
            raise BrokenError("what came is no frame that a server may send")
        return first & 0x0F, bool(first & _FINAL), self._take(size)

    def _take(self, count: int) -> bytes:
        asked = False
        while len(self._unread) < count:
            try:
                self._receive()
                asked = False
            except TimeoutError:
                if asked:
                    raise BrokenError("the other side does not answer any more") from None
                self._write(_PING, b"")
                asked = True
        taken = bytes(self._unread[:count])
        del self._unread[:count]
        return taken

    def _receive(self) -> None:
        try:
            data = self._socket.recv(65536)
        except TimeoutError:
            raise
        except OSError as error:
            raise BrokenError(error.strerror or type(error).__name__) from None
        if not data:
            raise BrokenError("the other side hung up")
        self._unread += data

    def _write(self, kind: int, content: bytes) -> None:
        mask = secrets.token_bytes(4)
        size = len(content)
        head = bytes([_FINAL | kind, _MASKED | (size if size <= _SHORT else _MEDIUM)])
        length = b"" if size <= _SHORT else size.to_bytes(2)
        self._send(head + length + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(content)))

    def _send(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise BrokenError(error.strerror or type(error).__name__) from None


def _connected(scheme: str, host: str, port: int | None) -> socket.socket:
    if scheme not in ("ws", "wss") or not host:
        raise BrokenError("the address is none of a WebSocket")
    try:
        plain = socket.create_connection((host, port or (443 if scheme == "wss" else 80)), _CONNECT_SECONDS)
        if scheme == "ws":
            return plain
        try:
            return ssl.create_default_context().wrap_socket(plain, server_hostname=host)
        except BaseException:
            plain.close()
            raise
    except OSError as error:
        raise BrokenError(f"no connection to {host}: {error.strerror or type(error).__name__}") from None


def _reason(content: bytes) -> str:
    code = int.from_bytes(content[:2])
    text = "".join(each for each in content[2:].decode("utf-8", "replace") if each.isprintable())
    return f" ({' '.join(filter(None, (str(code), text)))})" if code else ""
