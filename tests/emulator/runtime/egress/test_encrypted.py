"""Whom connections greet, and the authority that sandboxes trust, without a sandbox."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from emulator.runtime.egress import authority
from emulator.runtime.egress.authority import Authority
from emulator.runtime.egress.encrypted import joined, server_name
from emulator.server import listen

AUTHORITY = Authority()


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a connection."""
    loop = asyncio.get_running_loop()
    with listen(0) as listener:
        client = socket.socket()
        client.setblocking(False)
        listener.setblocking(False)
        await loop.sock_connect(client, listener.getsockname())
        server, _ = await loop.sock_accept(listener)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with client, server:
        yield client, server


def greeting(name: str | None) -> bytes:
    """How a client begins."""
    context = ssl.create_default_context()
    context.check_hostname = name is not None
    outgoing = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=name).do_handshake()
    return outgoing.read()


@pytest.mark.parametrize(("name", "found"), [("A.test", "a.test"), (None, "")])
def test_a_greeting_may_come_in_pieces_and_stays_unread(name: str | None, found: str) -> None:
    async def main() -> None:
        said = greeting(name)
        async with connected() as (client, server):
            asked = asyncio.ensure_future(server_name(server))
            for at in range(0, len(said), 100):
                assert not asked.done()
                client.send(said[at : at + 100])
                await asyncio.sleep(0)
            assert await asyncio.wait_for(asked, 20) == found
            assert server.recv(len(said) + 1) == said

    asyncio.run(main())


@pytest.mark.parametrize(
    "said",
    [b"", b"GET / HTTP/1.1\r\n\r\n", greeting("a.test")[:50], b"\x16\x03\x01" + b"\xff" * 70_000],
    ids=["nothing", "a request", "half a greeting", "no end"],
)
def test_what_is_no_greeting_is_an_error(said: bytes) -> None:
    async def main() -> None:
        async with connected() as (client, server):
            await asyncio.get_running_loop().sock_sendall(client, said)
            client.shutdown(socket.SHUT_WR)
            with pytest.raises((ConnectionError, ssl.SSLError)):
                await asyncio.wait_for(server_name(server), 20)

    asyncio.run(main())


def test_joined_connections_hear_each_other_until_both_have_ended() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with connected() as (one, near), connected() as (other, far):
            join = asyncio.ensure_future(joined(near, far))
            await loop.sock_sendall(one, b"question")
            one.shutdown(socket.SHUT_WR)
            assert await loop.sock_recv(other, 9) == b"question"
            assert await loop.sock_recv(other, 9) == b""
            await loop.sock_sendall(other, b"answer")
            other.shutdown(socket.SHUT_WR)
            assert await loop.sock_recv(one, 9) == b"answer"
            await asyncio.wait_for(join, 20)

    asyncio.run(main())


def shaken(host: str, asked: str, certificate: str) -> None:
    """Shake hands with a server that goes by one name as a client that wants another."""
    trusting = ssl.create_default_context(cadata=certificate)
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusting.wrap_bio(down, up, server_hostname=asked)
    server = AUTHORITY.context(host).wrap_bio(up, down, server_side=True)
    for side in (client, server, client, server):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue


def test_who_trusts_the_authority_trusts_the_names_it_signs_for_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    shaken("a.test", "a.test", AUTHORITY.certificate)
    shaken("192.0.2.7", "192.0.2.7", AUTHORITY.certificate)
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shaken("a.test", "b.test", AUTHORITY.certificate)
    with pytest.raises(ssl.SSLCertVerificationError, match=r"local issuer|self-signed"):
        shaken("a.test", "a.test", Authority().certificate)
    monkeypatch.setattr(authority, "_KEPT", 1)
    first = AUTHORITY.context("c.test")
    assert AUTHORITY.context("c.test") is first
    AUTHORITY.context("d.test")
    assert AUTHORITY.context("c.test") is not first
