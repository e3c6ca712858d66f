"""What all services share: envelope, authentication, routing, bodies, faults, journal, clock."""

import socket
import threading
import time
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from emulator import server
from emulator.registry import load_services


def test_a_success_and_a_refusal_have_the_same_shape(raw: Any, account: str):
    good = raw.api("GET", f"/accounts/{account}")
    assert good.headers["content-type"] == "application/json"
    assert set(good.json()) == {"success", "errors", "messages", "result"}
    bad = raw.api("GET", f"/accounts/{account}/r2/buckets/none")
    assert set(bad.json()) == {"success", "errors", "messages", "result"}
    assert bad.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, (400, 9106, "Missing X-Auth-Key, X-Auth-Email or Authorization headers")),
        ({"x-auth-key": "k", "x-auth-email": "e"}, (403, 9103, "Unknown X-Auth-Key or X-Auth-Email")),
        ({"authorization": "Basic eA=="}, (400, 6003, "Invalid request headers")),
        ({"authorization": "Bearer"}, (400, 6003, "Invalid request headers")),
        ({"authorization": "Bearer " + "x" * 40}, (401, 10000, "Authentication error")),
    ],
)
def test_authentication(raw: Any, account: str, headers: dict[str, str], expected: tuple[int, int, str]):
    answer = httpx.get(f"{raw.emulator.url}/accounts/{account}", headers=headers)
    error = answer.json()["errors"][0]
    assert (answer.status_code, error["code"], error["message"]) == expected


def test_an_unknown_token_is_told_so_by_verify(raw: Any):
    answer = httpx.get(f"{raw.emulator.url}/user/tokens/verify", headers={"authorization": "Bearer " + "x" * 40})
    assert (answer.status_code, answer.json()["errors"]) == (401, [{"code": 1000, "message": "Invalid API Token"}])


def test_unknown_paths_and_methods(raw: Any, account: str):
    said = "The emulator does not have GET /client/v4/nothing/here: docs/emulator.md lists what it has."
    assert raw.refusal("GET", "/nothing/here") == (400, 7000, said)
    path = f"/accounts/{'0' * 32}/queues"
    answer = raw.api("GET", path)
    assert answer.status_code == 404
    assert answer.json()["errors"] == [
        {
            "code": 7003,
            "message": f"Could not route to /client/v4{path}, perhaps your object identifier is invalid?",
        },
        {"code": 7000, "message": "No route for that URI"},
    ]
    refused = raw.api("PUT", f"/accounts/{account}/queues")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD, OPTIONS, POST")
    assert refused.json()["errors"][0] == {"code": 7001, "message": "Method PUT not available for that URI."}


def test_head_and_options(raw: Any, account: str):
    read = raw.api("GET", f"/accounts/{account}")
    head = raw.api("HEAD", f"/accounts/{account}")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(read.content))
    options = raw.api("OPTIONS", f"/accounts/{account}")
    assert (options.status_code, options.headers["allow"]) == (204, "GET, HEAD, OPTIONS")


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[" * 100_000,
        b'{"name": NaN}',
        b'{"name": 1e999}',
        b'{"title": "\\ud800"}',
        b'{"title": "x\xed\xa0\x80"}',
        '{"title": "x\ud800"}'.encode("utf-16", "surrogatepass"),
        b"\xff",
        b"9" * 5000,
    ],
)
def test_what_is_not_json_is_refused(raw: Any, account: str, content: bytes):
    refused = raw.refusal("POST", f"/accounts/{account}/storage/kv/namespaces", content=content)
    assert refused[0] == 400
    assert "JSON" in refused[2]


def test_bodies_have_a_limit(raw: Any, account: str):
    refused = raw.refusal("POST", f"/accounts/{account}/queues", content=b" " * (1024 * 1024 + 1))
    assert refused == (413, 413, "Request entity too large: the limit is 1048576 bytes")


@pytest.mark.parametrize("query", ["page=0", "page=x", "page=-1", "per_page=0", "per_page=101", "page=99999999999999"])
def test_bad_paging(raw: Any, query: str):
    assert raw.refusal("GET", f"/accounts?{query}")[:2] == (400, 6003)


def test_the_journal_records_requests_and_no_secret(raw: Any, account: str):
    raw.api("POST", f"/accounts/{account}/queues", json={"queue_name": "secret-word"}, params={"token": "hidden"})
    raw.api("GET", "/nothing")
    first, second = raw.control("GET", "/journal")
    assert (first["method"], first["status"], first["operation"]) == ("POST", 400, "queues.create_queue")
    assert first["path"] == f"/client/v4/accounts/{account}/queues"
    assert first["body_size"] == len('{"queue_name":"secret-word"}')
    assert (second["status"], second["operation"], second["body_sha256"]) == (400, "", "")
    text = str([first, second])
    assert raw.emulator.token not in text
    assert "secret-word" not in text
    assert "hidden" not in text
    assert raw.control("GET", f"/journal?after={first['sequence']}") == [second]
    assert len(raw.control("GET", "/journal?operation=queues.create_queue")) == 1
    raw.control("DELETE", "/journal")
    assert raw.control("GET", "/journal") == []


@pytest.mark.parametrize(
    "name", ["token", "access_token", "X-Api-Key", "clientSecret", "password2", "X-Amz-Signature", "sig", "jwt"]
)
def test_the_journal_masks_parameters_that_may_be_secret(raw: Any, name: str):
    raw.api("GET", "/accounts", params={name: "hidden", "name": "shown"})
    (entry,) = raw.control("GET", "/journal")
    assert entry["query"] == f"{name}=%2A%2A%2A&name=shown"


def test_fail_the_second_call_only(raw: Any, account: str):
    raw.fault(operation="queues.list_queues", nth=2, status=503, code=1, message="later")
    path = f"/accounts/{account}/queues"
    assert [raw.api("GET", path).status_code for _ in range(3)] == [200, 503, 200]
    assert [entry["fault"] != "" for entry in raw.control("GET", "/journal")] == [False, True, False]


def test_a_rule_counts_calls_on_which_another_acts(raw: Any, account: str):
    raw.fault(nth=1, status=500)
    raw.fault(nth=2, status=503)
    path = f"/accounts/{account}/queues"
    assert [raw.api("GET", path).status_code for _ in range(3)] == [500, 503, 200]
    assert [(rule["seen"], rule["acted"]) for rule in raw.control("GET", "/faults")] == [(3, 1), (3, 1)]


def test_rate_limit(raw: Any, account: str):
    raw.fault(path="*/queues", retry_after=1.5, times=0)
    answer = raw.api("GET", f"/accounts/{account}/queues")
    assert (answer.status_code, answer.headers["retry-after"], answer.headers["retry-after-ms"]) == (429, "1.5", "1500")
    assert answer.json()["errors"][0]["code"] == 971
    (rule,) = raw.control("GET", "/faults")
    assert (rule["seen"], rule["acted"]) == (1, 1)
    raw.control("DELETE", f"/faults/{rule['id']}")
    assert raw.api("GET", f"/accounts/{account}/queues").status_code == 200


def test_do_the_work_then_fail(raw: Any, account: str):
    raw.fault(method="POST", status=502, after=True, body="<html>bad gateway</html>")
    answer = raw.api("POST", f"/accounts/{account}/queues", json={"queue_name": "jobs"})
    assert (answer.status_code, answer.headers["content-type"]) == (502, "text/html")
    assert len(raw.api("GET", f"/accounts/{account}/queues").json()["result"]) == 1


@pytest.mark.parametrize("after", [True, False])
def test_drop_the_connection(raw: Any, account: str, after: bool, capfd: pytest.CaptureFixture[str]):
    raw.fault(method="POST", drop=True, after=after)
    with pytest.raises(httpx.TransportError):
        raw.api("POST", f"/accounts/{account}/queues", json={"queue_name": "jobs"})
    assert len(raw.api("GET", f"/accounts/{account}/queues").json()["result"]) == int(after)
    assert raw.control("GET", "/journal")[0]["status"] == 0
    assert capfd.readouterr().err == ""


def test_delay_and_latency(raw: Any, account: str):
    raw.fault(delay_ms=80)
    started = time.monotonic()
    assert raw.api("GET", f"/accounts/{account}").status_code == 200
    assert time.monotonic() - started > 0.08
    raw.control("PUT", "/latency", json={"ms": 60})
    started = time.monotonic()
    raw.api("GET", f"/accounts/{account}")
    assert time.monotonic() - started > 0.06


def test_a_fault_needs_an_effect(raw: Any):
    answer = raw.http.post(f"{raw.emulator.origin}/_emulator/faults", json={"method": "GET"})
    assert answer.json()["errors"][0]["message"] == "A fault rule needs a status, retry_after, delay_ms or drop."


@pytest.mark.parametrize(
    ("headers", "problem"),
    [
        ({"x": "€"}, "headers.x has an invalid format"),
        ({"x": "a\r\ny: b"}, "headers.x has an invalid format"),
        ({"x": "\x00"}, "headers.x has an invalid format"),
        ({"a b": "c"}, "the name 'headers.a b' has an invalid format"),
        ({"": "c"}, "the name 'headers.' has an invalid format"),
        ({"x\n": "c"}, "the name 'headers.x\\n' has an invalid format"),
        ({"Content-Length": "5"}, "the name 'headers.Content-Length' has an invalid format"),
    ],
)
def test_headers_that_cannot_be_sent_are_refused(raw: Any, headers: dict[str, str], problem: str):
    rule = {"status": 500, "headers": headers}
    answer = raw.http.post(f"{raw.emulator.origin}/_emulator/faults", json=rule)
    assert (answer.status_code, answer.json()["errors"][0]["message"]) == (400, problem)


@pytest.mark.parametrize("status", [204, 304])
@pytest.mark.parametrize("body", ["text", {"a": 1}, None])
def test_a_fault_whose_status_has_no_body(raw: Any, account: str, status: int, body: Any):
    raw.fault(status=status, headers={"x-why": "h\xe9"}, body=body)
    answer = raw.api("GET", f"/accounts/{account}")
    assert (answer.status_code, answer.content, answer.headers["x-why"]) == (status, b"", "h\xe9")
    assert not {"content-type", "content-length", "transfer-encoding"} & set(answer.headers)
    assert raw.api("GET", f"/accounts/{account}").status_code == 200


def test_the_clock_moves_on(raw: Any):
    before = raw.control("GET", "/clock")
    after = raw.control("POST", "/clock", json={"advance": 86400})
    assert before["offset_seconds"] == 0
    assert after["offset_seconds"] == 86400
    assert after["now"] > before["now"]


def test_reset_empties_the_account(raw: Any, account: str):
    raw.api("POST", f"/accounts/{account}/queues", json={"queue_name": "jobs"})
    raw.advance(100)
    assert not raw.control("GET", "/state")["empty"]
    state = raw.control("POST", "/reset")
    assert state == {"kinds": {"account": 1, "zone": 3}, "deployed": {}, "empty": True}
    assert raw.control("GET", "/clock")["offset_seconds"] == 0
    assert raw.api("GET", f"/accounts/{account}/queues").json()["result"] == []


def test_parallel_writers_do_not_disturb_each_other(raw: Any, account: str):
    statuses: list[int] = []

    def work(number: int) -> None:
        client = raw.as_token(raw.emulator.token)
        for step in range(20):
            body = {"queue_name": f"q{number}-{step}"}
            statuses.append(client.api("POST", f"/accounts/{account}/queues", json=body).status_code)
            statuses.append(client.api("POST", f"/accounts/{account}/queues", json={"queue_name": "same"}).status_code)
        client.http.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses.count(200) == 161
    assert statuses.count(409) == 159
    assert raw.control("GET", "/state")["kinds"]["queue"] == 161


def test_every_operation_is_declared_with_care():
    operations = [operation for service in load_services() for operation in service.operations]
    assert len({operation.id for operation in operations}) == len(operations)
    for operation in operations:
        assert operation.source, operation.id
        assert operation.date, operation.id
        assert operation.fidelity != "partial" or operation.note, f"{operation.id} must say what is missing"


def test_the_operations_can_be_listed(raw: Any):
    listed = raw.control("GET", "/operations")
    assert {"id", "method", "path", "needs", "fidelity", "note"} == set(listed[0])


HALVES = {
    "nothing": b"",
    "half a head": b"GET /client/v4/accounts HTTP/1.1\r\nhost: 127.0.0.1\r\n",
    "half a body": b"POST /client/v4/zones HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{",
}


@pytest.mark.parametrize("sent", HALVES.values(), ids=HALVES)
def test_a_connection_that_stops_amid_a_request_is_closed(raw: Any, monkeypatch: pytest.MonkeyPatch, sent: bytes):
    monkeypatch.setattr(server, "PATIENCE", 0.3)
    address = urlsplit(raw.emulator.origin)
    with socket.create_connection((address.hostname, address.port), timeout=10) as client:
        client.sendall(sent)
        while client.recv(4096):
            pass  # one that is not finished may be answered all the same


def test_a_slow_request_is_waited_for(raw: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server, "PATIENCE", 1.0)
    address = urlsplit(raw.emulator.origin)
    with socket.create_connection((address.hostname, address.port), timeout=10) as client:
        for byte in b"GET / HTTP/1.1\r\n":
            client.sendall(bytes([byte]))
            time.sleep(0.1)
        client.sendall(b"host: 127.0.0.1\r\n\r\n")
        assert client.recv(12).startswith(b"HTTP/1.1 ")
