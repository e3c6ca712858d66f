"""Connections: where they go, what they carry, and how they end when the other side does not play along."""

import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from components.smoke.address import Address, AddressError, in_clear, parse
from components.smoke.messages import NoAnswerError, Request, UnreachableError
from components.smoke.wire import Secrets, Wire
from tests import ports
from tests.components.smoke.stand_in import KEY, Deployment, serving

HEALTH = Request("GET", "/health")


@contextmanager
def listening(talk: Callable[[socket.socket], None], context: ssl.SSLContext | None = None) -> Iterator[int]:
    """A port where one connection is answered in any way at all."""
    server = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        try:
            client, _ = server.accept()
            with client:
                talk(context.wrap_socket(client, server_side=True) if context else client)
        except OSError:
            pass  # the client went away: that is what some tests are about

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield server.getsockname()[1]
    finally:
        server.close()
        thread.join(10)


def certificate(folder: Path, name: str) -> ssl.SSLContext:
    """A server's side of TLS with a certificate nobody knows, for that name; written to `folder`."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def respond(sock: socket.socket) -> None:
    sock.recv(65536)
    sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-a: b\r\n\r\nok")


def to(port: int, scheme: str = "http", host: str = "api.example.test", timeout: float = 5) -> Wire:
    return Wire(parse(f"{scheme}://{host}", f"127.0.0.1:{port}"), Secrets(), timeout)


def drip(sock: socket.socket) -> None:
    sock.recv(65536)
    sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
    for _ in range(1200):
        sock.sendall(b".")
        time.sleep(0.05)


def drip_headers(sock: socket.socket) -> None:
    sock.recv(65536)
    sock.sendall(b"HTTP/1.1 200 OK\r\nx-slow: ")
    for _ in range(1200):
        sock.sendall(b".")
        time.sleep(0.05)


def silence(sock: socket.socket) -> None:
    while sock.recv(65536):
        pass


@pytest.mark.parametrize("talk", [drip, drip_headers, silence])
def test_an_answer_that_takes_too_long_ends_in_time(talk: Callable[[socket.socket], None]):
    with listening(talk) as port:
        began = time.monotonic()
        with pytest.raises(NoAnswerError, match=r"^no whole answer within 0\.3 seconds$"):
            to(port, timeout=0.3)(HEALTH)
        assert time.monotonic() - began < 30


def test_a_slow_answer_over_tls_ends_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    context = certificate(tmp_path, "api.example.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    with listening(drip, context) as port, pytest.raises(NoAnswerError, match=r"^no whole answer within 0\.5 seconds$"):
        to(port, "https", timeout=0.5)(HEALTH)


def test_what_is_not_http_breaks():
    wanted = r"^the connection broke: BadStatusLine$"
    with (
        listening(lambda sock: sock.sendall(b"SSH-2.0-OpenSSH\r\n")) as port,
        pytest.raises(NoAnswerError, match=wanted),
    ):
        to(port)(HEALTH)


def test_nobody_there_is_unreachable():
    with ports.reserved() as port:
        words = f"no connection to 127.0.0.1:{port}: Connection refused; was the emulator stopped?"
        with pytest.raises(UnreachableError, match=f"^{re.escape(words)}$"):
            to(port)(HEALTH)


def test_an_unknown_name_is_unreachable():
    with pytest.raises(UnreachableError, match=r"^no connection to no-such-name\.invalid:443: "):
        Wire(parse("https://no-such-name.invalid"), Secrets(), 5)(HEALTH)


def test_a_certificate_nobody_signed_is_refused(tmp_path: Path):
    with listening(respond, certificate(tmp_path, "api.example.test")) as port:
        wanted = r"^the certificate of api\.example\.test is not valid: self-signed certificate$"
        with pytest.raises(UnreachableError, match=wanted):
            to(port, "https")(HEALTH)


def test_a_certificate_for_another_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    context = certificate(tmp_path, "other.example.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    with listening(respond, context) as port, pytest.raises(UnreachableError, match="Hostname mismatch"):
        to(port, "https")(HEALTH)


def test_a_trusted_certificate_is_judged_by_the_name_in_the_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    context = certificate(tmp_path, "api.example.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    with listening(respond, context) as port:
        answer = to(port, "https")(HEALTH)
    assert (answer.status, answer.body, answer.headers["x-a"]) == (200, b"ok", "b")


def test_plain_http_behind_https_is_unreachable():
    with listening(respond) as port, pytest.raises(UnreachableError, match=f"^no TLS with 127.0.0.1:{port}: "):
        to(port, "https")(HEALTH)


def test_credentials_go_only_where_they_belong():
    deployment = Deployment()
    secrets = Secrets(KEY, "id.access", "access-secret")
    with serving(deployment) as url:
        wire = Wire(parse(url), secrets, 5)
        for credential in ("all", "access", "none"):
            wire(Request("GET", "/health", credential=credential))
    names = ("authorization", "cf-access-client-id", "cf-access-client-secret")
    sent = [{name: asked.headers[name] for name in names if name in asked.headers} for asked in deployment.asked]
    token = {"cf-access-client-id": "id.access", "cf-access-client-secret": "access-secret"}
    assert sent == [{"authorization": f"Bearer {KEY}", **token}, token, {}]
    assert KEY not in repr(secrets)
    assert "access-secret" not in repr(wire)


LOCAL = Address("http", "api.sandbox.localhost", 8787, "127.0.0.1", 8787)


@pytest.mark.parametrize(
    ("url", "connect", "address", "host_header"),
    [
        ("http://api.sandbox.localhost:8787/", None, LOCAL, "api.sandbox.localhost:8787"),
        ("https://A.example", None, Address("https", "a.example", 443, "a.example", 443), "a.example"),
        ("https://a.example:443", "h:1", Address("https", "a.example", 443, "h", 1), "a.example"),
        ("https://a.example", "10.0.0.1", Address("https", "a.example", 443, "10.0.0.1", 443), "a.example"),
        ("http://[::1]:81", None, Address("http", "::1", 81, "::1", 81), "[::1]:81"),
    ],
)
def test_addresses(url: str, connect: str | None, address: Address, host_header: str):
    assert parse(url, connect) == address
    assert address.netloc == host_header


@pytest.mark.parametrize(
    ("url", "connect", "message"),
    [
        ("sandbox.example.com", None, "'sandbox.example.com' is not a URL such as https://sandbox.example.com"),
        ("ftp://a", None, "'ftp://a' is not a URL such as https://sandbox.example.com"),
        (
            "https://u:p@a.example",
            None,
            "give the URL without user, path, query or fragment, such as https://sandbox.example.com",
        ),
        (
            "https://a.example/v1",
            None,
            "give the URL without user, path, query or fragment, such as https://sandbox.example.com",
        ),
        ("https://a.example:0", None, "URL: 'a.example:0' is not a host, or host:port"),
        ("https://a\r\nx: y", None, "URL: 'ax: y' is not a host, or host:port"),
        ("https://a.example", "b:99999", "--connect: 'b:99999' is not a host, or host:port"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(url: str, connect: str | None, message: str):
    with pytest.raises(AddressError) as caught:
        parse(url, connect)
    assert str(caught.value) == message


def test_previews_are_reached_like_the_api_on_loopback_and_by_their_own_name_outside():
    local = parse("http://api.sandbox.localhost:8787").of("8080-a.p.sandbox.localhost")
    assert local == Address("http", "8080-a.p.sandbox.localhost", 8787, "127.0.0.1", 8787)
    outside = parse("https://api.example").of("8080-a.example")
    assert outside == Address("https", "8080-a.example", 443, "8080-a.example", 443)
    redirected = parse("https://api.example", "127.0.0.1:8443").of("8080-a.example")
    assert redirected == Address("https", "8080-a.example", 443, "127.0.0.1", 8443)


@pytest.mark.parametrize(
    ("url", "connect", "clear"),
    [
        ("http://a.example", None, True),
        ("http://127.0.0.1:1", None, False),
        ("http://x.localhost", None, False),
        ("http://a.example", "127.0.0.1:1", False),
        ("http://x.localhost", "a.example:1", True),
        ("https://a.example", None, False),
    ],
)
def test_what_others_could_read(url: str, connect: str | None, clear: bool):
    assert in_clear(parse(url, connect)) is clear
