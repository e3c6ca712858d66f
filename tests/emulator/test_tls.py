"""The HTTPS port: the same emulator, a certificate of its own making, and wrangler's image commands through it."""

import json
import socket
import ssl
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from cryptography import x509

from emulator import server, tls
from emulator.testing import Running, running
from testbed.emulator.control import Control
from testbed.emulator.runtime_stage import PACKAGES, Stage
from testbed.wrangler.cli import Wrangler
from tests.emulator.test_process import TOKEN, _program
from tools.setup import toolchain


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "state", tls=True) as emulator:
        yield emulator


def trusting(certificate: Path) -> httpx.Client:
    return httpx.Client(verify=ssl.create_default_context(cafile=str(certificate)))


def test_wrangler_lists_and_deletes_images(secure: Running, wrangler_program: tuple[Path, Path], tmp_path: Path):
    control = Control(secure)
    for tag in ("v1", "v2"):
        body = {"repository": f"{secure.account_id}/sandbox", "tags": [tag], "labels": {"tag": tag}}
        control.control("POST", "/registry/images", json=body)
    home = tmp_path / "home"
    home.mkdir()
    wrangler = Wrangler(*wrangler_program, secure, home)
    listed = wrangler("containers", "images", "list", "--json", cwd=tmp_path).stdout
    assert json.loads(listed) == [{"name": "sandbox", "tags": ["v1", "v2"]}]
    assert "Deleted sandbox:v1" in wrangler("containers", "images", "delete", "sandbox:v1", cwd=tmp_path).stdout
    listed = wrangler("containers", "images", "list", "--json", cwd=tmp_path).stdout
    assert json.loads(listed) == [{"name": "sandbox", "tags": ["v2"]}]
    untrusted = wrangler("containers", "images", "list", cwd=tmp_path, env={"NODE_EXTRA_CA_CERTS": ""}, ok=False)
    assert untrusted.returncode != 0
    control.http.close()


def test_the_program_tells_both_addresses_and_keeps_its_certificate(tmp_path: Path):
    pems = []
    for _ in range(2):
        with _program(tmp_path, "--tls-port", "0") as (process, url):
            assert process.stdout is not None
            address, _, file = process.stdout.readline().strip().rstrip(")").partition(" (certificate: ")
            pems.append(Path(file).read_bytes())
            with trusting(Path(file)) as http:
                for each in (url, address, address.replace("127.0.0.1", "localhost")):
                    headers = {"authorization": f"Bearer {TOKEN}"}
                    assert http.get(f"{each}/user/tokens/verify", headers=headers).status_code == 200
            with pytest.raises(httpx.ConnectError, match="certificate verify failed"):
                httpx.get(address)
            process.terminate()
            assert process.wait(5) == 0
    assert pems[0] == pems[1]
    assert stat.S_IMODE((tmp_path / "tls" / "key.pem").stat().st_mode) == 0o600


def test_the_certificate_is_for_this_machine_and_signs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made = tls.provide(tmp_path)
    read = x509.load_pem_x509_certificate(made.file.read_bytes())
    names = read.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(each.value) for each in names] == ["127.0.0.1", "localhost", "*.localhost"]
    assert not read.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert datetime.now(UTC) < read.not_valid_after_utc < datetime.now(UTC) + timedelta(days=398)
    monkeypatch.setattr(tls, "_LEFT", timedelta(days=397))
    assert x509.load_pem_x509_certificate(tls.provide(tmp_path).file.read_bytes()) != read  # it had too little left
    made.file.write_text("broken")
    assert x509.load_pem_x509_certificate(tls.provide(tmp_path).file.read_bytes())


def test_a_worker_asked_over_https_sees_https(workerd_fetched: None, tmp_path: Path):  # noqa: ARG001 - its effect
    code = "export default { fetch(request) { return new Response(request.url); } };"
    with running(tmp_path / "state", packages=PACKAGES, node=toolchain.load().node, tls=True) as emulator:
        stage: Any = Stage(Control(emulator))
        stage.uploads.put("app", code, compatibility_date="2026-10-01")
        assert emulator.certificate is not None
        with trusting(emulator.certificate.file) as http:
            origin = emulator.secure_url.removesuffix("/client/v4")
            seen = http.get(f"{origin}/x", headers={"host": "app.localhost"}).text
        assert seen == "https://app.localhost/x"
        assert stage.ask("/x").text == "http://app.localhost/x"


@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01\x02\x00\x01"], ids=["nothing", "half a greeting"])
def test_half_a_handshake_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes):
    monkeypatch.setattr(server, "PATIENCE", 0.3)
    with running(tmp_path / "state", tls=True) as emulator:
        address = urlsplit(emulator.secure_url)
        with socket.create_connection((address.hostname, address.port), timeout=30) as client:
            client.sendall(sent)
            while client.recv(4096):
                pass  # an alert may come first
