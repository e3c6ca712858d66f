"""The way to workerd and back, without workerd."""

import asyncio
from typing import cast

from emulator.runtime.upstream import LOOPBACK, Head, Upstream

_PIECE = b"x" * 65536
_MOST = 16 * 1024 * 1024  # what two pairs of sockets may hold between them; far below what is said
_PIECES = 64 * 1024 * 1024 // len(_PIECE)


async def _said_to_who_does_not_listen() -> int:
    """Bytes that one end of a tunnel got rid of while the other did not read."""
    said = 0

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal said
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
        for _ in range(_PIECES):
            writer.write(_PIECE)
            await writer.drain()
            said += len(_PIECE)

    async def join(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tunnel = await upstream.tunnel(Head("GET", b"/", []), cast("asyncio.Transport", writer.transport))
        await tunnel.last()

    talker = await asyncio.start_server(talk, LOOPBACK, 0)
    upstream = Upstream(talker.sockets[0].getsockname()[1])
    router = await asyncio.start_server(join, LOOPBACK, 0)
    _, client = await asyncio.open_connection(*router.sockets[0].getsockname())
    cast("asyncio.Transport", client.transport).pause_reading()
    await asyncio.sleep(1.0)
    client.transport.abort()
    talker.close()
    router.close()
    return said


def test_a_tunnel_takes_no_more_than_the_other_side_reads():
    assert 0 < asyncio.run(_said_to_who_does_not_listen()) < _MOST
