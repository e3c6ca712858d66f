"""What the stand-in refuses: every address but loopback, malformed tokens, and what it does not know."""

from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2

from components.pulumi_protocol.encoding import encode
from emulator.bridged_plugin.client import checked_url
from emulator.testing import Running
from tests.emulator.bridged_plugin.driver import CheckFailedError, Recorder, Resource, configure, connect, is_secret
from tests.emulator.bridged_plugin.scenes import inputs_of, rule


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://api.cloudflare.com/client/v4",
        "http://127.0.0.1@evil.example/client/v4",
        "http://localhost.evil.example",
        "http://10.0.0.1:8787/client/v4",
        "ftp://127.0.0.1/",
        "127.0.0.1:8787",
        "http://[::2]/",
    ],
)
def test_every_address_but_loopback_is_refused(
    url: str, address: str, emulator: Running, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("CLOUDFLARE_BASE_URL", raising=False)
    problem = f"{url} is not on loopback" if url else "no address is set"
    with pytest.raises(grpc.RpcError) as caught:
        configure(connect(address), apiToken=emulator.token, baseUrl=url)
    assert caught.value.details() == (
        "This is a stand-in for the plugin pulumi-resource-cloudflare. It works on an emulator on this machine and "
        f"never on a real account: {problem}. Start the emulator and set CLOUDFLARE_BASE_URL (or cloudflare:baseUrl) "
        "to its address, or get the real plugin with `pulumi plugin install resource cloudflare 6.23.1`."
    )


@pytest.mark.parametrize("host", ["127.0.0.1:8787", "[::1]:8787", "localhost"])
def test_loopback_is_taken(host: str):
    assert checked_url(f"http://{host}/client/v4/", "1") == f"http://{host}/client/v4"


@pytest.mark.parametrize(
    ("token", "reason"),
    [("", "no API token is configured"), ("short", "40 to 80 characters"), ("x" * 41 + "!", "40 to 80 characters")],
)
def test_a_token_is_checked_before_any_call(
    token: str, reason: str, address: str, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("CLOUDFLARE_API_TOKEN", raising=False)
    with pytest.raises(grpc.RpcError, match=reason) as caught:
        configure(connect(address), apiToken=token, baseUrl=recorder.url)
    assert not token or token not in caught.value.details()
    assert recorder.take() == []


def test_the_environment_configures_it(
    address: str, recorder: Recorder, emulator: Running, names: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CLOUDFLARE_API_TOKEN", emulator.token)
    monkeypatch.setenv("CLOUDFLARE_BASE_URL", recorder.url + "/")
    stub = connect(address)
    configure(stub)
    assert recorder.take() == []
    Resource(stub, "Queue").create(inputs_of("Queue", names))
    assert recorder.calls()[0][1] == f"/accounts/{names['ACCOUNT']}/queues"


def test_the_token_of_the_configuration_is_a_secret(stub: Any):
    request = provider_pb2.CheckRequest(urn="x", news=encode({"apiToken": "t", "apiKey": "k"}))
    answer = stub.CheckConfig(request)
    assert is_secret(answer.inputs, "apiToken")
    assert {each.property: each.reason for each in answer.failures} == {
        "apiKey": "the stand-in knows only apiToken, baseUrl"
    }


def test_properties_and_types_it_does_not_know_are_refused(stub: Any):
    rules = [{**rule(1), "colour": "red"}]
    with pytest.raises(CheckFailedError) as caught:
        Resource(stub, "R2BucketLifecycle").check({"rules": rules, "speed": 1})
    text = "this stand-in for pulumi-resource-cloudflare does not know {} of R2BucketLifecycle; "
    remedy = "use the real plugin, or leave it out"
    assert caught.value.failures == {
        "speed": text.format("speed") + remedy,
        "rules[0].colour": text.format("rules[0].colour") + remedy,
        "accountId": "Missing required property 'accountId'",
        "bucketName": "Missing required property 'bucketName'",
    }
    it = Resource(stub, "Queue")
    it.urn = it.urn.replace("queue:Queue", "zone:Zone")
    with pytest.raises(grpc.RpcError, match=r"does not know cloudflare:index/zone:Zone; it knows AccountToken, "):
        it.check({})


@pytest.mark.parametrize(
    ("kind", "given", "reason"),
    [
        ("Queue", "one", 'invalid ID of Queue: expected "<accountId>/<id>", got "one"'),
        ("R2Bucket", "a/b", 'invalid ID of R2Bucket: expected "<accountId>/<id>/<jurisdiction>", got "a/b"'),
        ("ZeroTrustAccessApplication", "users/a/b", "it has to begin with accounts or zones"),
    ],
)
def test_an_import_id_has_to_have_all_its_parts(kind: str, given: str, reason: str, stub: Any, recorder: Recorder):
    with pytest.raises(grpc.RpcError) as caught:
        Resource(stub, kind).imported(given)
    assert reason in caught.value.details()
    assert recorder.take() == []
