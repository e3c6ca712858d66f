"""Access, certificate packs and rulesets through the official SDK."""

from datetime import datetime
from typing import Any

import pytest
from cloudflare import BadRequestError, Cloudflare, NotFoundError

EVERYONE: Any = [{"everyone": {}}]


def test_life_of_a_policy(client: Cloudflare, raw: Any, account: str):
    policies = client.zero_trust.access.policies
    made = policies.create(account_id=account, name="all", decision="allow", include=EVERYONE, session_duration="24h")
    policy_id = str(made.id)
    read = raw.api("GET", f"/accounts/{account}/access/policies/{policy_id}").json()["result"]
    assert read["include"] == [{"everyone": {}}]
    include: Any = [{"any_valid_service_token": {}}, {"email_domain": {"domain": "sandbox.example"}}]
    policies.update(policy_id, account_id=account, name="some", decision="non_identity", include=include)
    again = policies.get(policy_id, account_id=account)
    assert (again.name, again.decision, again.app_count) == ("some", "non_identity", 0)
    assert len(list(policies.list(account_id=account))) == 1
    policies.delete(policy_id, account_id=account)
    with pytest.raises(NotFoundError):
        policies.get(policy_id, account_id=account)


@pytest.mark.parametrize("owner", ["account", "zone"])
def test_life_of_an_application(client: Cloudflare, raw: Any, account: str, zone: str, owner: str):
    policies = client.zero_trust.access.policies
    ids = [
        str(policies.create(account_id=account, name=name, decision="allow", include=EVERYONE).id)
        for name in ("first", "second")
    ]
    where: Any = {"account_id": account} if owner == "account" else {"zone_id": zone}
    apps = client.zero_trust.access.applications
    body: Any = {
        "name": "previews",
        "type": "self_hosted",
        "domain": "*.preview.sandbox.example",
        "session_duration": "24h",
        "app_launcher_visible": True,
        "policies": [{"id": ids[0], "precedence": 1}, {"id": ids[1], "precedence": 2}],
    }
    made: Any = apps.create(**where, **body)
    base = f"/accounts/{account}" if owner == "account" else f"/zones/{zone}"
    read = raw.api("GET", f"{base}/access/apps/{made.id}").json()["result"]
    assert {name: read[name] for name in body if name != "policies"} == {
        name: value for name, value in body.items() if name != "policies"
    }
    assert [(policy["id"], policy["precedence"]) for policy in read["policies"]] == [(ids[0], 1), (ids[1], 2)]
    assert read["self_hosted_domains"] == [body["domain"]]
    assert read["destinations"] == [{"type": "public", "uri": body["domain"]}]
    assert len(read["aud"]) == 64
    body["domain"] = "other.sandbox.example"
    changed: Any = apps.update(made.id, **where, **body)
    assert (changed.aud, changed.self_hosted_domains) == (made.aud, ["other.sandbox.example"])
    assert [app.id for app in apps.list(**where)] == [made.id]
    with pytest.raises(BadRequestError, match="in use by 1 application"):
        policies.delete(ids[0], account_id=account)
    apps.delete(made.id, **where)
    with pytest.raises(NotFoundError):
        apps.get(made.id, **where)
    policies.delete(ids[0], account_id=account)


def test_applications_over_several_pages(client: Cloudflare, account: str):
    apps = client.zero_trust.access.applications
    for number in range(12):
        apps.create(account_id=account, type="self_hosted", domain=f"a{number}.sandbox.example", name=f"a{number}")
    listed: list[Any] = list(apps.list(account_id=account, per_page=5))
    assert [app.name for app in listed] == [f"a{number}" for number in range(12)]


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"type": "self_hosted"}, 400, "access.api.error.invalid_request: domain is required"),
        ({"type": "nonsense"}, 400, "access.api.error.invalid_request: type must be one of"),
        (
            {"type": "self_hosted", "domain": "x.sandbox.example", "policies": ["nothing"]},
            400,
            "access.api.error.invalid_request: policy nothing does not exist",
        ),
        (
            {
                "type": "self_hosted",
                "domain": "x.sandbox.example",
                "policies": [
                    {"name": "a", "decision": "allow", "include": [], "precedence": 1},
                    {"name": "b", "decision": "allow", "include": [], "precedence": 1},
                ],
            },
            400,
            "access.api.error.invalid_request: policy precedences must be unique",
        ),
    ],
)
def test_application_refusals(raw: Any, account: str, body: Any, status: int, message: str):
    refused = raw.refusal("POST", f"/accounts/{account}/access/apps", json=body)
    assert refused[:2] == (status, 12130)
    assert message in refused[2]


SAAS: Any = {
    "type": "saas",
    "name": "s",
    "saas_app": {"auth_type": "oidc", "client_id": "c", "client_secret": "hidden", "public_key": "p"},
    "scim_config": {
        "idp_uid": "i",
        "remote_uri": "https://sandbox.example",
        "authentication": [
            {"scheme": "httpbasic", "user": "u", "password": "hidden"},
            {"scheme": "oauthbearertoken", "token": "hidden"},
            {
                "scheme": "oauth2",
                "authorization_url": "a",
                "token_url": "t",
                "client_id": "c",
                "client_secret": "hidden",
            },
        ],
    },
}


@pytest.mark.parametrize("owner", ["account", "zone"])
def test_secrets_of_an_application_are_neither_kept_nor_given_back(raw: Any, account: str, zone: str, owner: str):
    base = (f"/accounts/{account}" if owner == "account" else f"/zones/{zone}") + "/access/apps"
    made = raw.api("POST", base, json=SAAS)
    assert made.status_code == 201
    path = f"{base}/{made.json()['result']['id']}"
    answers = [made, raw.api("PUT", path, json=SAAS), raw.api("GET", path), raw.api("GET", base)]
    assert all("hidden" not in answer.text for answer in answers)
    app = answers[2].json()["result"]
    assert app["saas_app"] == {"auth_type": "oidc", "client_id": "c", "public_key": "p"}
    first, _, third = app["scim_config"]["authentication"]
    assert first == {"scheme": "httpbasic", "user": "u", "password": "*" * 34}
    assert (third["token_url"], third["client_id"]) == ("t", "c")
    stored = raw.emulator.state.store.select("access_app", account if owner == "account" else zone)
    assert "hidden" not in str(stored)
    assert raw.api("PUT", path, json=app).json()["result"]["scim_config"] == app["scim_config"]


READ_ONLY = {"id": "x", "uid": [], "aud": {}, "app_count": [[]], "reusable": "x", "created_at": 1, "updated_at": 2}


def test_what_the_api_makes_itself_cannot_be_set(raw: Any, account: str):
    policy = {**READ_ONLY, "name": "p", "decision": "allow", "include": EVERYONE}
    own = {name: value for name, value in policy.items() if name != "id"}
    app = {**READ_ONLY, "type": "self_hosted", "domain": "x.sandbox.example", "policies": [own]}
    for kind, body in (("policies", policy), ("apps", app)):
        base = f"/accounts/{account}/access/{kind}"
        made = raw.api("POST", base, json=body).json()["result"]
        changed = raw.api("PUT", f"{base}/{made['id']}", json=body).json()["result"]
        assert (made["id"], made["created_at"]) == (changed["id"], changed["created_at"])
        for found in (made, changed, *changed.get("policies", [])):
            assert not [name for name, value in READ_ONLY.items() if found.get(name) == value]


def test_an_application_exists_once(raw: Any, account: str):
    body = {"type": "self_hosted", "domain": "x.sandbox.example"}
    assert raw.api("POST", f"/accounts/{account}/access/apps", json=body).status_code == 201
    refused = raw.refusal("POST", f"/accounts/{account}/access/apps", json=body)
    assert refused == (409, 11010, "access.api.error.application_already_exists")


def test_service_tokens(client: Cloudflare, raw: Any, account: str):
    tokens = client.zero_trust.access.service_tokens
    made = tokens.create(account_id=account, name="ci", duration="60m")
    token_id = str(made.id)
    assert len(made.client_secret or "") == 64
    path = f"/accounts/{account}/access/service_tokens/{token_id}"
    assert "client_secret" not in raw.api("GET", path).text
    assert str(made.client_secret) not in raw.api("GET", f"/accounts/{account}/access/service_tokens").text
    tokens.update(token_id, account_id=account, name="renamed")
    assert tokens.get(token_id, account_id=account).name == "renamed"
    assert tokens.rotate(token_id, account_id=account).client_secret != made.client_secret
    raw.advance(600)
    refreshed = tokens.refresh(token_id, account_id=account)
    assert refreshed.expires_at is not None
    assert refreshed.expires_at > datetime.fromisoformat(str(made.expires_at))
    assert len(list(tokens.list(account_id=account))) == 1
    tokens.delete(token_id, account_id=account)
    with pytest.raises(NotFoundError):
        tokens.get(token_id, account_id=account)


def test_life_of_a_certificate_pack(client: Cloudflare, raw: Any, zone: str):
    packs = client.ssl.certificate_packs
    made = packs.create(
        zone_id=zone,
        certificate_authority="lets_encrypt",
        hosts=["sandbox.example", "*.preview.sandbox.example"],
        type="advanced",
        validation_method="txt",
        validity_days=90,
    )
    assert made is not None
    assert made.status == "initializing"
    assert [each.type for each in packs.list(zone_id=zone)] == ["universal"]
    raw.advance(5)
    waiting = packs.get(made.id, zone_id=zone)
    assert waiting is not None
    assert waiting.status == "pending_validation"
    raw.advance(30)
    ready = packs.get(made.id, zone_id=zone)
    assert ready is not None
    assert (ready.status, ready.hosts, ready.validity_days) == ("active", made.hosts, 90)
    assert [each.type for each in packs.list(zone_id=zone, status="all")] == ["universal", "advanced"]
    branded = packs.edit(made.id, zone_id=zone, cloudflare_branding=True)
    assert branded is not None
    assert branded.cloudflare_branding
    packs.delete(made.id, zone_id=zone)
    with pytest.raises(NotFoundError, match="1408"):
        packs.get(made.id, zone_id=zone)


def test_the_universal_pack_comes_and_goes_with_its_setting(client: Cloudflare, raw: Any, zone: str):
    packs, settings = client.ssl.certificate_packs, client.ssl.universal.settings
    (pack,) = packs.list(zone_id=zone)
    assert (pack.status, pack.hosts) == ("active", ["sandbox.example", "*.sandbox.example"])
    path = f"/zones/{zone}/ssl/certificate_packs/{pack.id}"
    assert raw.api("GET", path).json()["result"]["certificates"][0]["hosts"] == pack.hosts
    for method in ("PATCH", "DELETE"):
        assert raw.refusal(method, path)[1] == 1434
    settings.edit(zone_id=zone, enabled=False)
    assert not list(packs.list(zone_id=zone, status="all"))
    assert raw.refusal("GET", path)[0] == 404
    pending = raw.api("POST", "/zones", json={"name": "real.com", "account": {"id": raw.emulator.account_id}})
    assert not list(packs.list(zone_id=pending.json()["result"]["id"], status="all"))


ORDER = {
    "certificate_authority": "google",
    "hosts": ["sandbox.example"],
    "type": "advanced",
    "validation_method": "txt",
    "validity_days": 90,
}


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"hosts": ["*.preview.sandbox.example"]}, 1449, "The certificate pack must include the zone apex."),
        ({"hosts": ["elsewhere.example"]}, 1414, "The host elsewhere.example is not part of the zone."),
        ({"validity_days": 91}, 1434, "Invalid certificate pack order: validity_days must be one of 14, 30, 90, 365."),
    ],
)
def test_certificate_refusals(raw: Any, zone: str, change: Any, code: int, message: str):
    refused = raw.refusal("POST", f"/zones/{zone}/ssl/certificate_packs/order", json={**ORDER, **change})
    assert refused == (400, code, message)


@pytest.mark.parametrize("owner", ["account", "zone"])
def test_life_of_a_ruleset(client: Cloudflare, account: str, zone: str, owner: str):
    where: Any = {"account_id": account} if owner == "account" else {"zone_id": zone}
    kind: Any = "root" if owner == "account" else "zone"
    rules: Any = [{"action": "block", "expression": 'http.host eq "a"', "description": "no"}]
    phase: Any = "http_request_firewall_custom"
    made: Any = client.rulesets.create(**where, kind=kind, name="mine", phase=phase, rules=rules)
    ruleset_id = made["id"]
    assert (made["version"], made["rules"][0]["action"]) == ("1", "block")
    with pytest.raises(BadRequestError, match="20217"):
        client.rulesets.create(**where, kind=kind, name="mine", phase=phase)
    changed: Any = client.rulesets.update(ruleset_id, **where, name="renamed", rules=[])
    assert (changed["version"], changed["rules"]) == ("2", [])
    assert client.rulesets.get(ruleset_id, **where).name == "renamed"
    assert client.rulesets.phases.get(phase, **where).id == ruleset_id
    again: Any = client.rulesets.phases.update(phase, **where, rules=rules)
    assert (again["id"], again["version"]) == (ruleset_id, "3")
    client.rulesets.delete(ruleset_id, **where)
    with pytest.raises(NotFoundError, match="10003"):
        client.rulesets.phases.get(phase, **where)
    fresh: Any = client.rulesets.phases.update(phase, **where, rules=rules)
    assert fresh["version"] == "1"


def test_rulesets_over_several_pages(client: Cloudflare, account: str):
    for number in range(7):
        client.rulesets.create(account_id=account, kind="custom", name=f"r{number}", phase="http_ratelimit")
    assert len(list(client.rulesets.list(account_id=account, per_page=3))) == 7
