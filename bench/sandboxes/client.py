"""A client that costs little: JSON over kept connections, one request at a time on each.

It shares the machine with what is measured; a whole HTTP library would take a third of a core for itself.
"""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from typing import Any

Dial = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


class Client:
    """Connections to one server, each used again."""

    def __init__(self, dial: Dial, headers: dict[str, str]) -> None:
        self._dial = dial
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and JSON of an answer."""
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\n{self._headers}content-type: application/json\r\n"
        reader, writer = self._idle.pop() if self._idle else await self._dial()
        writer.write(f"{head}content-length: {len(content)}\r\n\r\n".encode() + content)
        status, answer = await _answer(reader)
        self._idle.append((reader, writer))
        return status, json.loads(answer) if answer else None

    def close(self) -> None:
        """Let go of all connections."""
        for _, writer in self._idle:
            writer.close()


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    lines = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
    status = int(head.split(" ", 2)[1])
    if lines.get("transfer-encoding") == "chunked":
        parts = []
        while size := int((await reader.readuntil(b"\r\n")).strip(), 16):
            parts.append((await reader.readexactly(size + 2))[:-2])
        await reader.readexactly(2)
        return status, b"".join(parts)
    return status, await reader.readexactly(int(lines.get("content-length", "0")))


def to_port(host: str, port: int) -> Dial:
    """How to reach a port of this machine."""

    async def dial() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(host, port)
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return reader, writer

    return dial
