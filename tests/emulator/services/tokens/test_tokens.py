"""API tokens: minted ones really open what their policies say, and nothing else."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cloudflare import Cloudflare, NotFoundError

from emulator.permissions import GROUPS


def _group(name: str, scope: str = "com.cloudflare.api.account") -> dict[str, str]:
    return {"id": next(group.id for group in GROUPS if group.name == name and group.scope == scope)}


def _policy(resource: str, *names: str, scope: str = "com.cloudflare.api.account") -> dict[str, Any]:
    return {
        "effect": "allow",
        "permission_groups": [_group(name, scope) for name in names],
        "resources": {resource: "*"},
    }


def _mint(raw: Any, account: str, *policies: Any, **more: Any) -> Any:
    body = {"name": "minted", "policies": list(policies), **more}
    answer = raw.api("POST", f"/accounts/{account}/tokens", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


def test_life_of_an_account_token(client: Cloudflare, account: str):
    policy: Any = _policy(f"com.cloudflare.api.account.{account}", "Workers R2 Storage Read")
    made = client.accounts.tokens.create(account_id=account, name="ci", policies=[policy])
    assert len(made.value or "") == 40
    token_id = str(made.id)
    read = client.accounts.tokens.get(token_id, account_id=account)
    assert (read.name, read.status) == ("ci", "active")
    assert read.policies is not None
    assert dict(read.policies[0].resources) == policy["resources"]
    client.accounts.tokens.update(token_id, account_id=account, name="renamed", policies=[policy])
    assert [token.name for token in client.accounts.tokens.list(account_id=account)] == ["renamed"]
    assert client.accounts.tokens.value.update(token_id, account_id=account) != made.value
    client.accounts.tokens.delete(token_id, account_id=account)
    with pytest.raises(NotFoundError, match="1003"):
        client.accounts.tokens.get(token_id, account_id=account)


def test_life_of_a_user_token(client: Cloudflare, raw: Any, account: str):
    policy: Any = _policy(f"com.cloudflare.api.account.{account}", "Workers R2 Storage Read")
    made = client.user.tokens.create(name="mine", policies=[policy])
    assert client.user.tokens.get(str(made.id)).name == "mine"
    assert client.user.tokens.verify().status == "active"
    mine = raw.as_token(made.value)
    assert mine.api("GET", "/user/tokens/verify").json()["result"] == {"id": made.id, "status": "active"}
    assert mine.refusal("GET", f"/accounts/{account}/tokens/verify") == (401, 1000, "Invalid API Token")
    client.user.tokens.delete(str(made.id))
    assert mine.refusal("GET", "/user/tokens/verify") == (401, 1000, "Invalid API Token")


def test_value_and_hash_are_never_given_back(raw: Any, account: str):
    made = _mint(raw, account, _policy(f"com.cloudflare.api.account.{account}", "Queues Read"))
    for path in (f"/accounts/{account}/tokens", f"/accounts/{account}/tokens/{made['id']}"):
        text = raw.api("GET", path).text
        assert made["value"] not in text
        assert "digest" not in text


def test_permissions_are_enforced(raw: Any, account: str, zone: str):
    made = _mint(raw, account, _policy(f"com.cloudflare.api.account.{account}", "Workers R2 Storage Read"))
    reader = raw.as_token(made["value"])
    buckets = f"/accounts/{account}/r2/buckets"
    assert reader.api("GET", buckets).status_code == 200
    assert reader.refusal("POST", buckets, json={"name": "data"}) == (403, 10000, "Authentication error")
    assert reader.refusal("GET", f"/accounts/{account}/queues")[:2] == (403, 10000)
    unauthorised = (403, 9109, "Unauthorized to access requested resource")
    assert reader.refusal("GET", f"/zones/{zone}/dns_records") == unauthorised
    assert reader.api("GET", "/zones").json()["result"] == []
    assert len(reader.api("GET", "/accounts").json()["result"]) == 1
    assert reader.http.get(f"{raw.emulator.origin}/_emulator/journal").status_code == 403


def test_write_includes_read(raw: Any, account: str):
    made = _mint(raw, account, _policy(f"com.cloudflare.api.account.{account}", "Queues Write"))
    writer = raw.as_token(made["value"])
    assert writer.api("GET", f"/accounts/{account}/queues").status_code == 200
    assert writer.api("POST", f"/accounts/{account}/queues", json={"queue_name": "q"}).status_code == 200


ZONE_SCOPE = "com.cloudflare.api.account.zone"


@pytest.mark.parametrize("resource", ["one", "nested"])
def test_zone_permissions(raw: Any, account: str, zone: str, resource: str):
    resources: dict[str, Any] = {
        "one": {f"{ZONE_SCOPE}.{zone}": "*"},
        "nested": {f"com.cloudflare.api.account.{account}": {f"{ZONE_SCOPE}.*": "*"}},
    }
    policy = {**_policy("x", "DNS Write", "Zone Read", scope=ZONE_SCOPE), "resources": resources[resource]}
    editor = raw.as_token(_mint(raw, account, policy)["value"])
    record = {"name": "a", "type": "A", "content": "192.0.2.1", "ttl": 60}
    assert editor.api("POST", f"/zones/{zone}/dns_records", json=record).status_code == 200
    assert editor.refusal("PATCH", f"/zones/{zone}", json={"paused": True})[:2] == (403, 9109)
    names = [found["name"] for found in editor.api("GET", "/zones").json()["result"]]
    every = ["preview.example", "sandbox.example", "sandbox.localhost"]
    assert names == (["sandbox.example"] if resource == "one" else every)


def test_deny_wins(raw: Any, account: str):
    resource = f"com.cloudflare.api.account.{account}"
    deny = {**_policy(resource, "Queues Write"), "effect": "deny"}
    made = _mint(raw, account, deny, _policy(resource, "Queues Write"))
    reader = raw.as_token(made["value"])
    assert reader.refusal("POST", f"/accounts/{account}/queues", json={"queue_name": "q"})[:2] == (403, 10000)
    assert reader.api("GET", f"/accounts/{account}/queues").status_code == 200  # only writing is denied


def test_tokens_expire_and_begin(raw: Any, account: str):
    policy = _policy(f"com.cloudflare.api.account.{account}", "Queues Read")
    soon, later = (datetime.now(UTC) + timedelta(seconds=seconds) for seconds in (600, 1200))
    made = _mint(raw, account, policy, not_before=soon.isoformat(), expires_on=later.isoformat())
    minted = raw.as_token(made["value"])
    assert minted.refusal("GET", f"/accounts/{account}/queues")[:2] == (401, 10000)
    raw.advance(700)
    assert minted.api("GET", f"/accounts/{account}/queues").status_code == 200
    raw.advance(700)
    assert minted.refusal("GET", f"/accounts/{account}/queues")[:2] == (401, 10000)
    assert minted.api("GET", f"/accounts/{account}/tokens/verify").json()["result"]["status"] == "expired"
    assert raw.api("GET", f"/accounts/{account}/tokens").json()["result"] == []
    assert len(raw.api("GET", f"/accounts/{account}/tokens?include_expired=true").json()["result"]) == 1


def test_permission_groups_can_be_found_by_name(client: Cloudflare, account: str):
    found = client.accounts.tokens.permission_groups.get(account_id=account, name="Workers Containers Write")
    assert [group.id for group in found or []] == ["bdbcd690c763475a985e8641dddc09f7"]
    assert len(list(client.user.tokens.permission_groups.list())) == len(GROUPS)


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"name": ""}, 400, "Invalid API token: name must be 1 to 120 characters long."),
        ({"policies": []}, 400, "Invalid API token: policies must have 1 to 100 items."),
        ({"expires_on": "tomorrow"}, 400, "Invalid API token: expires_on must be a date and time as in RFC 3339."),
        ({"expires_on": "2020-01-01T00:00:00Z"}, 400, "Invalid API token: expires_on must be in the future."),
    ],
)
def test_refusals(raw: Any, account: str, change: Any, code: int, message: str):
    body = {"name": "x", "policies": [_policy(f"com.cloudflare.api.account.{account}", "Queues Read")], **change}
    assert raw.refusal("POST", f"/accounts/{account}/tokens", json=body) == (400, code, message)


def test_an_unknown_permission_group_is_refused(raw: Any, account: str):
    policy = {
        **_policy(f"com.cloudflare.api.account.{account}", "Queues Read"),
        "permission_groups": [{"id": "nonsense"}],
    }
    refusal = raw.refusal("POST", f"/accounts/{account}/tokens", json={"name": "x", "policies": [policy]})
    assert refusal == (400, 1001, "Permission group nonsense does not exist.")


OTHER, OTHER_ZONE = "b" * 32, "c" * 32


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        ({f"com.cloudflare.api.account.{OTHER}": "*"}, f"Resource com.cloudflare.api.account.{OTHER} does not belong"),
        ({"com.cloudflare.api.account.*": "*"}, "Resource com.cloudflare.api.account.* does not belong"),
        ({"*": "*"}, "Resource * does not belong"),
        ({f"{ZONE_SCOPE}.*": "*"}, "Must nest zone under specific account resource."),
        ({f"{ZONE_SCOPE}.{OTHER_ZONE}": "*"}, f"Resource {ZONE_SCOPE}.{OTHER_ZONE} does not belong"),
        ({f"com.cloudflare.api.account.{OTHER}": {f"{ZONE_SCOPE}.*": "*"}}, "does not belong to the account."),
        ({"com.cloudflare.api.account.*": {f"{ZONE_SCOPE}.*": "*"}}, "does not belong to the account."),
        ({"com.cloudflare.api.account.OWN": {f"{ZONE_SCOPE}.{OTHER_ZONE}": "*"}}, "does not belong to the account."),
        ({"com.cloudflare.api.account.OWN": {"*": "*"}}, "Resource * does not belong"),
        ({f"com.cloudflare.edge.r2.bucket.{OTHER}_default_data": "*"}, "does not belong to the account."),
        ({"com.cloudflare.edge.r2.bucket.*": "*"}, "does not belong to the account."),
        ({"com.cloudflare.api.user.*": "*"}, "does not belong to the account."),
    ],
)
def test_an_account_token_reaches_no_further_than_its_account(raw: Any, account: str, resources: Any, message: str):
    store = raw.emulator.state.store
    store.put("account", "", OTHER, {"id": OTHER, "name": "Other", "type": "standard"})
    store.put("zone", "", OTHER_ZONE, {"id": OTHER_ZONE, "name": "other.example", "account": {"id": OTHER}})
    given = {name.replace("OWN", account): value for name, value in resources.items()}
    own = _policy(f"com.cloudflare.api.account.{account}", "Queues Read")
    body = {"name": "x", "policies": [own, {**own, "resources": given}]}
    made = _mint(raw, account, own)
    for method, path in (("POST", "tokens"), ("PUT", f"tokens/{made['id']}")):
        status, code, text = raw.refusal(method, f"/accounts/{account}/{path}", json=body)
        assert (status, code) == (400, 1001)
        assert message in text


def test_an_account_token_may_be_for_buckets_of_its_account(raw: Any, account: str):
    scope = "com.cloudflare.edge.r2.bucket"
    resource = f"{scope}.{account}_default_data"
    made = _mint(raw, account, _policy(resource, "Workers R2 Storage Bucket Item Read", scope=scope))
    assert made["policies"][0]["resources"] == {resource: "*"}
