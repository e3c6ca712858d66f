"""Batches, imports and exports of DNS, rules of rulesets, groups of Access, certificates, secrets: through the SDK."""

from typing import Any

import pytest
from cloudflare import Cloudflare, NotFoundError

from emulator.registry import API, Fidelity, load_services
from emulator.router import Router, split
from emulator.services.zone_settings.catalogue import SETTINGS
from testbed.emulator import sdk

ZONE_FILE = """
$ORIGIN sandbox.example.
$TTL 3600
@       IN  SOA ns1 admin 1 2 3 4 5
@           NS  ns1.elsewhere.example.
www     300 IN A 192.0.2.1 ; the site
        IN AAAA 2001:db8::1
alias       CNAME www
mail        MX 10 mx.elsewhere.example.
text        TXT "v=spf1; include:x" "more"
shown       A 192.0.2.9 ; cf_tags=cf-proxied:true
"""


def test_a_batch_is_all_or_nothing(client: Cloudflare, raw: Any, zone: str):
    records = client.dns.records
    first = records.create(zone_id=zone, name="a", type="A", content="192.0.2.1", ttl=1)
    second = records.create(zone_id=zone, name="b", type="A", content="192.0.2.2", ttl=1)
    done = records.batch(
        zone_id=zone,
        deletes=[{"id": first.id}],
        patches=[{"id": second.id, "comment": "changed"}],
        posts=[{"name": "c", "type": "A", "content": "192.0.2.3", "ttl": 60}],
    )
    assert done is not None
    assert [each.name for each in done.posts or ()] == ["c.sandbox.example"]
    assert [each.comment for each in done.patches or ()] == ["changed"]
    body = {"deletes": [{"id": second.id}], "posts": [{"name": "d", "type": "A", "content": "no address", "ttl": 1}]}
    assert raw.refusal("POST", f"/zones/{zone}/dns_records/batch", json=body)[1] == 9005
    assert {each.name for each in records.list(zone_id=zone)} == {"b.sandbox.example", "c.sandbox.example"}


def test_a_zone_file_goes_in_and_comes_out(client: Cloudflare, raw: Any, zone: str):
    path = f"/zones/{zone}/dns_records"
    taken = raw.api("POST", f"{path}/import", files={"file": ("zone.txt", ZONE_FILE)}).json()["result"]
    assert taken == {"recs_added": 6, "total_records_parsed": 6}
    found = {(each.type, each.name): each for each in client.dns.records.list(zone_id=zone)}
    assert found["A", "www.sandbox.example"].ttl == 300
    assert found["AAAA", "www.sandbox.example"].content == "2001:db8::1"
    assert found["CNAME", "alias.sandbox.example"].content == "www"
    assert found["A", "shown.sandbox.example"].proxied
    exported = client.dns.records.export(zone_id=zone)
    assert "www.sandbox.example.\t300\tIN\tA\t192.0.2.1" in exported
    assert "mail.sandbox.example.\t3600\tIN\tMX\t10 mx.elsewhere.example." in exported
    again = raw.api("POST", f"{path}/import", files={"file": ("zone.txt", exported)}).json()["result"]
    assert again == {"recs_added": 0, "total_records_parsed": 6}
    for line, problem in (("x A", "a record needs a type and a content"), ('x TXT "open', "a quotation mark")):
        refused = raw.refusal("POST", f"{path}/import", files={"file": ("zone.txt", f"\n{line}\n")})
        assert refused[1] == 9207
        assert refused[2].startswith(f"Line 2 of the zone file cannot be read: {problem}")
    assert raw.refusal("POST", f"{path}/import", json={})[1] == 9207


def test_rules_of_a_ruleset(raw: Any, zone: str):
    base = f"/zones/{zone}/rulesets"
    body = {"kind": "zone", "name": "r", "phase": "http_request_firewall_custom", "rules": []}
    made = raw.api("POST", base, json=body).json()["result"]["id"]

    def send(method: str, path: str = "", **rule: Any) -> Any:
        options = {"json": rule} if rule else {}
        return raw.api(method, f"{base}/{made}/rules{path}", **options).json()["result"]

    for expression in ("one", "two"):
        send("POST", action="block", expression=expression)
    ruleset = send("POST", action="log", expression="zero", position={"before": ""})
    assert [each["expression"] for each in ruleset["rules"]] == ["zero", "one", "two"]
    first, second, _ = (each["id"] for each in ruleset["rules"])
    ruleset = send("PATCH", f"/{first}", expression="0", position={"after": ""})
    assert [(each["expression"], each["action"]) for each in ruleset["rules"]] == [
        ("one", "block"),
        ("two", "block"),
        ("0", "log"),
    ]
    ruleset = send("PATCH", f"/{first}", enabled=False, position={"index": 1})
    assert ruleset["rules"][0]["id"] == first
    ruleset = send("DELETE", f"/{second}")
    assert ([each["expression"] for each in ruleset["rules"]], ruleset["version"]) == (["0", "two"], "7")
    refusal = raw.refusal("DELETE", f"{base}/{made}/rules/{second}")
    assert refusal == (404, 10002, f"could not find rule {second}")
    wrong = {"action": "log", "expression": "x", "position": {"index": 9}}
    assert raw.refusal("POST", f"{base}/{made}/rules", json=wrong)[1] == 20011


def test_groups_of_access(client: Cloudflare, account: str):
    groups = client.zero_trust.access.groups
    made = groups.create(account_id=account, name="team", include=[{"email_domain": {"domain": "sandbox.example"}}])
    assert made is not None
    assert made.id is not None
    groups.create(account_id=account, name="others", include=[{"everyone": {}}])
    assert [each.name for each in groups.list(account_id=account, name="team")] == ["team"]
    changed = groups.update(made.id, account_id=account, name="crew", include=[{"everyone": {}}])
    assert changed is not None
    assert changed.name == "crew"
    groups.delete(made.id, account_id=account)
    with pytest.raises(NotFoundError):
        groups.get(made.id, account_id=account)


def test_quota_and_universal_certificate(client: Cloudflare, zone: str):
    quota = client.ssl.certificate_packs.quota.get(zone_id=zone)
    assert quota is not None
    assert quota.advanced is not None
    assert (quota.advanced.used, quota.advanced.allocated) == (0, 100)
    settings = client.ssl.universal.settings
    assert settings.edit(zone_id=zone, enabled=False) is not None
    read = settings.get(zone_id=zone)
    assert read is not None
    assert read.enabled is False


def test_secrets_of_a_store(client: Cloudflare, raw: Any, account: str):
    stores = client.secrets_store.stores
    path = f"/accounts/{account}/secrets_store/stores"
    store = raw.api("POST", path, json={"name": "main"}).json()["result"]["id"]
    assert raw.refusal("POST", path, json={"name": "second"})[1] == 1002
    assert [each.name for each in stores.list(account_id=account)] == ["main"]
    made = stores.secrets.create(
        store, account_id=account, body=[{"name": "KEY", "value": "s3cret-value", "scopes": ["workers"]}]
    )
    (key,) = made.result
    assert "s3cret-value" not in str(raw.control("GET", "/journal"))
    assert raw.refusal("POST", f"{path}/{store}/secrets", json=[{"name": "KEY", "value": "x"}])[1] == 1004
    copy = stores.secrets.duplicate(key.id, account_id=account, store_id=store, name="COPY", scopes=["containers"])
    assert copy is not None
    changed = stores.secrets.edit(key.id, account_id=account, store_id=store, comment="why")
    assert changed is not None
    assert changed.comment == "why"
    assert [each.name for each in stores.secrets.list(store, account_id=account, search="co")] == ["COPY"]
    quota = client.secrets_store.quota.get(account_id=account)
    assert quota is not None
    assert quota.secrets.usage == 2
    stores.secrets.delete(key.id, account_id=account, store_id=store)
    assert raw.refusal("GET", f"{path}/{store}/secrets/{key.id}")[0] == 404
    raw.api("DELETE", f"{path}/{store}").raise_for_status()


def test_what_is_not_there_says_so(raw: Any, account: str, zone: str):
    for method, path in (
        ("GET", f"/accounts/{account}/stream"),
        ("PUT", f"/accounts/{account}/pages/projects/x"),
        ("GET", f"/zones/{zone}/dns_records/usage"),
        ("GET", f"/accounts/{account}/access/apps/ca"),
        ("PATCH", f"/zones/{zone}/settings/transformations_c2pa"),
    ):
        text = f"The emulator does not have {method} /client/v4{path}: docs/emulator.md lists what it has."
        assert raw.refusal(method, path) == (400, 7000, text)


def test_no_official_operation_is_taken_for_another():
    """A path of the SDK that the emulator lacks must not run what it has at a path with a parameter in that place."""
    operations = [operation for service in load_services() for operation in service.operations]
    known = {(operation.method, sdk.nameless(operation.path)) for operation in operations}
    router = Router(operations)
    taken = []
    for method, path in sorted(sdk.everything() - known):
        allowed, _ = router.find(["x" if part == "{}" else part for part in split(API + path)])
        if path.rpartition("/")[2] in SETTINGS:
            continue  # the SDK has another name for reading and changing these
        if method in allowed and allowed[method].fidelity is not Fidelity.ABSENT:
            taken.append((method, path, allowed[method].id))
    assert taken == []
