"""Connections that begin with TLS: whom they greet, which takes nothing from them, and how two are joined."""

import asyncio
import socket
import ssl

_MOST = 64 * 1024  # bytes that a greeting may have


async def server_name(opened: socket.socket) -> str:
    """The name that a client greets, "" for none; OSError where it does not speak TLS. Its greeting stays unread."""
    seen = 0
    while True:
        await _readable(opened, seen + 1)
        greeting = opened.recv(_MOST, socket.MSG_PEEK)
        if len(greeting) == seen:
            raise ConnectionError("the client has ended its greeting")
        seen = len(greeting)
        name = _name(greeting)
        if name is not None:
            return name
        if seen >= _MOST:
            raise ConnectionError("the client's greeting is too long")


def _name(greeting: bytes) -> str | None:
    """The name in a greeting; None where more of it is needed, OSError where it is none."""
    incoming, found = ssl.MemoryBIO(), []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

    def note(_: ssl.SSLObject, name: str | None, __: ssl.SSLContext) -> int:
        found.append((name or "").lower().rstrip("."))
        return ssl.ALERT_DESCRIPTION_HANDSHAKE_FAILURE

    context.sni_callback = note
    incoming.write(greeting)
    try:
        context.wrap_bio(incoming, ssl.MemoryBIO(), server_side=True).do_handshake()
    except ssl.SSLWantReadError:
        return None
    except ssl.SSLError:
        if not found:
            raise
    return found[0] if found else None


async def _readable(opened: socket.socket, least: int) -> None:
    """Until so many bytes can be read, or no more will come."""
    loop = asyncio.get_running_loop()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, least)
    ready = asyncio.Event()
    loop.add_reader(opened, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(opened)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)


async def joined(one: socket.socket, other: socket.socket) -> None:
    """Let each hear what the other says, until both have ended."""
    sides = [await asyncio.open_connection(sock=each) for each in (one, other)]
    (from_one, to_one), (from_other, to_other) = sides
    try:
        await asyncio.gather(_copy(from_one, to_other), _copy(from_other, to_one))
    except OSError:
        pass
    finally:
        for writer in (to_one, to_other):
            writer.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_MOST):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
