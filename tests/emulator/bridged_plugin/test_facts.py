"""The stand-in against the recordings: one test for each peculiarity of a resource type."""

import json
from typing import Any

import grpc
import pytest

from emulator.bridged_plugin.service import properties_of
from tests.emulator.bridged_plugin.driver import CheckFailedError, Recorder, Resource, is_secret
from tests.emulator.bridged_plugin.scenes import inputs_of, rule


def answer_of(raw: Any, it: Resource, path: str) -> Any:
    return raw.api("GET", path.format(id=it.id)).json()["result"]


# R2


def test_a_bucket_changes_its_class_in_headers_without_a_body(make: Any, recorder: Recorder, names: dict[str, str]):
    it = make("R2Bucket")
    it.update(inputs_of("R2Bucket", names, storageClass="InfrequentAccess"))
    (request,) = recorder.take()
    assert (request.method, request.body) == ("PATCH", None)
    assert request.headers["cf-r2-storage-class"] == "InfrequentAccess"
    assert request.headers["cf-r2-jurisdiction"] == "default"


def test_a_location_change_goes_unnoticed(make: Any, names: dict[str, str]):
    it = make("R2Bucket")
    assert it.diff(inputs_of("R2Bucket", names, location="apac")) == {}
    assert it.diff(inputs_of("R2Bucket", names, location="WEUR")) == {}


def test_another_jurisdiction_is_an_update_in_place(make: Any, recorder: Recorder, names: dict[str, str]):
    it = make("R2Bucket")
    elsewhere = inputs_of("R2Bucket", names, jurisdiction="eu")
    assert it.diff(elsewhere) == {"jurisdiction": "UPDATE"}
    with pytest.raises(grpc.RpcError, match="404 Not Found"):
        it.update(elsewhere)
    (request,) = recorder.take()
    assert (request.method, request.headers["cf-r2-jurisdiction"]) == ("PATCH", "eu")


def test_lifecycle_rules_are_compared_word_by_word(make: Any, recorder: Recorder, names: dict[str, str]):
    two = [rule(1), {**rule(2), "id": "second"}]
    it = make("R2BucketLifecycle", rules=two)
    assert it.diff(inputs_of("R2BucketLifecycle", names, rules=two[::-1])) == {"rules": "UPDATE"}
    recorder.say({"rules": [{**rule(1), "storageClassTransitions": []}, two[1]]})
    wanted = properties_of(it.inputs)
    it.refresh()
    assert it.diff(wanted) == {"rules": "UPDATE"}


@pytest.mark.parametrize("extra", [{"exposeHeaders": []}, {"maxAgeSeconds": 0}])
def test_empty_and_zero_fields_of_cors_rules_are_differences(extra: Any, make: Any, recorder: Recorder):
    plain = {"allowed": {"methods": ["GET"], "origins": ["*"]}}
    it = make("R2BucketCors", rules=[plain])
    recorder.say({"rules": [{**plain, **extra, "comment": "a field that nobody knows"}]})
    wanted = properties_of(it.inputs)
    it.refresh()
    assert it.state["rules"] == [{**plain, **extra}]
    assert it.diff(wanted) == {"rules": "UPDATE"}


@pytest.mark.parametrize("kind", ["R2Bucket", "R2BucketLifecycle", "R2BucketLock", "R2BucketCors", "R2ManagedDomain"])
def test_an_empty_answer_suffices_for_what_r2_writes(kind: str, stub: Any, recorder: Recorder, names: dict[str, str]):
    recorder.say({})
    it = Resource(stub, kind).create(inputs_of(kind, names))
    assert it.diff() == {}


@pytest.mark.parametrize("kind", ["R2BucketLifecycle", "R2BucketLock", "R2BucketCors", "R2ManagedDomain"])
def test_what_cannot_be_imported_says_so(kind: str, stub: Any, recorder: Recorder):
    with pytest.raises(grpc.RpcError, match=f"{kind} does not support import"):
        Resource(stub, kind).imported("a/b")
    assert recorder.take() == []


# DNS


def test_a_full_name_in_the_answer_is_no_difference(make: Any, raw: Any, names: dict[str, str]):
    it = make("DnsRecord")
    assert answer_of(raw, it, f"/zones/{names['ZONE']}/dns_records/{{id}}")["name"] == "www.sandbox.example"
    it.refresh()
    assert (it.state["name"], it.diff()) == ("www", {})


@pytest.mark.parametrize(
    ("name", "value", "difference"), [("name", "Www", {"name": "UPDATE"}), ("content", "A.Example", {})]
)
def test_a_lower_cased_name_is_a_difference_and_content_is_not(  # noqa: PLR0917 - parameters and fixtures
    name: str, value: str, difference: dict[str, str], make: Any, recorder: Recorder, names: dict[str, str]
):
    it = make("DnsRecord", **{name: value})
    recorder.say({"id": it.id, **_dns_answer(it), name: value.lower()})
    it.refresh()
    assert it.diff(inputs_of("DnsRecord", names, **{name: value})) == difference


def _dns_answer(it: Resource) -> dict[str, Any]:
    state = it.state
    return {name: state[name] for name in ("name", "type", "content", "ttl", "proxied", "comment", "tags")}


def test_what_an_answer_lacks_is_mended(make: Any, recorder: Recorder, names: dict[str, str]):
    it = make("DnsRecord")
    answer = {name: value for name, value in _dns_answer(it).items() if name not in ("comment", "type")}
    recorder.say({"id": it.id, **answer})
    it.refresh()
    assert it.diff(inputs_of("DnsRecord", names)) == {"comment": "ADD", "type": "ADD_REPLACE"}


def test_drift_of_what_the_program_leaves_out_is_taken_away(make: Any, raw: Any, names: dict[str, str]):
    it = make("DnsRecord", comment=None)
    path = f"/zones/{names['ZONE']}/dns_records/{it.id}"
    assert raw.api("PATCH", path, json={"comment": "by hand"}).status_code == 200
    it.refresh()
    assert it.diff(inputs_of("DnsRecord", names, comment=None)) == {"comment": "DELETE"}


def test_tags_that_were_removed_are_left_out_and_never_null(make: Any, recorder: Recorder, names: dict[str, str]):
    it = make("DnsRecord")
    news = inputs_of("DnsRecord", names, tags=None)
    assert it.diff(news) == {}
    it.update({**news, "ttl": 600})
    assert "tags" not in recorder.take()[0].body


def test_tags_that_nobody_named_are_sent_back(make: Any, recorder: Recorder, names: dict[str, str]):
    it = make("DnsRecord", tags=None)
    it.update(inputs_of("DnsRecord", names, tags=None, ttl=600))
    body = recorder.take()[0].body
    assert (body["tags"], body["settings"]) == ([], {})


def test_a_proxied_record_needs_the_automatic_ttl(stub: Any, recorder: Recorder, names: dict[str, str]):
    with pytest.raises(CheckFailedError) as caught:
        Resource(stub, "DnsRecord").check(inputs_of("DnsRecord", names, proxied=True))
    assert caught.value.failures == {"ttl": "ttl must be set to 1 when `proxied` is true"}
    Resource(stub, "DnsRecord").check(inputs_of("DnsRecord", names, proxied=True, ttl=1))
    assert recorder.take() == []


# Certificates, domains, triggers


def test_hosts_that_are_reordered_or_more_and_another_status_are_no_difference(
    make: Any, recorder: Recorder, raw: Any, names: dict[str, str]
):
    it = make("CertificatePack")
    wanted = inputs_of("CertificatePack", names)
    assert it.diff({**wanted, "hosts": wanted["hosts"][::-1]}) == {}
    answer = answer_of(raw, it, f"/zones/{names['ZONE']}/ssl/certificate_packs/{{id}}")
    hosts = ["x.sandbox.example", *answer["hosts"]]
    recorder.say({**answer, "hosts": hosts, "status": "pending_validation"})
    it.refresh()
    assert (it.state["status"], it.diff(wanted)) == ("pending_validation", {})


def test_the_hazard_of_a_domain_given_to_another_worker(
    stub: Any, recorder: Recorder, raw: Any, make: Any, names: dict[str, str]
):
    """Replacement is PUT, then DELETE of the old id; with one id for a host name, nothing is left."""
    it = make("WorkersCustomDomain")
    news = inputs_of("WorkersCustomDomain", names, service="other")
    assert it.diff(news) == {"service": "UPDATE_REPLACE"}
    other = Resource(stub, "WorkersCustomDomain").create(news)
    assert other.id == it.id
    it.delete()
    assert [method for method, _, _ in recorder.calls()] == ["PUT", "DELETE"]
    assert raw.api("GET", f"/accounts/{names['ACCOUNT']}/workers/domains").json()["result"] == []


def test_schedules_that_drift_are_not_seen(make: Any, raw: Any, names: dict[str, str]):
    it = make("WorkersCronTrigger")
    path = f"/accounts/{names['ACCOUNT']}/workers/scripts/small/schedules"
    assert raw.api("PUT", path, json=[]).status_code == 200
    assert it.refresh()
    assert it.diff() == {}


# Access


def test_the_order_of_access_rules_does_not_count(make: Any, stub: Any, recorder: Recorder, names: dict[str, str]):
    it = make("ZeroTrustAccessPolicy")
    wanted = inputs_of("ZeroTrustAccessPolicy", names)
    turned = {**wanted, "includes": wanted["includes"][::-1]}
    assert it.diff(turned) == {}
    Resource(stub, "ZeroTrustAccessPolicy").create(wanted)
    Resource(stub, "ZeroTrustAccessPolicy").create(turned)
    one, other = (request.body["include"] for request in recorder.take())
    assert one == other == [{"email_domain": {"domain": "a.example"}}, {"everyone": {}}]


def test_policies_are_numbered_from_one_and_their_order_counts(recorder: Recorder, stub: Any, names: dict[str, str]):
    more = Resource(stub, "ZeroTrustAccessPolicy").create(inputs_of("ZeroTrustAccessPolicy", names)).id
    pair = [{"id": more}, {"id": names["POLICY"]}]
    recorder.take()
    it = Resource(stub, "ZeroTrustAccessApplication").create(
        inputs_of("ZeroTrustAccessApplication", names, policies=pair)
    )
    sent = recorder.take()[0].body["policies"]
    assert sent == [{"id": more, "precedence": 1}, {"id": names["POLICY"], "precedence": 2}]
    it.refresh()
    assert it.diff() == {}
    turned = inputs_of("ZeroTrustAccessApplication", names, policies=pair[::-1])
    assert it.diff(turned) == {"policies": "UPDATE"}


@pytest.mark.parametrize("kind", ["ZeroTrustAccessApplication", "ZeroTrustAccessServiceToken"])
def test_a_zone_may_own_what_access_has(kind: str, stub: Any, recorder: Recorder, names: dict[str, str]):
    inputs = inputs_of(kind, names, accountId=None, zoneId=names["ZONE"], policies=None)
    it = Resource(stub, kind).create(inputs)
    it.refresh()
    taken = Resource(stub, kind).imported(f"zones/{names['ZONE']}/{it.id}")
    it.delete()
    assert {path.split("/access")[0] for _, path, _ in recorder.calls()} == {f"/zones/{names['ZONE']}"}
    assert (taken.id, taken.state["zoneId"]) == (it.id, names["ZONE"])
    with pytest.raises(CheckFailedError, match="exactly one of accountId and zoneId has to be set"):
        it.check({**inputs, "accountId": names["ACCOUNT"]})


@pytest.mark.parametrize(("kind", "name"), [("AccountToken", "value"), ("ZeroTrustAccessServiceToken", "clientSecret")])
def test_secrets_are_told_once_kept_and_marked(kind: str, name: str, make: Any, names: dict[str, str]):
    it = make(kind)
    secret = it.state[name]
    assert len(secret) >= 40
    assert is_secret(it.properties, name)
    it.refresh()
    assert (it.state[name], is_secret(it.properties, name)) == (secret, True)
    news = inputs_of(kind, names, name="renamed")
    assert (it.preview(news)[name]) == secret
    it.update(news)
    assert (it.state[name], is_secret(it.properties, name)) == (secret, True)


# Tokens


def test_resources_are_compared_as_text_with_the_answer(make: Any, names: dict[str, str]):
    """Written with spaces they differ for ever; written compactly they never do."""
    policy = inputs_of("AccountToken", names)["policies"][0]
    spaced = {**policy, "resources": json.dumps(json.loads(policy["resources"]), indent=1)}
    it = make("AccountToken", policies=[spaced])
    assert it.state["policies"] == [policy]
    for _ in range(2):
        assert it.diff() == {"policies": "UPDATE"}
        it.update(inputs_of("AccountToken", names, policies=[spaced]))
    assert it.diff(inputs_of("AccountToken", names)) == {}


def test_resources_that_are_not_json_are_refused(stub: Any, recorder: Recorder, names: dict[str, str]):
    policy = {**inputs_of("AccountToken", names)["policies"][0], "resources": "all of them"}
    with pytest.raises(grpc.RpcError, match="Invalid JSON String Value"):
        Resource(stub, "AccountToken").create(inputs_of("AccountToken", names, policies=[policy]))
    assert recorder.take() == []


def test_a_token_needs_its_policies_in_the_answer(stub: Any, recorder: Recorder, names: dict[str, str]):
    recorder.say({"id": "t"})
    with pytest.raises(grpc.RpcError, match="failed to deserialize http request: the answer has no policies"):
        Resource(stub, "AccountToken").create(inputs_of("AccountToken", names))


# Second observation


def test_states_are_marked_as_the_real_plugin_marks_them(make: Any):
    assert make("Queue").state["__meta"] == '{"schema_version":"500"}'
    assert make("AccountToken").state["__meta"] == '{"schema_version":"501"}'


def test_fewer_hosts_of_a_certificate_are_no_change(make: Any, names: dict[str, str]):
    it = make("CertificatePack")
    assert it.diff(inputs_of("CertificatePack", names, hosts=["sandbox.example"])) == {}
    more = ["sandbox.example", "*.box.sandbox.example", "*.more.sandbox.example"]
    assert it.diff(inputs_of("CertificatePack", names, hosts=more)) == {"hosts": "UPDATE_REPLACE"}


def test_only_advanced_certificates_can_be_ordered(stub: Any, names: dict[str, str]):
    with pytest.raises(CheckFailedError) as caught:
        Resource(stub, "CertificatePack").create(inputs_of("CertificatePack", names, type="total_tls"))
    assert caught.value.failures == {"type": 'Attribute type value must be one of: ["advanced"], got: "total_tls"'}


def test_what_the_api_made_of_a_domain_goes_back_only_with_that_domain(
    make: Any, recorder: Recorder, names: dict[str, str]
):
    it = make("ZeroTrustAccessApplication")
    it.update(inputs_of("ZeroTrustAccessApplication", names, name="other"))
    (request,) = recorder.take()
    assert request.body["self_hosted_domains"] == ["one.sandbox.example"]
    assert request.body["destinations"] == [{"type": "public", "uri": "one.sandbox.example"}]
    it.update(inputs_of("ZeroTrustAccessApplication", names, domain="two.sandbox.example"))
    (request,) = recorder.take()
    assert not request.body.keys() & {"self_hosted_domains", "destinations"}
    assert it.state["selfHostedDomains"] == ["two.sandbox.example"]


def test_an_expiry_that_is_taken_away_is_left_out_of_the_request(make: Any, recorder: Recorder, names: dict[str, str]):
    it = make("AccountToken")
    fewer = inputs_of("AccountToken", names, expiresOn=None)
    assert it.diff(fewer) == {"expiresOn": "DELETE"}
    it.update(fewer)
    (request,) = recorder.take()
    assert "expires_on" not in request.body
