"""The way to workerd and back, without workerd."""

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, cast

import pytest

from emulator.engine.container import Container, NotListeningError, Outgoing
from emulator.engine.images import Image
from emulator.engine.network.egress import SERVED
from emulator.runtime.egress.authority import Authority
from emulator.runtime.egress.endpoint import Endpoint
from emulator.runtime.egress.outbound import Outbound
from emulator.runtime.proxy.upstream import LOOPBACK, BrokenError, Head, Upstream, dial
from emulator.runtime.sandboxes.sandbox import Key, Sandbox
from emulator.runtime.sandboxes.secret import Secrets

pytestmark = pytest.mark.workerd

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
    upstream = Upstream(dial(talker.sockets[0].getsockname()[1]))
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


def _heard_by(answer: bytes) -> tuple[bytes, bytes]:
    """What a server and a client hear of each other, when the client speaks on without waiting for the answer."""
    return asyncio.run(_tunnelled(answer))


async def _tunnelled(answer: bytes) -> tuple[bytes, bytes]:
    heard = bytearray()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        with contextlib.suppress(TimeoutError):
            heard.extend(await asyncio.wait_for(reader.read(1024), 0.2))
        assert not heard  # the client has spoken, but nothing was agreed
        writer.write(answer)
        # Where it is agreed something comes, be it the end; where not, nothing must.
        patience = 30 if b" 101 " in answer else 0.2
        with contextlib.suppress(TimeoutError):
            heard.extend(await asyncio.wait_for(reader.read(1024), patience))
        writer.close()

    async def join(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = Head("GET", b"/", [(b"upgrade", b"websocket"), (b"content-length", b"5")])
        await (await upstream.tunnel(head, cast("asyncio.Transport", writer.transport))).last()

    server = await asyncio.start_server(serve, LOOPBACK, 0)
    upstream = Upstream(dial(server.sockets[0].getsockname()[1]))
    router = await asyncio.start_server(join, LOOPBACK, 0)
    reader, client = await asyncio.open_connection(*router.sockets[0].getsockname())
    await asyncio.sleep(0.1)
    client.write(b"GET /another HTTP/1.1\r\n\r\n")
    said = await asyncio.wait_for(reader.read(), 60)
    client.close()
    server.close()
    router.close()
    return bytes(heard), said


def test_what_a_client_says_too_early_waits_for_the_server_to_agree():
    heard, said = _heard_by(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\nhello")
    assert heard == b"GET /another HTTP/1.1\r\n\r\n"
    assert said == b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\nhello"


def test_a_server_that_does_not_agree_hears_no_second_request():
    heard, said = _heard_by(b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\ncontent-length: 2\r\n\r\nno")
    assert heard == b""
    assert said == b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno"


def test_a_server_cannot_speak_for_the_emulator_in_a_tunnel():
    _, said = _heard_by(b"HTTP/1.1 101 Yes\r\na: b\nX-Emulator-Problem: %\r\nc: d\r\n\r\n")
    assert said == b"HTTP/1.1 101 Yes\r\na: b\r\nc: d\r\n\r\n"
    assert _heard_by(b"HTTP/1.1 101 Yes\r\n\nX-Emulator-Problem: %\r\n\r\n") == (b"", b"")


def test_endless_headers_end_a_tunnel():
    assert _heard_by(b"HTTP/1.1 101 Yes\r\na: " + b"b" * 200_000) == (b"", b"")


def _answered(answer: bytes, *, cut: bool = False) -> tuple[int, bytes]:
    """How an answer that ends with its connection is passed on: its status and its body."""
    return asyncio.run(_forwarded(answer, cut=cut))


async def _forwarded(answer: bytes, *, cut: bool) -> tuple[int, bytes]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            writer.write(answer)
            await writer.drain()
            await asyncio.sleep(0.1)
        if cut:
            reset = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        writer.close()

    async def receive() -> MutableMapping[str, Any]:
        if asked:
            await asyncio.Event().wait()
        asked.append(True)
        return {"type": "http.request"}

    async def send(message: MutableMapping[str, Any]) -> None:
        said.append(message)

    asked: list[bool] = []
    said: list[MutableMapping[str, Any]] = []
    server = await asyncio.start_server(serve, LOOPBACK, 0)
    upstream = Upstream(dial(server.sockets[0].getsockname()[1]))
    try:
        await asyncio.wait_for(upstream.forward(Head("GET", b"/", []), receive, send), 5)
    finally:
        upstream.close()
        server.close()
    return said[0]["status"], b"".join(each["body"] for each in said[1:])


@pytest.mark.parametrize(
    "head", [b"HTTP/1.0 200 OK", b"HTTP/1.1 200 OK\r\nconnection: close", b"HTTP/1.0 200 OK\r\ncontent-type: a/b"]
)
def test_an_answer_may_end_with_its_connection(head: bytes):
    assert _answered(head + b"\r\n\r\n" + b"x" * 300_000) == (200, b"x" * 300_000)
    assert _answered(head + b"\r\n\r\n") == (200, b"")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.0 200 OK\r\ncontent-length: 9\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        b"HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\n",
    ],
)
def test_half_an_answer_is_no_answer(answer: bytes):
    with pytest.raises(BrokenError):
        _answered(answer)


def test_a_connection_that_is_reset_does_not_end_an_answer():
    with pytest.raises(BrokenError):
        _answered(b"HTTP/1.0 200 OK\r\n\r\nhalf", cut=True)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\na: " + b"b" * 1_000_000,
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200_000,
        b"HTTP/1.1 100 Continue\r\n\r\n" * 50_000,
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n" + b"a: b\r\n" * 200_000,
    ],
    ids=["one header", "many headers", "many interim answers", "trailers"],
)
def test_endless_headers_are_no_answer(answer: bytes):
    with pytest.raises(BrokenError):
        _answered(answer + b"\r\n\r\n")


def _outbound(folder: Path = Path()) -> Outbound:
    anything = cast("Any", None)
    return Outbound(anything, anything, Secrets(), "key", authority=Authority(), endpoint=Endpoint(folder, anything))


async def _ended_by(asked: bytes) -> bool:
    """Whether the connection of a sandbox ends long before its time, when it asks for this and waits."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    sandbox = Sandbox(Key("account", "namespace", "object"), "run")
    outbound = _outbound()
    outbound.accept(sandbox, Outgoing(ours, "192.0.2.1", 80))
    reader, writer = await asyncio.open_connection(sock=theirs)
    writer.write(asked)
    try:
        async with asyncio.timeout(2):
            await reader.read()
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    finally:
        sandbox.ended.set_result({})
        writer.transport.abort()
    return True


def test_a_sandbox_that_never_has_asked_is_not_listened_to():
    assert not asyncio.run(_ended_by(b"GET / HTTP/1.1\r\na: " + b"b" * 50_000))
    assert asyncio.run(_ended_by(b"GET / HTTP/1.1\r\na: " + b"b" * 1_000_000))
    assert asyncio.run(_ended_by(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200_000))
    assert asyncio.run(_ended_by(b"GET /" + b"b" * 1_000_000))


async def _endpoint_answers(folder: Path, port: int, *, told: bool) -> bool:
    """Whether a sandbox that greets the address of R2's endpoint on a port is greeted back in TLS."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    sandbox = Sandbox(Key("account", "namespace", "object"), "run", reaches_endpoint=told)
    _outbound(folder).accept(sandbox, Outgoing(ours, str(SERVED), port))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        async with asyncio.timeout(5):
            _, writer = await asyncio.open_connection(sock=theirs, ssl=context, server_hostname="a.example")
    except (OSError, TimeoutError):
        return False
    else:
        writer.transport.abort()
        return True
    finally:
        sandbox.ended.set_result({})


def test_the_endpoint_is_reached_by_https_and_by_those_who_were_told_of_it(tmp_path: Path):
    assert asyncio.run(_endpoint_answers(tmp_path, 443, told=True))
    assert not asyncio.run(_endpoint_answers(tmp_path, 443, told=False))
    assert not asyncio.run(_endpoint_answers(tmp_path, 80, told=True))


class _Connected(Container):
    """One with a way out, on which whoever comes by the gate comes by it again."""

    dialled = 0

    async def bypass(self, address: str, port: int) -> socket.socket:
        self.dialled += 1
        raise NotListeningError(address, port)


async def _dialled(address: str) -> int:
    """How often a request for a name that is not intercepted is passed on to an address."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    sandbox = Sandbox(Key("account", "namespace", "object"), "run")
    container = sandbox.container = _Connected("box", Image("box", "sha256:0", {}, ()), None, internet=True)
    _outbound().accept(sandbox, Outgoing(ours, address, 80))
    reader, writer = await asyncio.open_connection(sock=theirs)
    writer.write(b"GET / HTTP/1.1\r\nhost: other\r\nconnection: close\r\n\r\n")
    with contextlib.suppress(ConnectionError):
        await asyncio.wait_for(reader.read(), 5)
    sandbox.ended.set_result({})
    writer.transport.abort()
    return container.dialled


def test_a_request_is_never_passed_on_to_the_gate_it_came_by():
    assert asyncio.run(_dialled("192.0.2.1")) == 1
    assert asyncio.run(_dialled("198.18.0.1")) == 0
