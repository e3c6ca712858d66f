"""Uploaded Workers answer: requests, bindings, and one state for the Worker and the API."""

import json
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from emulator.runtime.workerd.assemble import DISPATCHER
from testbed.emulator.runtime_stage import SECRET, Stage

pytestmark = pytest.mark.workerd


def test_a_worker_sees_the_request_and_its_bindings(stage: Stage):
    stage.deploy()
    assert stage.ask("/look?a=1%2F2").json() == {
        "release": "1",
        "url": "http://app.localhost/look?a=1%2F2",
        "ip": "127.0.0.1",
        "colo": "LOC",
        "secret": SECRET,
        "text": "plain",
        "json": {"a": [1, None]},
    }
    assert stage.status()["missing_bindings"] == [{"name": "MODEL", "type": "ai"}]
    assert [stage.ask("/limit/a").json()["success"] for _ in range(3)] == [True, True, False]


def test_clients_cannot_pretend_what_the_edge_says(stage: Stage):
    stage.deploy()
    forged = {"cf-connecting-ip": "192.0.2.1", "x-emulator-cf": '{"colo":"ZRH"}', "x-emulator-key": "guess"}
    seen = stage.ask("/", headers={**forged, "x-forwarded-proto": "https"}).json()
    assert (seen["ip"], seen["colo"], seen["url"]) == ("127.0.0.1", "LOC", "https://app.localhost/")


def test_headers_that_only_the_emulator_sends_end_at_the_edge(stage: Stage):
    stage.deploy()
    forged = {
        f"x-emulator-{name}": "guess" for name in ("dispatch", "container", "dispatcher", "store", "key", "later")
    }
    seen = stage.ask("/headers", headers={**forged, "x-own": "1"}).json()
    assert "x-own" in seen
    assert not [name for name in seen if name.startswith("x-emulator-")]


def test_kv_is_one_state_for_worker_and_api(stage: Stage):
    stage.deploy()
    values = f"/accounts/{stage.account}/storage/kv/namespaces/{stage.kv}/values"
    key = "a/b ü"
    written = stage.ask("/kv/a%2Fb%20%C3%BC", method="PUT", content="from the Worker").json()
    assert (written["value"], written["metadata"]) == ("from the Worker", {"from": "worker"})
    assert stage.raw.api("GET", f"{values}/a%2Fb%20%C3%BC").text == "from the Worker"
    stage.raw.api("PUT", f"{values}/plain", content=b"from the API")
    assert stage.ask("/kv/plain").json()["value"] == "from the API"
    listed = stage.ask("/kv/a", method="POST").json()
    assert listed["keys"] == [{"name": key, "metadata": {"from": "worker"}}]
    assert listed["list_complete"] is True
    stage.ask("/kv/plain", method="DELETE")
    assert stage.raw.refusal("GET", f"{values}/plain")[:2] == (404, 10009)
    assert stage.ask("/kv/plain").json()["value"] is None


def test_objects_of_the_worker_keep_a_bucket_alive(stage: Stage):
    stage.deploy()
    bucket = f"/accounts/{stage.account}/r2/buckets/things"
    put = stage.ask("/r2/a%2Fb", method="PUT", content=b"0123456789", headers={"content-type": "text/x-odd"}).json()
    assert (put["key"], put["size"], put["etag"]) == ("a/b", 10, "781e5e245d69b566979b86e28d23f2c7")
    assert put["httpMetadata"] == {"contentType": "text/x-odd"}
    assert put["customMetadata"] == {"from": "ü"}
    assert stage.ask("/r2/a%2Fb").content == b"0123456789"
    assert stage.ask("/r2/a%2Fb", headers={"range": "bytes=2-4"}).content == b"234"
    assert stage.ask("/r2/a%2Fb", headers={"range": "bytes=-3"}).content == b"789"
    assert stage.ask("/r2/none").status_code == 404
    assert stage.raw.refusal("DELETE", bucket)[:2] == (409, 10008)
    stage.ask("/r2/a%2Fb", method="DELETE")
    assert stage.ask("/r2/a%2Fb").status_code == 404
    objects = f"/r2/{stage.account}/things/objects/seeded"
    stage.raw.control("PUT", objects, content=b"by the control route")
    assert stage.ask("/r2/seeded").text == "by the control route"
    stage.raw.control("DELETE", objects)
    assert stage.raw.api("DELETE", bucket).status_code == 200
    stage.ask("/r2/late", method="PUT", content=b"into nothing")
    assert stage.raw.api("POST", bucket.removesuffix("/things"), json={"name": "things"}).status_code == 200
    assert stage.ask("/r2/late").status_code == 404


def test_bodies_of_every_shape_pass(stage: Stage):
    stage.deploy()
    large = bytes(range(256)) * 20_000
    assert stage.ask("/echo", method="POST", content=large).content == large

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(large), 100_000):
            yield large[start : start + 100_000]

    streamed = stage.ask("/echo", method="POST", content=pieces())
    assert streamed.content == large
    assert streamed.headers["x-length"] == "null"
    assert stage.ask("/", method="HEAD").content == b""
    assert stage.ask("/slow?ms=1").text == "one two three"
    assert stage.ask("/", method="HEAD").status_code == 200


def test_web_sockets_pass(stage: Stage):
    stage.deploy()
    address = urlsplit(stage.emulator.origin)
    with socket.create_connection((address.hostname, address.port), 10) as client:
        lines = ("GET /socket HTTP/1.1", "Host: app.localhost", "Connection: Upgrade", "Upgrade: websocket")
        more = ("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version: 13", "", "")
        client.sendall("\r\n".join((*lines, *more)).encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(4096)
        assert head.startswith(b"HTTP/1.1 101")
        client.sendall(b"\x81\x85\0\0\0\0hello")  # a masked text frame
        assert client.recv(4096) == b"\x81\x0aecho hello"
    assert stage.ask("/").status_code == 200


def test_a_refused_websocket_leads_no_later_request_to_the_wrong_worker(stage: Stage):
    stage.uploads.put("plain", "export default { fetch() { return new Response('plain') } };")
    host, _, port = stage.emulator.origin.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=20) as client:
        upgrade = b"connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: x\r\n"
        client.sendall(b"GET / HTTP/1.1\r\nhost: plain.localhost\r\n" + upgrade + b"\r\n")
        client.sendall(b"GET / HTTP/1.1\r\nhost: other.localhost\r\n\r\n")
        answers = b""
        while piece := client.recv(4096):
            answers += piece
    assert answers.count(b"HTTP/1.1 200 OK\r\n") == 1
    assert b"\r\nconnection: close\r\n\r\nplain" in answers


def test_the_door_opens_to_the_emulator_only(stage: Stage):
    stage.deploy()
    stage.ask("/")
    group = stage.emulator.state.runtime.groups.find(stage.account, "app")
    assert group
    assert group.workerd
    dispatcher = f"http://127.0.0.1:{group.workerd.ports[DISPATCHER]}/"
    wanted = [{"script": "app", "cron": "* * * * *", "scheduledTime": 0}, {"script": "app", "wanted": True}]
    for each in wanted:
        for headers in ({}, {"x-emulator-dispatcher-key": "guessed"}, {"x-emulator-dispatcher": "{}"}):
            assert stage.http.post(dispatcher, json=each, headers=headers).status_code == 403


def test_a_schedule_runs_on_demand(stage: Stage):
    stage.deploy()
    path = f"/runtime/{stage.account}/app/scheduled"
    done = stage.raw.control("POST", path, json={"cron": "5 4 * * *", "scheduled_time": 1_700_000_000})
    assert done["outcome"] == "ok"
    assert stage.ask("/kv/cron").json()["value"] == "5 4 * * * 1700000000000"
    missing = stage.raw.http.post(f"{stage.emulator.origin}/_emulator/runtime/{stage.account}/none/scheduled")
    assert (missing.status_code, missing.json()["errors"][0]["code"]) == (404, 1)


def test_bound_scripts_run_together_and_part_again(stage: Stage):
    stage.deploy()
    assert stage.ask("/count/a").text == "1"
    caller = (
        "export default { async fetch(request, env) {"
        " const answer = await (await env.APP.fetch(request)).text();"
        " return new Response(`${answer} ${await env.COUNTER.getByName('a').add(10)}`)"
        "} };"
    )
    app = {"type": "service", "name": "APP", "service": "app"}
    counter = {"type": "durable_object_namespace", "name": "COUNTER", "class_name": "Counter", "script_name": "app"}
    stage.uploads.put("caller", caller, compatibility_date="2026-10-01", bindings=[app, counter])
    assert stage.ask("/count/a", "caller.localhost").text == "2 12"
    assert stage.status("caller")["pid"] == stage.status("app")["pid"]
    stage.uploads.put("caller", "export default { fetch() { return new Response('alone') } };")
    assert stage.ask("/", "caller.localhost").text == "alone"
    assert stage.ask("/count/a").text == "13"
    assert stage.status("caller")["pid"] != stage.status("app")["pid"]


def test_modules_of_all_kinds(stage: Stage):
    code = (
        "import note from './note.txt'; import list from './list.json'; import { two } from './deep/two.js';"
        "export default { fetch() { return Response.json([note, list, two]) } };"
    )
    metadata = {"main_module": "index.js", "compatibility_date": "2026-10-01"}
    files = [
        ("metadata", (None, json.dumps(metadata), "application/json")),
        ("note.txt", ("note.txt", "a note", "text/plain")),
        ("list.json", ("list.json", "[1]", "application/json")),
        ("deep/two.js", ("deep/two.js", "export const two = 2;", "application/javascript+module")),
        ("index.js", ("index.js", code, "application/javascript+module")),
        ("index.js.map", ("index.js.map", "{}", "application/source-map")),
    ]
    path = f"/accounts/{stage.account}/workers/scripts/parts"
    assert stage.raw.api("PUT", path, files=files).status_code == 200
    assert stage.ask("/", "parts.localhost").json() == ["a note", [1], 2]


def test_a_client_that_goes_away_is_noticed(stage: Stage):
    stage.deploy()
    try:
        stage.ask("/slow?ms=60000", timeout=0.5)
    except httpx.TimeoutException:
        pass
    else:
        raise AssertionError("the answer came too soon")
    stage.deploy("2")  # would wait for the request if it were still under way
    assert stage.ask("/", timeout=5).json()["release"] == "2"
