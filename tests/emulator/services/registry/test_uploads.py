"""Uploads under stress: many at once, broken off, and with the emulator killed in the middle."""

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from emulator.testing import Running
from testbed.emulator.process import TOKEN, started
from tests.emulator.services.registry.oci import Registry, digest, refusal

MEGABYTE = 1_000_000


def mint(url: str, account: str, token: str) -> Registry:
    answer = httpx.post(
        f"{url}/accounts/{account}/containers/registries/registry.cloudflare.com/credentials",
        headers={"authorization": f"Bearer {token}"},
        json={"expiration_minutes": 60, "permissions": ["push", "pull"]},
    )
    return Registry(url.removesuffix("/client/v4"), answer.json()["result"]["password"])


@pytest.fixture
def registry(emulator: Running) -> Registry:
    return mint(emulator.url, emulator.account_id, emulator.token)


def files_of(folder: Path) -> list[Path]:
    return [path for path in (folder / "blobs" / "images").rglob("*") if path.is_file()]


def test_many_uploads_at_once(registry: Registry, emulator: Running):
    layers = [os.urandom(MEGABYTE) for _ in range(8)]
    repository = f"{emulator.account_id}/busy"

    def push(number: int) -> str:
        own = Registry(registry.origin, registry.password)
        return own.push_blob(repository, layers[number % len(layers)])  # every layer twice

    with ThreadPoolExecutor(16) as pool:
        pushed = list(pool.map(push, range(16)))
    assert pushed == [digest(layers[number % len(layers)]) for number in range(16)]
    for layer in layers:
        assert registry("GET", f"{repository}/blobs/{digest(layer)}").content == layer
    assert len(files_of(emulator.state.folder)) == len(layers)


def test_one_writer_at_a_time(registry: Registry, emulator: Running):
    location = registry("POST", f"{emulator.account_id}/x/blobs/uploads/").headers["location"]
    leave = threading.Event()

    def slow() -> Iterator[bytes]:
        yield b"a" * 100_000
        leave.wait(10)
        yield b"b"

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(Registry(registry.origin, registry.password).http.patch, location, content=slow())
        wait_until(lambda: sum(path.stat().st_size for path in files_of(emulator.state.folder)) > 50_000)
        answers = [refusal(registry.http.patch(location, content=b"c")) for _ in range(3)]
        leave.set()
        assert first.result().status_code == 202
    assert set(answers) == {(409, "BLOB_UPLOAD_INVALID")}
    assert registry.http.get(location).headers["range"] == "0-100000"


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
def test_a_reset_ends_an_upload_that_is_being_sent(registry: Registry, emulator: Running, method: str):
    location = registry("POST", f"{emulator.account_id}/x/blobs/uploads/").headers["location"]

    def body() -> Iterator[bytes]:
        yield b"a" * 100_000
        wait_until(lambda: sum(path.stat().st_size for path in files_of(emulator.state.folder)) > 50_000)
        emulator.reset()
        yield b"b"

    answer = registry.http.request(method, location, params={"digest": digest(b"")}, content=body())
    assert refusal(answer) == (404, "BLOB_UPLOAD_UNKNOWN")
    assert not [kind for kind in emulator.state.store.counts() if kind.startswith("image_")]
    assert files_of(emulator.state.folder) == []


def test_an_upload_in_one_request_that_fails_leaves_nothing(registry: Registry, emulator: Running):
    path = f"{emulator.account_id}/x/blobs/uploads/"
    wrong = registry("POST", path, params={"digest": digest(b"other")}, content=b"content")
    assert refusal(wrong) == (400, "DIGEST_INVALID")
    assert refusal(registry("POST", path, params={"digest": "none"}, content=b"content")) == (400, "DIGEST_INVALID")
    break_off(registry, f"/v2/{path}?digest={digest(b'x')}", b"x" * 70_000, announced=100_000, method="POST")
    wait_until(lambda: len(emulator.state.journal.entries(operation="mount.v2")) == 3)
    assert files_of(emulator.state.folder) == []
    assert not [kind for kind in emulator.state.store.counts() if kind.startswith("image_")]


def test_a_broken_chunk_does_not_count(registry: Registry, emulator: Running):
    location = registry("POST", f"{emulator.account_id}/x/blobs/uploads/").headers["location"]
    assert registry.http.patch(location, content=b"first").status_code == 202
    break_off(registry, location, b"lost" * 1000, announced=10_000_000)
    wait_until(lambda: registry.http.patch(location, content=b" second").status_code == 202)
    whole = b"first second"
    wait_until(lambda: registry.http.put(location, params={"digest": digest(whole)}).status_code == 201)
    assert registry("GET", f"{emulator.account_id}/x/blobs/{digest(whole)}").content == whole


def break_off(registry: Registry, location: str, content: bytes, *, announced: int, method: str = "PATCH") -> None:
    """Send less than announced and hang up."""
    host, _, port = registry.origin.removeprefix("http://").partition(":")
    authorization = next(registry.http.auth.auth_flow(httpx.Request("GET", registry.origin))).headers["authorization"]
    head = (
        f"{method} {location} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {authorization}\r\n"
        f"Content-Length: {announced}\r\n\r\n"
    )
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.encode() + content)


def wait_until(done: Any) -> None:
    """Try for a while: a hung-up connection is noticed a moment later."""
    for _ in range(200):
        if done():
            return
        threading.Event().wait(0.02)
    raise AssertionError


def test_an_upload_survives_a_kill(tmp_path: Path):
    first, second = os.urandom(MEGABYTE), os.urandom(MEGABYTE)
    with started(tmp_path) as (process, url):
        answer = httpx.get(f"{url}/accounts", headers={"authorization": f"Bearer {TOKEN}"})
        account = answer.json()["result"][0]["id"]
        registry = mint(url, account, TOKEN)
        whole = registry.push_blob(f"{account}/x", first)
        location = registry("POST", f"{account}/x/blobs/uploads/").headers["location"]
        assert registry.http.patch(location, content=first).status_code == 202
        kill_while_writing(registry, location, process)
    with started(tmp_path) as (_, url):
        survivor = Registry(url.removesuffix("/client/v4"), registry.password)
        assert survivor("GET", f"{account}/x/blobs/{whole}").content == first
        status = survivor.http.get(location)
        assert (status.status_code, status.headers["range"]) == (204, f"0-{MEGABYTE - 1}")
        done = survivor.http.put(location, params={"digest": digest(first + second)}, content=second)
        assert done.status_code == 201
        assert survivor("GET", f"{account}/x/blobs/{digest(first + second)}").content == first + second
        # A file of an upload nobody knows, as a kill between file and document leaves it, goes at the next start.
        (tmp_path / "blobs" / "images" / "incoming" / "stray").write_bytes(b"x")
    with started(tmp_path) as (_, url):
        assert httpx.get(f"{url}/accounts", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
        names = {path.name for path in files_of(tmp_path)}
        assert names == {whole.removeprefix("sha256:"), digest(first + second).removeprefix("sha256:")}


def kill_while_writing(registry: Registry, location: str, process: subprocess.Popen[str]) -> None:
    """Kill the emulator with SIGKILL when it has taken part of a chunk."""

    def endless() -> Iterator[bytes]:
        yield os.urandom(3 * MEGABYTE)
        process.send_signal(signal.SIGKILL)
        process.wait()
        yield from (b"x" * MEGABYTE for _ in range(100))

    with pytest.raises(httpx.TransportError):
        registry.http.patch(location, content=endless())
