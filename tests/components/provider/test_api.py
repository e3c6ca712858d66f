"""How the plugin talks to the API: retries, time-outs, texts, and what it must never say."""

import json
import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
import httpx
import pytest
from pulumi.runtime.proto import provider_pb2

from bench.faults.sweep import SECRET, first, second
from components.provider.api_client import AT_ONCE as SLOTS
from components.provider.api_client import Client, WaitTimes
from components.provider.errors import Refusal, StoppedError, TransientError
from testbed.orphans import eventually
from testbed.plugin.account import Cloud, Worker
from testbed.plugin.driver import Plugin, Stack, urn

TOKEN = "token-that-must-never-be-shown-anywhere-0123"


class Script:
    """A server that answers as it is told, and remembers what it was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Any, dict[str, str]]] = []
        self.asked: list[Any] = []
        script = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                script.asked.append(dict(self.headers))
                status, body, headers = script.answers.pop(0)
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"content-type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def server() -> Iterator[Script]:
    script = Script()
    yield script
    script.server.shutdown()
    script.server.server_close()


def client(server: Script, *retries: float) -> Client:
    return Client(TOKEN, server.url, WaitTimes(retries=retries))


def envelope(message: str, code: int = 1000) -> dict[str, Any]:
    return {"success": False, "errors": [{"code": code, "message": message}], "messages": [], "result": None}


OK = (200, {"success": True, "result": {"x": 1}, "errors": [], "messages": []}, {})


def test_every_request_names_the_project(server: Script):
    server.answers = [OK]
    assert client(server).get("/x") == {"x": 1}
    asked = {name.lower(): value for name, value in server.asked[0].items()}
    assert asked["user-agent"].startswith("pulumi-cloudflare-sandbox")
    assert asked["authorization"] == f"Bearer {TOKEN}"


def test_what_is_prepared_is_what_requests_use(server: Script):
    prepared = client(server)
    prepared.prepare()
    loaded = prepared._loaded()
    server.answers = [OK]
    assert prepared.get("/x") == {"x": 1}
    assert prepared._loaded() is loaded


def test_what_cannot_be_prepared_is_told_by_the_first_request_alone(server: Script, monkeypatch: pytest.MonkeyPatch):
    told: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", told.append)
    monkeypatch.setenv("ALL_PROXY", "gopher://proxy.example")
    before, unlucky = set(threading.enumerate()), client(server)
    unlucky.prepare()
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert told == []
    with pytest.raises(ValueError, match="gopher"):
        unlucky.get("/x")


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 520])
def test_what_fails_for_a_moment_is_tried_again(status: int, server: Script):
    server.answers = [(status, envelope("later"), {}), OK]
    assert client(server, 0.001).get("/x") == {"x": 1}


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 412])
def test_a_refusal_is_not_tried_again(status: int, server: Script):
    server.answers = [(status, envelope("no"), {})]
    with pytest.raises(Refusal):
        client(server, 0.001).get("/x")


def test_the_server_says_how_long_to_wait(server: Script):
    server.answers = [
        (429, envelope("slow"), {"retry-after": "0"}),
        (429, envelope("slow"), {"retry-after-ms": "1"}),
        OK,
    ]
    started = time.monotonic()
    client(server, 30, 30).get("/x")
    assert time.monotonic() - started < 5


def test_what_lasts_is_told_with_its_place(server: Script):
    server.answers = [(503, envelope("busy"), {})] * 2
    with pytest.raises(TransientError) as caught:
        client(server, 0.001).get("/accounts/1/x")
    assert str(caught.value) == (
        "GET /accounts/1/x: Cloudflare did not answer properly (503 busy); run `pulumi up` again to go on"
    )


def test_a_lasting_failure_inside_a_longer_action_is_not_multiplied(server: Script):
    server.answers = [(503, envelope("busy"), {})] * 9
    api = client(server, 0.001, 0.001)
    with pytest.raises(TransientError):
        api.persist(lambda: api.get("/x"))
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("status", "body", "text"),
    [
        (400, envelope("plain words", 10021), "GET /x: Cloudflare refused (400, code 10021): plain words"),
        (
            400,
            envelope('{"error":"VALIDATE_INPUT","details":{"disk":"too large","name":"taken"}}'),
            "GET /x: Cloudflare refused (400, code 1000): VALIDATE_INPUT: disk too large: name taken",
        ),
        (
            400,
            {"error": "IMAGE_REGISTRY_DOESNT_CONTAIN_IMAGE"},
            (
                "GET /x: Cloudflare refused (400): IMAGE_REGISTRY_DOESNT_CONTAIN_IMAGE. Push the image before the "
                "application is created or updated"
            ),
        ),
        (
            403,
            envelope("Authentication error", 10000),
            (
                "GET /x: Cloudflare refused (403, code 10000): Authentication error. The token needs the account "
                "permission `Workers Scripts Read`; `wrangler login` tokens often lack Containers"
            ),
        ),
        (
            403,
            envelope("New version of script does not export class 'Sandbox' which is depended on", 10064),
            (
                "GET /x: Cloudflare refused (403, code 10064): New version of script does not export class 'Sandbox' "
                "which is depended on. Export the class from the Worker's entry module, or give its objects up in "
                "deletedClasses"
            ),
        ),
        (403, envelope("not on this plan", 50002), "GET /x: Cloudflare refused (403, code 50002): not on this plan"),
        (
            403,
            envelope('{"error":"IMAGE_REGISTRY_NOT_ALLOWED"}'),
            "GET /x: Cloudflare refused (403, code 1000): IMAGE_REGISTRY_NOT_ALLOWED",
        ),
        (400, {"errors": ["plain"]}, "GET /x: Cloudflare refused (400): "),
        (400, {"errors": {"code": 7}}, "GET /x: Cloudflare refused (400): "),
        (400, {"errors": [{"code": "x", "message": "m", "meta": []}]}, "GET /x: Cloudflare refused (400): m"),
        (400, ["no"], "GET /x: Cloudflare refused (400): "),
        (400, b"<html>", "GET /x: Cloudflare refused (400): an answer that is not JSON (6 bytes)"),
        (400, envelope(f"bad token {TOKEN}", 1), "GET /x: Cloudflare refused (400, code 1): bad token [token]"),
    ],
)
def test_refusals_in_words(status: int, body: Any, text: str, server: Script):
    server.answers = [(status, body, {})]
    with pytest.raises(Refusal) as caught:
        client(server).get("/x")
    assert str(caught.value) == text


@pytest.mark.parametrize(("body", "kind"), [(b"{", "application/json"), (b"<html>", "text/html"), (b"", "text/plain")])
def test_an_answer_that_is_not_json_is_a_failure_for_a_moment(body: bytes, kind: str, server: Script):
    server.answers = [(200, body, {"content-type": kind}), OK]
    assert client(server, 0.001).get("/x") == {"x": 1}
    server.answers = [(200, body, {"content-type": kind})]
    with pytest.raises(TransientError, match=rf"\(200 an answer that is not JSON \({len(body)} bytes\)\)"):
        client(server).get("/x")


def test_after_a_cancellation_nothing_is_asked_any_more(server: Script):
    api = client(server, 60)
    server.answers = [(503, envelope("busy"), {})]
    started = time.monotonic()
    with ThreadPoolExecutor(1) as beside:
        beside.submit(lambda: eventually(lambda: bool(server.asked)) and api.stop())
        with pytest.raises(StoppedError):
            api.get("/x")
    assert time.monotonic() - started < 30
    with pytest.raises(StoppedError):
        api.get("/x")
    assert len(server.asked) == 1


def test_requests_that_wait_for_their_turn_do_not_go_out_after_a_cancellation(monkeypatch: pytest.MonkeyPatch):
    api, busy, go_on, sent = Client(TOKEN), threading.Event(), threading.Event(), []

    def exchange(*request: Any) -> Any:
        sent.append(request)
        if len(sent) == SLOTS:
            busy.set()
        go_on.wait(10)
        return httpx.Response(200, json={})

    monkeypatch.setattr(api, "_exchange", exchange)
    with ThreadPoolExecutor(SLOTS + 8) as threads:
        requests = [threads.submit(api.once, "GET", "/x") for _ in range(SLOTS + 8)]
        assert busy.wait(10)
        api.stop()
        go_on.set()
    assert len(sent) == SLOTS
    assert sum(isinstance(each.exception(), StoppedError) for each in requests) == 8


def test_a_preview_needs_no_permission_at_all(cloud: Cloud, worker: Worker, address: str):
    powerless = Stack(Plugin(address, {"apiToken": "x" * 40, "baseUrl": cloud.url}).configured())
    kind, name, inputs = worker.script()
    checked = powerless.plugin.check(kind, name, inputs)
    request = provider_pb2.CreateRequest(urn=urn(kind, name), properties=checked, preview=True)
    assert powerless.plugin.stub.Create(request).properties.fields["versionId"].string_value.startswith("04da6b54")
    assert cloud.calls() == []
    with pytest.raises(grpc.RpcError, match=r"The token needs the account permission `Workers Scripts Read`"):
        powerless.up(worker.script())
    Plugin(address, {"apiToken": cloud.token, "baseUrl": cloud.url}).configured()


def test_no_log_error_or_clear_state_has_a_token_or_a_secret(
    stack: Stack, cloud: Cloud, worker: Worker, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
):
    caplog.set_level(logging.DEBUG)
    texts = []
    for nth in range(1, 13):
        cloud.emptied().fault(nth=nth, times=0, status=500)
        fresh = Stack(stack.plugin)
        for act in (first, second):
            try:
                act(fresh, worker)
            except grpc.RpcError as error:
                texts.append(f"{error.details()} {error.debug_error_string()}")
        cloud.clear_faults()
        second(fresh, worker)
        texts.append(_clear(fresh))
        fresh.destroy()
    captured = capfd.readouterr()
    everything = "\n".join([*texts, caplog.text, captured.out, captured.err])
    assert len(texts) > 12
    assert cloud.token not in everything
    assert SECRET not in everything


def _clear(stack: Stack) -> str:
    """The state without what the engine encrypts."""
    return _shown(json.loads(stack.text()))


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        if value.get("4dabf18193072939515e22adb298388d"):
            return "[secret]"
        return " ".join(f"{key} {_shown(each)}" for key, each in value.items())
    if isinstance(value, list):
        return " ".join(_shown(each) for each in value)
    return str(value)
