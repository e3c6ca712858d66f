"""Downloads, against a release server on loopback."""

import hashlib
import http.server
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.errors import FinalError, SetupError
from tools.setup import release


def archive(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as target:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            target.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


class ReleaseServer:
    """Serves one release: its description as the API gives it, and its archive."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.answers: dict[str, bytes] = {}

    def publish(self, content: bytes, *, digest: str | None) -> None:
        asset = {"name": "tool.tar.gz", "digest": digest}
        self.answers["/repos/vendor/tool/releases/tags/v1"] = json.dumps({"assets": [asset]}).encode()
        self.answers["/vendor/tool/releases/download/v1/tool.tar.gz"] = content

    def fetch(self, folder: Path, *programs: str) -> None:
        wanted = release.Release("vendor/tool", "v1", "tool.tar.gz", programs)
        release.fetch(wanted, folder, api=self.address, downloads=self.address)


@pytest.fixture
def server() -> Iterator[ReleaseServer]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = releases.answers.get(self.path)
            self.send_response(200 if content is not None else 404)
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        releases = ReleaseServer(f"http://127.0.0.1:{running.server_address[1]}")
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield releases
        running.shutdown()


def sha256(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()


def test_a_verified_archive_gives_its_programs_and_nothing_else(server: ReleaseServer, tmp_path: Path):
    content = archive(**{"dist/tool": b"binary", "dist/README": b"text"})
    server.publish(content, digest=sha256(content))
    server.fetch(tmp_path, "tool")
    assert (tmp_path / "tool").read_bytes() == b"binary"
    assert (tmp_path / "tool").stat().st_mode & 0o777 == 0o755
    assert [path.name for path in tmp_path.iterdir()] == ["tool"]


def test_no_member_can_choose_where_it_lands(server: ReleaseServer, tmp_path: Path):
    content = archive(**{"../../tool": b"binary"})
    server.publish(content, digest=sha256(content))
    server.fetch(tmp_path, "tool")
    assert (tmp_path / "tool").read_bytes() == b"binary"


def test_a_changed_archive_is_refused(server: ReleaseServer, tmp_path: Path):
    content = archive(tool=b"binary")
    server.publish(archive(tool=b"other"), digest=sha256(content))
    # Final: a tampered download is a reason to stop, not to try something else quietly.
    with pytest.raises(FinalError, match=r"its SHA-256 is [0-9a-f]{64}, published is [0-9a-f]{64}"):
        server.fetch(tmp_path, "tool")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("digest", [None, "", "md5:123"])
def test_an_archive_without_a_published_digest_is_refused(server: ReleaseServer, tmp_path: Path, digest: str | None):
    server.publish(archive(tool=b"binary"), digest=digest)
    with pytest.raises(SetupError, match="publishes no SHA-256"):
        server.fetch(tmp_path, "tool")
    assert list(tmp_path.iterdir()) == []


def test_an_archive_without_the_program_is_refused(server: ReleaseServer, tmp_path: Path):
    content = archive(other=b"binary")
    server.publish(content, digest=sha256(content))
    with pytest.raises(SetupError, match="the archive has no tool"):
        server.fetch(tmp_path, "tool")


def test_what_is_not_an_archive_is_refused(server: ReleaseServer, tmp_path: Path):
    server.publish(b"<html>", digest=sha256(b"<html>"))
    with pytest.raises(SetupError, match=r"cannot download tool\.tar\.gz: not a gzip file"):
        server.fetch(tmp_path, "tool")


@pytest.mark.parametrize("answer", [b'{"message": "rate limit"}', b"[]", b"null", b'{"assets": [1]}', b"<html>"])
def test_an_answer_that_makes_no_sense_is_one_sentence(server: ReleaseServer, tmp_path: Path, answer: bytes):
    server.publish(b"", digest=None)
    server.answers["/repos/vendor/tool/releases/tags/v1"] = answer
    with pytest.raises(SetupError, match=r"^cannot download tool\.tar\.gz: "):
        server.fetch(tmp_path, "tool")


def test_a_missing_release_says_so(server: ReleaseServer, tmp_path: Path):
    with pytest.raises(SetupError, match=r"cannot download tool\.tar\.gz: Not Found"):
        server.fetch(tmp_path, "tool")


def test_an_unreachable_host_is_one_sentence(tmp_path: Path):
    wanted = release.Release("vendor/tool", "v1", "tool.tar.gz", ("tool",))
    closed = "http://127.0.0.1:9"
    with pytest.raises(SetupError, match="Connection refused"):
        release.fetch(wanted, tmp_path, api=closed, downloads=closed)


def test_this_machine_has_a_name_in_the_vendors_words():
    assert release.machine(amd64="x64").split("-")[0] in {"linux", "darwin"}
