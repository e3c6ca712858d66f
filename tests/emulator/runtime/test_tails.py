"""`wrangler tail` against the emulator: real log lines and exceptions, across a deployment, and the filters."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import pytest

from emulator.runtime.tails import passes
from testbed.emulator.runtime_stage import Stage
from testbed.loopback import CLOSED
from testbed.wrangler.cli import Wrangler

pytestmark = pytest.mark.workerd

CHATTY = """
export default {
  async fetch(request) {
    console.log("RELEASE", { path: new URL(request.url).pathname });
    if (request.url.endsWith("/broken")) throw new TypeError("it broke");
    return new Response("ok");
  },
  async scheduled() { console.warn("by the clock"); },
};
"""


def events(stream: IO[str]) -> Iterator[dict[str, Any]]:
    """The JSON documents that wrangler prints, one by one."""
    text = ""
    for line in stream:
        text += line
        try:
            yield json.loads(text)
        except json.JSONDecodeError:
            continue
        text = ""


def without_proxies(wrangler: Wrangler) -> dict[str, str]:
    """An environment for `tail`, whose WebSocket goes through a proxy whatever `NO_PROXY` says.

    What else it would ask a stranger, whether there is a newer wrangler, it finds answered in its cache.
    """
    asked = wrangler.home / "update-check" / "wrangler-latest.json"
    asked.parent.mkdir(exist_ok=True)
    asked.write_text(json.dumps({"latest": None, "lastUpdate": time.time() * 1000}))
    kept = {name: value for name, value in wrangler.environment().items() if name not in CLOSED}
    return {**kept, "TMPDIR": str(wrangler.home)}


@contextmanager
def tailing(wrangler: Wrangler, folder: Path, stage: Stage, *options: str) -> Iterator[Iterator[dict[str, Any]]]:
    """Run `wrangler tail` until the block ends; what it prints."""
    process = subprocess.Popen(
        [wrangler.node / "node", wrangler.program, "tail", "app", "--format", "json", *options],
        cwd=folder,
        env=without_proxies(wrangler),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        _until_it_listens(stage, process)
        yield events(process.stdout)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        assert process.returncode == 0, said
    finally:
        process.kill()
        process.wait()


def _until_it_listens(stage: Stage, process: "subprocess.Popen[str]") -> None:
    script = (stage.account, "app")
    for _ in range(600):
        if stage.emulator.state.runtime.tails.wanted(script):
            return
        assert process.poll() is None, process.communicate()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.1)
    raise AssertionError("wrangler tail does not listen after a minute")


@pytest.fixture
def wrangler_here(wrangler_program: tuple[Path, Path], stage: Stage, tmp_path: Path) -> Wrangler:
    home = tmp_path / "home"
    home.mkdir()
    return Wrangler(*wrangler_program, stage.emulator, home)


def deploy(stage: Stage, release: str) -> None:
    stage.uploads.put("app", CHATTY.replace("RELEASE", release), compatibility_date="2026-10-01")


def test_log_lines_and_exceptions_arrive(stage: Stage, wrangler_here: Wrangler, tmp_path: Path):
    deploy(stage, "one")
    stage.ask("/before")  # nobody listens yet
    with tailing(wrangler_here, tmp_path, stage) as heard:
        stage.ask("/first", headers={"authorization": "Bearer hidden"})
        event = next(heard)
        assert event["logs"][0]["message"] == ["one", {"path": "/first"}]
        assert (event["outcome"], event["scriptName"], event["exceptions"]) == ("ok", "app", [])
        assert event["event"]["response"]["status"] == 200
        assert "hidden" not in json.dumps(event)
        stage.ask("/broken")
        event = next(heard)
        assert event["outcome"] == "exception"
        assert [(each["name"], each["message"]) for each in event["exceptions"]] == [("TypeError", "it broke")]
        deploy(stage, "two")
        stage.ask("/after")
        assert next(heard)["logs"][0]["message"][0] == "two"
        stage.raw.control("POST", f"/runtime/{stage.account}/app/scheduled", json={"cron": "* * * * *"})
        event = next(heard)
        assert event["event"]["cron"] == "* * * * *"
        assert event["logs"][0]["message"] == ["by the clock"]
    assert not stage.emulator.state.runtime.tails.wanted((stage.account, "app"))
    assert stage.raw.refusal("GET", f"{stage.uploads.base}/scripts/app/tails")[0] == 404


def test_filters_of_the_command_line(stage: Stage, wrangler_here: Wrangler, tmp_path: Path):
    deploy(stage, "one")
    with tailing(wrangler_here, tmp_path, stage, "--status", "error", "--method", "GET") as heard:
        stage.ask("/fine")
        stage.ask("/broken", method="POST")
        stage.ask("/broken")
        event = next(heard)
        assert (event["outcome"], event["event"]["request"]["method"]) == ("exception", "GET")


EVENT = {
    "outcome": "ok",
    "logs": [{"message": ["hello", {"a": "wörld"}]}],
    "event": {"request": {"method": "GET", "headers": {"x-team": "blue one"}}},
    "scriptVersion": {"id": "v1"},
}


@pytest.mark.parametrize(
    ("rule", "passed"),
    [
        ({}, True),
        ({"sampling_rate": 1}, True),
        ({"sampling_rate": 0}, False),
        ({"outcome": ["ok", "canceled"]}, True),
        ({"outcome": ["exception"]}, False),
        ({"method": ["get"]}, True),
        ({"method": ["POST"]}, False),
        ({"header": {"key": "X-Team"}}, True),
        ({"header": {"key": "x-team", "query": "blue"}}, True),
        ({"header": {"key": "x-team", "query": "red"}}, False),
        ({"header": {"key": "x-other"}}, False),
        ({"client_ip": ["self"]}, True),
        ({"client_ip": ["203.0.113.7"]}, False),
        ({"query": "wörld"}, True),
        ({"query": "nothing"}, False),
        ({"scriptVersion": "v1"}, True),
        ({"scriptVersion": "v2"}, False),
    ],
)
def test_filters(rule: dict[str, Any], passed: bool):
    assert passes(EVENT, rule) is passed


def test_an_address_without_a_websocket_or_a_tail(stage: Stage):
    deploy(stage, "one")
    path = f"{stage.uploads.base}/scripts/app/tails"
    tail = stage.raw.api("POST", path, json={"filters": []}).json()["result"]
    assert set(tail) == {"id", "url", "expires_at"}
    plain = tail["url"].replace("ws://", "http://")
    assert stage.http.get(plain).status_code == 426
    assert stage.http.get(plain.replace(tail["id"], "0" * 32)).status_code == 404
    assert stage.raw.refusal("POST", path, json={"filters": [{"colour": "red"}]})[0] == 400


def test_masked_frames_pings_and_the_end(stage: Stage):
    deploy(stage, "one")
    path = f"{stage.uploads.base}/scripts/app/tails"
    address = urlsplit(stage.raw.api("POST", path, json={}).json()["result"]["url"])
    with socket.create_connection((address.hostname, address.port), timeout=10) as client:
        client.sendall(
            f"GET {address.path} HTTP/1.1\r\nhost: {address.netloc}\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
            "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += client.recv(1)
        assert answer.startswith(b"HTTP/1.1 101 ")
        assert b"sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in answer  # RFC 6455, section 1.3
        mask = os.urandom(4)
        ping = bytes(byte ^ mask[index % 4] for index, byte in enumerate(b"ping!"))
        client.sendall(b"\x89\x85" + mask + ping)
        assert client.recv(7) == b"\x8a\x05ping!"
        client.sendall(b"\x88\x82\0\0\0\0\x03\xe8")
        assert client.recv(4) == b"\x88\x02\x03\xe8"
        assert client.recv(1) == b""
