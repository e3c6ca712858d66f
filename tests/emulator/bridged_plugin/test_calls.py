"""The stand-in against the recordings: what holds for all types, and the functions."""

import threading
import time
from typing import Any

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import provider_pb2

from components.pulumi_protocol.encoding import encode
from components.pulumi_protocol.values import UNKNOWN
from emulator.bridged_plugin.client import RetryPolicy
from emulator.bridged_plugin.service import properties_of
from tests.emulator.bridged_plugin.driver import Canned, Recorder, Resource
from tests.emulator.bridged_plugin.scenes import inputs_of


def test_success_is_never_looked_at(stub: Any, recorder: Recorder, names: dict[str, str]):
    recorder.canned.append(Canned(200, b'{"success": false, "errors": [], "result": null}'))
    recorder.canned.append(Canned(200, b"<html>", {"content-type": "text/html"}))
    for _ in range(2):
        assert Resource(stub, "Queue").create(inputs_of("Queue", names)).id == "missing ID"


def test_reads_are_strict(make: Any, recorder: Recorder):
    it = make("Queue")
    recorder.canned.append(Canned(200, b"<html>", {"content-type": "text/html"}))
    with pytest.raises(grpc.RpcError, match="failed to deserialize http request"):
        it.refresh()


def test_an_empty_answer_to_delete_fails_but_for_domains(make: Any, recorder: Recorder):
    for kind, fails in (("Queue", True), ("WorkersCustomDomain", False)):
        it = make(kind)
        recorder.canned.append(Canned(200, b"", {}))
        if fails:
            with pytest.raises(grpc.RpcError, match="the answer has the content type '' and not 'application/json'"):
                it.delete()
        else:
            it.delete()


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 0])
def test_calls_that_fail_for_a_moment_are_made_again(status: int, stub: Any, recorder: Recorder, names: dict[str, str]):
    recorder.canned += [Canned(status, b"{}"), Canned(status, b"{}")]
    Resource(stub, "Queue").create(inputs_of("Queue", names))
    requests = recorder.take()
    assert [request.headers["x-stainless-retry-count"] for request in requests] == ["0", "1", "2"]
    assert requests[0].body == requests[1].body == requests[2].body


@pytest.mark.parametrize("status", [400, 403, 404, 429])
def test_calls_that_cannot_succeed_are_not(status: int, stub: Any, recorder: Recorder, names: dict[str, str]):
    recorder.say(None, status, x_should_retry="false")
    with pytest.raises(
        grpc.RpcError, match=rf'failed to make http request: POST "http://127.0.0.1.*/queues": {status}'
    ):
        Resource(stub, "Queue").create(inputs_of("Queue", names))
    assert len(recorder.take()) == 1


def test_tries_come_to_an_end(stub: Any, recorder: Recorder, names: dict[str, str]):
    recorder.canned += [Canned(500, b"{}") for _ in range(9)]
    with pytest.raises(grpc.RpcError, match="500 Internal Server Error"):
        Resource(stub, "Queue").create(inputs_of("Queue", names))
    assert len(recorder.take()) == 4  # the first and the three that the tests' retry allows


@pytest.mark.parametrize("header", [{"retry_after": "0.4"}, {"retry_after_ms": "400"}])
def test_retry_after_is_honoured(header: dict[str, str], stub: Any, recorder: Recorder, names: dict[str, str]):
    recorder.say(None, 429, **header)
    started = time.monotonic()
    Resource(stub, "Queue").create(inputs_of("Queue", names))
    assert 0.4 <= time.monotonic() - started < 30


def test_the_real_pace():
    waits = [RetryPolicy().delay(nth) for nth in range(10)]
    longest = [2, 4, 8, 16, 30, 30, 30, 30, 30, 30]
    assert all(most * 0.75 <= wait <= most for wait, most in zip(waits, longest, strict=True))


def test_a_cancelled_run_waits_no_longer(stub: Any, recorder: Recorder, names: dict[str, str]):
    recorder.say(None, 429, retry_after="30")
    timer = threading.Timer(0.2, lambda: stub.Cancel(Empty()))
    timer.start()
    started = time.monotonic()
    with pytest.raises(grpc.RpcError, match="the run was cancelled"):
        Resource(stub, "Queue").create(inputs_of("Queue", names))
    assert time.monotonic() - started < 20


def test_unknown_values_flow_through_a_preview(make: Any, stub: Any, recorder: Recorder, names: dict[str, str]):
    wanted = inputs_of("DnsRecord", names, content=UNKNOWN, tags=[UNKNOWN])
    shown = Resource(stub, "DnsRecord").preview(wanted)
    assert (shown["content"], shown["tags"], shown["createdOn"], shown["settings"]) == (
        UNKNOWN,
        [UNKNOWN],
        UNKNOWN,
        UNKNOWN,
    )
    it = make("DnsRecord")
    assert it.diff(wanted) == {"content": "UPDATE", "tags": "UPDATE"}
    changed = it.preview(wanted)
    assert (changed["content"], changed["createdOn"], changed["modifiedOn"]) == (
        UNKNOWN,
        it.state["createdOn"],
        UNKNOWN,
    )
    assert recorder.take() == []


def test_fifty_at_a_time_do_not_wait_for_each_other(stub: Any, raw: Any, names: dict[str, str]):
    raw.control("PUT", "/latency", json={"ms": 1000})
    try:
        started = time.monotonic()
        calls = [
            stub.Create.future(
                provider_pb2.CreateRequest(
                    urn=Resource(stub, "WorkersKvNamespace").urn,
                    properties=encode({"accountId": names["ACCOUNT"], "title": f"t{number}"}),
                )
            )
            for number in range(50)
        ]
        assert len({call.result().id for call in calls}) == 50
        assert time.monotonic() - started < 25  # one after the other they would take fifty seconds
    finally:
        raw.control("PUT", "/latency", json={"ms": 0})


def invoke(stub: Any, function: str, **arguments: Any) -> dict[str, Any]:
    token = f"cloudflare:index/{function}:{function}"
    answer = stub.Invoke(provider_pb2.InvokeRequest(tok=token, args=encode(arguments)))
    return properties_of(getattr(answer, "return"))


def test_a_zone_is_found_by_name_and_by_id(stub: Any, recorder: Recorder, names: dict[str, str]):
    found = invoke(stub, "getZone", filter={"name": "sandbox.example"})
    zone = names["ZONE"]
    assert recorder.calls() == [("GET", "/zones?name=sandbox.example&match=all", None), ("GET", f"/zones/{zone}", None)]
    assert (found["id"], found["zoneId"], found["status"], found["filter"]["match"]) == (zone, zone, "active", "all")
    assert found["account"] == {"id": names["ACCOUNT"], "name": "Emulated account"}
    again = invoke(stub, "getZone", zoneId=zone)
    assert recorder.calls() == [("GET", f"/zones/{zone}", None)]
    assert again == {name: value for name, value in found.items() if name != "filter"}


def test_a_zone_that_is_not_there(stub: Any):
    with pytest.raises(grpc.RpcError, match="failed to find exactly one result: 0 found"):
        invoke(stub, "getZone", filter={"name": "nowhere.example"})


def test_permission_groups(stub: Any, recorder: Recorder, names: dict[str, str]):
    account = names["ACCOUNT"]
    found = invoke(stub, "getAccountApiTokenPermissionGroupsList", accountId=account, name="Workers R2 Storage Write")
    path = f"/accounts/{account}/tokens/permission_groups?name=Workers+R2+Storage+Write"
    assert recorder.calls() == [("GET", path, None)]
    assert [each["id"] for each in found["results"]] == [names["GROUP"]]
    assert found["results"][0]["scopes"] == ["com.cloudflare.api.account"]
