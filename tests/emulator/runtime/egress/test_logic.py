"""Addresses that are intercepted, and names for sandboxes, without a sandbox."""

import socket
import struct
from collections.abc import Iterator
from ipaddress import IPv4Address

import pytest

from emulator.engine.network import dns, patterns

OWN = IPv4Address("198.18.0.1")


@pytest.mark.parametrize(
    ("text", "port", "meaning"),
    [
        ("Things.Internal.", 80, "things.internal"),
        ("*.example.com:8080", 8080, "*.example.com"),
        ("*", 80, "*"),
        ("192.0.2.7:81", 81, "192.0.2.7/32"),
        ("10.1.2.3/8", 80, "10.0.0.0/8"),
        ("::1", 80, "::1/128"),
        ("[2001:db8::]:8080", 8080, "2001:db8::/128"),
    ],
)
def test_an_address_is_read(text: str, port: int, meaning: str) -> None:
    read = patterns.parse(text)
    assert (read.text, read.port, str(read.network or read.name)) == (text, port, meaning)


@pytest.mark.parametrize(
    "text", ["", "a b", "http://x", "x/y", "host:0", "host:65536", "host:http", "-x", "10.0.0.0/33"]
)
def test_what_is_no_address_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match="Invalid outbound address"):
        patterns.parse(text)


@pytest.mark.parametrize(
    ("host", "address", "port", "wanted"),
    [
        ("a.test", "192.0.2.1", 80, "a.test"),
        ("b.test", "192.0.2.1", 80, "*.test"),
        ("x.b.test", "192.0.2.1", 80, "*.b.test"),
        ("other", "192.0.2.1", 80, "192.0.2.0/24"),
        ("other", "192.0.2.9", 80, "192.0.2.9"),
        ("other", "198.51.100.1", 80, "*"),
        ("a.test", "192.0.2.1", 81, None),
        ("atest", "198.51.100.1", 80, "*"),
    ],
)
def test_the_most_telling_address_counts(host: str, address: str, port: int, wanted: str | None) -> None:
    registered = ("*", "192.0.2.0/24", "192.0.2.9", "*.test", "*.b.test", "a.test")
    found = patterns.best(map(patterns.parse, registered), host, IPv4Address(address), port)
    assert (found.text if found else None) == wanted


def query(name: str, kind: int = 1, number: int = 7) -> bytes:
    labels = b"".join(bytes([len(each)]) + each.encode() for each in name.split("."))
    return struct.pack(">6H", number, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", kind, 1)


@pytest.fixture
def asked() -> Iterator[tuple[dns.Server, socket.socket]]:
    """A server for names that end with .internal, and somebody who asks it."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client,
    ):
        listener.bind(("127.0.0.1", 0))
        listener.setblocking(False)
        client.connect(listener.getsockname())
        client.settimeout(5)
        yield dns.Server(listener, OWN, lambda name: name.endswith(".internal")), client


def answer(client: socket.socket) -> tuple[int, int, bytes]:
    """Number, code and address of the next answer."""
    packet = client.recv(4096)
    number, flags, _, answers, _, _ = struct.unpack_from(">6H", packet)
    return number, flags & 0xF, packet[-4:] if answers else b""


@pytest.mark.parametrize(
    ("name", "kind", "code", "address"),
    [("x.internal", 1, 0, OWN.packed), ("X.Internal", 1, 0, OWN.packed), ("x.internal", 28, 0, b""), ("x", 1, 3, b"")],
)
def test_names_without_a_next_server(
    asked: tuple[dns.Server, socket.socket], name: str, kind: int, code: int, address: bytes
) -> None:
    server, client = asked
    client.send(query(name, kind))
    server.serve()
    assert answer(client) == (7, code, address)


@pytest.mark.parametrize(
    ("name", "further", "wanted"),
    [("x.internal", 3, (0, OWN.packed)), ("example", 3, (3, b"")), ("example", 0, (0, b"\1\2\3\4"))],
)
def test_names_with_a_next_server(
    asked: tuple[dns.Server, socket.socket], name: str, further: int, wanted: tuple[int, bytes]
) -> None:
    server, client = asked
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as upstream,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
    ):
        other.bind(("127.0.0.1", 0))
        other.settimeout(5)
        upstream.setblocking(False)
        server.next_server(upstream, other.getsockname())
        client.send(query(name))
        server.serve()
        packet, sender = other.recvfrom(4096)
        question = dns.parse(packet)
        assert question is not None
        assert question.name == name
        other.sendto(question.answer(further, None if further else IPv4Address("1.2.3.4")), sender)
        server.hear()
        number, *rest = answer(client)
        assert (number, tuple(rest), server.busy) == (7, wanted, False)


@pytest.mark.parametrize("packet", [b"", b"\0" * 11, query("x")[:-3], query("x")[:14], b"\xff" * 40])
def test_what_is_no_question_is_ignored(packet: bytes) -> None:
    assert dns.parse(packet) is None
