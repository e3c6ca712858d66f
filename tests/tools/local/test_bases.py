"""Where base images come from: Docker Hub wherever it answers, else a stand-in, else an image that says it is none.

An emulator plays Docker Hub; another is the local stack's.
"""

import hashlib
import json
import re
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from emulator.testing import Running, running
from tests import ports
from tools.errors import SetupError
from tools.local import bases, hub
from tools.local.emulator import Emulated
from tools.local.hub import Hub
from tools.paths import sdk_version
from tools.progress import Board
from tools.setup.toolchain import Toolchain

VERSION = sdk_version()
NOWHERE = Path("/nonexistent")


def toolchain(base_image: Path | None) -> Toolchain:
    return Toolchain(NOWHERE, NOWHERE, None, NOWHERE, None, base_image)


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "local") as emulator:
        yield emulator


@pytest.fixture
def docker_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """A registry that has the official image, in the place of Docker Hub."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with running(tmp_path / "hub") as emulator:
        recipe = {"repository": "cloudflare/sandbox", "tags": [VERSION], "files": {"/server": {"content": "YQ=="}}}
        account(emulator).control("/registry/images", recipe)
        monkeypatch.setenv(hub.VARIABLE, emulator.origin)
        yield emulator


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with ports.reserved() as port:
        monkeypatch.setenv(hub.VARIABLE, f"http://127.0.0.1:{port}")
        yield


def account(emulator: Running) -> Emulated:
    return Emulated(emulator.url, emulator.account_id, emulator.token)


def digest_at(emulator: Running, reference: str) -> str | None:
    answer = httpx.head(f"{emulator.origin}/v2/cloudflare/sandbox/manifests/{reference}", params={"ns": "docker.io"})
    return answer.headers.get("docker-content-digest") if answer.status_code == 200 else None


def layout(folder: Path, *variants: str) -> Path:
    """A layout with an image of one file for each variant."""
    with running(folder / "maker") as maker:
        for variant in variants:
            recipe = {"repository": "x", "tags": [f"{VERSION}{variant}"], "labels": {"variant": variant}}
            account(maker).control("/registry/images", recipe)
            tag, registry = f"{VERSION}{variant}", Hub(maker.origin)
            registry._fill(folder / f"of{variant}", "x", tag, *registry._manifest("x", tag))
    whole = folder / f"of{variants[0]}"
    manifests = []
    for variant in variants:
        made = folder / f"of{variant}"
        manifests += json.loads((made / "index.json").read_text())["manifests"]
        for blob in (made / "blobs" / "sha256").iterdir():
            blob.replace(whole / "blobs" / "sha256" / blob.name)
    (whole / "index.json").write_text(json.dumps({"manifests": manifests}))
    return whole


def test_where_docker_hub_answers_nothing_is_seeded(local: Running, docker_hub: Running, tmp_path: Path):
    base = bases.chosen(toolchain(layout(tmp_path, "", "-python")), account(local))
    assert (base.mirror, base.note) == (docker_hub.origin, "")
    assert digest_at(local, VERSION) is None
    base.require("musl")


def test_without_a_builder_the_official_image_is_mirrored(local: Running, docker_hub: Running):
    official = digest_at(docker_hub, VERSION)
    base = bases.chosen(toolchain(None), account(local))
    assert base.ready("default") == base.ready("default") == f"docker.io/cloudflare/sandbox@{official}"
    assert digest_at(local, VERSION) == official
    with pytest.raises(
        SetupError, match=rf"^cannot fetch cloudflare/sandbox:{VERSION}-python: 127.0.0.1:\d+ says: Not"
    ):
        base.ready("python")


@pytest.mark.usefixtures("no_hub")
def test_where_it_does_not_answer_the_stand_in_is_used_and_said(local: Running, tmp_path: Path):
    base = bases.chosen(toolchain(layout(tmp_path, "", "-python")), account(local))
    assert base.mirror == local.origin
    assert base.note.startswith("A stand-in for the official base image is used: 127.0.0.1:")
    assert base.note.endswith(" does not answer ([Errno 111] Connection refused).")
    assert base.ready("python") == f"docker.io/cloudflare/sandbox@{digest_at(local, f'{VERSION}-python')}"
    assert base.ready("default") != base.ready("python")
    with pytest.raises(SetupError, match=r"^the image variant musl cannot be had: .* Use one of default, python mean"):
        base.ready("musl")


@pytest.mark.usefixtures("no_hub")
def test_where_there_is_no_stand_in_either_the_reason_and_remedy_are_said(
    local: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    base = bases.chosen(toolchain(None), account(local))
    assert base.note.startswith("Sandboxes have no image here and cannot start: 127.0.0.1:")
    assert base.note.endswith(
        ", and cannot make the stand-in base image: apt-get and dpkg-deb are not on PATH: this is no Debian or Ubuntu. "
        "Use a machine that reaches Docker Hub, or Debian or Ubuntu on x86_64 with access to its packages."
    )
    assert base.ready("musl") == f"docker.io/cloudflare/sandbox@{digest_at(local, f'{VERSION}-musl')}"


def test_a_second_time_takes_nothing(local: Running, tmp_path: Path):
    folder = layout(tmp_path, "", "-python")
    body = {"repository": "cloudflare/sandbox", "folder": str(folder)}
    first, second = (account(local).control("/registry/layouts", body) for _ in range(2))
    assert first["added"] > 0
    assert second == {**first, "added": 0}


class Guarded(BaseHTTPRequestHandler):
    """A registry as Docker Hub is: a token for everything, and blobs elsewhere, where no token may go."""

    blob, config = b"layer", b"{}"
    elsewhere: list[str | None] = []  # noqa: RUF012 - filled by a test
    many: list[dict[str, Any]] = []  # noqa: RUF012 - filled by a test
    read: list[str] = []  # noqa: RUF012 - filled by a test

    def do_GET(self) -> None:
        host = f"http://{self.headers['host']}"
        if self.path.startswith("/token"):
            return self._answer(200, json.dumps({"token": "t"}).encode())
        if self.path.startswith("/elsewhere"):
            self.elsewhere.append(self.headers["authorization"])
            return self._answer(200, self.blob)
        if self.headers["authorization"] != "Bearer t":
            challenge = f'Bearer realm="{host}/token",service="s",scope="repository:x:pull"'
            return self._answer(401, b"", {"www-authenticate": challenge})
        if "/blobs/" in self.path:
            port = self.server.server_address[1]
            return self._answer(307, b"", {"location": f"http://localhost:{port}/elsewhere"})
        if self.path.endswith("/manifests/many"):
            index = json.dumps({"schemaVersion": 2, "manifests": self.many}).encode()
            return self._answer(200, index, {"content-type": "application/vnd.oci.image.index.v1+json"})
        self.read.append(self.path.rpartition("/")[2])
        return self._answer(200, self._manifest(), {"content-type": "application/vnd.oci.image.manifest.v1+json"})

    def _manifest(self) -> bytes:
        entry = {"digest": f"sha256:{hashlib.sha256(self.blob).hexdigest()}", "size": len(self.blob)}
        return json.dumps({"schemaVersion": 2, "config": entry, "layers": [entry]}).encode()

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Guarded)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for kept in (Guarded.elsewhere, Guarded.many, Guarded.read):
        kept.clear()
    yield Hub(f"http://127.0.0.1:{server.server_address[1]}")
    server.shutdown()
    server.server_close()


def test_a_registry_with_tokens_is_read_and_they_go_nowhere_else(guarded: Hub):
    assert guarded.why_not() == ""
    found = guarded.fetch("x", "1", Board())
    assert len(list((found / "blobs" / "sha256").iterdir())) == 2
    assert Guarded.elsewhere == [None]


@pytest.mark.parametrize(
    ("ours", "published", "taken"),
    [
        ("amd64", ["unknown/unknown", "linux/arm64", "linux/amd64"], "linux/amd64"),
        ("arm64", ["linux/amd64", "linux/arm64"], "linux/arm64"),
        ("arm64", ["windows/arm64", "linux/amd64", "linux/386"], "linux/amd64"),
    ],
)
def test_of_several_images_the_one_for_this_machine_is_taken(
    guarded: Hub, ours: str, published: list[str], taken: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(hub, "architecture_of", lambda _: ours)
    described = (dict(zip(("os", "architecture"), each.split("/"), strict=True)) for each in published)
    Guarded.many += [{"digest": str(number), "platform": each} for number, each in enumerate(described)]
    guarded.fetch("x", "many", Board())
    assert Guarded.read == [str(published.index(taken))]


def test_images_for_other_systems_alone_are_refused(guarded: Hub):
    Guarded.many.append({"digest": "0", "platform": {"os": "windows", "architecture": "amd64"}})
    with pytest.raises(SetupError, match=r"says: many has no image for Linux\."):
        guarded.fetch("x", "many", Board())


@pytest.mark.parametrize(
    ("address", "reason"),
    [("http://no.such.host.invalid", "Name or service not known"), ("nonsense", "unknown url type")],
)
def test_what_does_not_answer_is_a_reason(address: str, reason: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("no_proxy", "no.such.host.invalid")  # a proxy would look it up
    assert re.search(reason, Hub(address).why_not())


def test_an_answer_that_is_no_registrys_is_a_reason(local: Running):
    assert Hub(f"{local.origin}/client").why_not() == "it answers with status 404"


def test_silence_is_given_up_soon(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hub, "_ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        assert Hub(f"http://127.0.0.1:{mute.getsockname()[1]}").why_not() != ""


def test_docker_hub_itself_needs_no_mirror(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(hub.VARIABLE, raising=False)
    assert (Hub.of_this_machine().mirror, Hub.of_this_machine().name) == ("", "Docker Hub")
