"""Policies of one Access application: its own ones, beside references to reusable ones."""

from typing import Any

import pytest
from cloudflare import Cloudflare, NotFoundError

EVERYONE = [{"everyone": {}}]


@pytest.fixture(params=["accounts", "zones"])
def owner(request: pytest.FixtureRequest, account: str, zone: str) -> dict[str, str]:
    return {"account_id": account} if request.param == "accounts" else {"zone_id": zone}


def path_of(owner: dict[str, str], app: str) -> str:
    ((name, key),) = owner.items()
    return f"/{name.removesuffix('_id')}s/{key}/access/apps/{app}"


def make_app(raw: Any, owner: dict[str, str], **more: Any) -> str:
    body = {"name": "site", "domain": "site.sandbox.example", "type": "self_hosted", **more}
    return str(raw.api("POST", path_of(owner, "").rstrip("/"), json=body).json()["result"]["id"])


def test_life_of_a_policy_of_an_application(client: Cloudflare, raw: Any, owner: dict[str, str]):
    app, policies = make_app(raw, owner), client.zero_trust.access.applications.policies
    made: Any = policies.create(app, name="all", decision="allow", include=EVERYONE, **owner)
    second: Any = policies.create(app, name="none", decision="deny", include=EVERYONE, **owner)
    assert (made.precedence, second.precedence) == (1, 2)
    changed: Any = policies.update(made.id, app_id=app, name="few", decision="allow", include=EVERYONE, **owner)
    assert (changed.id, changed.name, changed.precedence) == (made.id, "few", 1)
    assert [each.name for each in policies.list(app, **owner)] == ["few", "none"]
    read: Any = policies.get(second.id, app_id=app, **owner)
    assert read.decision == "deny"
    policies.delete(second.id, app_id=app, **owner)
    with pytest.raises(NotFoundError):
        policies.get(second.id, app_id=app, **owner)
    with pytest.raises(NotFoundError):
        list(policies.list("none", **owner))
    shown = raw.api("GET", path_of(owner, app)).json()["result"]["policies"]
    assert [each["name"] for each in shown] == ["few"]


def test_the_place_of_a_policy(raw: Any, owner: dict[str, str]):
    path = f"{path_of(owner, make_app(raw, owner))}/policies"
    body = {"name": "p", "decision": "allow", "include": EVERYONE}
    raw.api("POST", path, json={**body, "precedence": 5})
    assert raw.api("POST", path, json=body).json()["result"]["precedence"] == 6
    first = raw.api("POST", path, json={**body, "name": "first", "precedence": 1}).json()["result"]["id"]
    assert raw.api("GET", path).json()["result"][0]["name"] == "first"
    taken = raw.refusal("PUT", f"{path}/{first}", json={**body, "precedence": 6})
    assert taken[2].endswith("policy precedences must be unique")
    assert raw.refusal("POST", path, json={"precedence": 9})[2].endswith("name is required")


def test_reusable_policies_are_shown_and_not_changed(raw: Any, account: str, owner: dict[str, str]):
    body = {"name": "shared", "decision": "allow", "include": EVERYONE}
    shared = raw.api("POST", f"/accounts/{account}/access/policies", json=body).json()["result"]["id"]
    path = f"{path_of(owner, make_app(raw, owner, policies=[shared]))}/policies"
    assert raw.api("GET", f"{path}/{shared}").json()["result"]["name"] == "shared"
    for method, options in (("PUT", {"json": body}), ("DELETE", {})):
        assert f"policy {shared} is reusable" in raw.refusal(method, f"{path}/{shared}", **options)[2]


def test_an_application_that_is_replaced_keeps_its_policies(raw: Any, owner: dict[str, str]):
    path = path_of(owner, make_app(raw, owner))
    body = {"name": "p", "decision": "allow", "include": EVERYONE}
    made = raw.api("POST", f"{path}/policies", json=body).json()["result"]["id"]
    renamed = {"name": "other", "domain": "site.sandbox.example", "type": "self_hosted"}
    for sent in (renamed, raw.api("GET", path).json()["result"]):
        assert [each["id"] for each in raw.api("PUT", path, json=sent).json()["result"]["policies"]] == [made]
    assert raw.api("PUT", path, json={**renamed, "policies": []}).json()["result"]["policies"] == []
