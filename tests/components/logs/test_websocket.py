"""The WebSocket of a tail, against a server that says what each test wants."""

import base64
import hashlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from components.logs.websocket import BrokenError, WebSocket

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def head_of(client: socket.socket) -> dict[str, str]:
    read = b""
    while b"\r\n\r\n" not in read:
        read += client.recv(1)
    lines = read.decode().split("\r\n")[1:-2]
    return {name: value for name, _, value in (line.partition(": ") for line in lines)}


def accepted(asked: dict[str, str]) -> bytes:
    text = (asked["sec-websocket-key"] + GUID).encode()
    key = base64.b64encode(hashlib.sha1(text, usedforsecurity=False).digest()).decode()
    return f"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: {key}\r\n\r\n".encode()


@contextmanager
def serving(talk: Callable[[socket.socket], None]) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            client, _ = server.accept()
            with client:
                talk(client)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"ws://127.0.0.1:{server.getsockname()[1]}/tail?x=1"
        thread.join(30)


def saying(*frames: bytes) -> Callable[[socket.socket], None]:
    def talk(client: socket.socket) -> None:
        client.sendall(accepted(head_of(client)) + b"".join(frames))
        client.shutdown(socket.SHUT_WR)
        while client.recv(4096):  # closed with something unread, it would break off what was sent
            pass

    return talk


def heard(url: str) -> tuple[list[str], str]:
    """Return the messages until the end, and what is said of it."""
    found: list[str] = []
    with WebSocket(url, "trace-v1") as stream, pytest.raises(BrokenError) as broken:
        found.extend(stream.messages())
    return found, str(broken.value)


@pytest.mark.parametrize(
    ("frames", "messages", "end"),
    [
        ([b"\x81\x02hi", b"\x82\x03you"], ["hi", "you"], "the other side hung up"),
        ([b"\x01\x02hi", b"\x89\x01!", b"\x80\x02ho"], ["hiho"], "the other side hung up"),
        ([b"\x81\x7e\x00\x80" + b"a" * 128], ["a" * 128], "the other side hung up"),
        ([b"\x81\x7f" + (70_000).to_bytes(8) + b"a" * 70_000], ["a" * 70_000], "the other side hung up"),
        ([b"\x88\x07\x03\xe8later"], [], "the other side ended it (1000 later)"),
        ([b"\x88\x00"], [], "the other side ended it"),
        ([b"\x81\x82\0\0\0\0hi"], [], "what came is no frame that a server may send"),
        ([b"\x81\x7f" + (2**40).to_bytes(8)], [], "what came is no frame that a server may send"),
    ],
)
def test_what_is_heard(frames: list[bytes], messages: list[str], end: str):
    with serving(saying(*frames)) as url:
        assert heard(url) == (messages, end)


def test_what_is_said():
    said: list[bytes] = []

    def talk(client: socket.socket) -> None:
        asked = head_of(client)
        said.append(asked["sec-websocket-protocol"].encode())
        client.sendall(accepted(asked) + b"\x89\x02hi")
        for _ in range(2):
            head, size, *mask = client.recv(6, socket.MSG_WAITALL)
            content = client.recv(size & 0x7F, socket.MSG_WAITALL)
            said.append(bytes([head]) + bytes(byte ^ mask[index % 4] for index, byte in enumerate(content)))

    with serving(talk) as url, WebSocket(url, "trace-v1") as stream:
        stream.send("hello")
        with pytest.raises(BrokenError, match="hung up"):
            next(stream.messages())
    assert said == [b"trace-v1", b"\x81hello", b"\x8ahi"]


def test_silence_is_asked_about_once_and_then_believed():
    asked: list[bytes] = []

    def talk(client: socket.socket) -> None:
        client.sendall(accepted(head_of(client)))
        asked.append(client.recv(6, socket.MSG_WAITALL))
        client.recv(1)  # until it gives up

    with (
        serving(talk) as url,
        WebSocket(url, "trace-v1", silence=0.2) as stream,
        pytest.raises(BrokenError, match="does not answer any more"),
    ):
        next(stream.messages())
    assert [each[:2] for each in asked] == [b"\x89\x80"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 404 Not Found\r\n\r\n", "the answer was '404 Not Found' and no WebSocket"),
        (b"HTTP/1.1 101 Hello\r\nsec-websocket-accept: x\r\n\r\n", "the answer is of another WebSocket"),
        (b"x" * 20_000, "the answer is no WebSocket"),
        (b"", "the other side hung up"),
    ],
)
def test_a_server_that_has_no_websocket(answer: bytes, said: str):
    def talk(client: socket.socket) -> None:
        head_of(client)
        client.sendall(answer)

    with serving(talk) as url, pytest.raises(BrokenError) as broken:
        WebSocket(url, "trace-v1")
    assert str(broken.value) == said


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "ws://", "nothing"])
def test_an_address_of_another_kind(url: str):
    with pytest.raises(BrokenError, match="the address is none of a WebSocket"):
        WebSocket(url, "trace-v1")
