import hashlib
import json
from typing import Any

import pytest

from components.settings import SettingsError
from components.settings.access import NOBODY, AccessSettings, protected_hosts
from components.settings.domain import DomainSettings

HASH = hashlib.sha256(b"a key").hexdigest()
KEY = {"sha256": HASH, "tenant": "acme", "scopes": ["exec"]}
TRUST: dict[str, Any] = {"team_domain": "acme.cloudflareaccess.com", "emails": ["ada@example.com"]}
HASH_RULE = (
    "give the hash of the key as 64 lower-case hexadecimal digits, never the key itself; make one with "
    "`sandbox-stack key`"
)
MOMENT_RULE = "give a moment in UTC, such as 2027-01-31T00:00:00Z"
SCOPE_RULE = 'name at least one scope, or ["*"] for all'


def problems(document: dict[str, Any]) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        AccessSettings.parse(document)
    return caught.value.problems


def with_key(**changes: Any) -> dict[str, Any]:
    return {"api_keys": {"ci": {**KEY, **changes}}}


def with_trust(**changes: Any) -> dict[str, Any]:
    return {"zero_trust": {**TRUST, **changes}}


def test_nobody_is_let_in_by_default_and_that_is_said():
    assert AccessSettings.parse({}).warning == NOBODY
    assert AccessSettings.parse({"api_keys": {"ci": KEY}}).warning is None
    assert AccessSettings.parse({"zero_trust": TRUST}).warning is None


def test_the_day_that_a_key_was_made_stays_here():
    (key,) = AccessSettings.parse({"api_keys": {"ci": {**KEY, "created": "2026-11-18"}}}).api_keys.values()
    assert key.created == "2026-11-18"
    with pytest.raises(SettingsError, match=r"api_keys\.ci\.created: "):
        AccessSettings.parse(with_key(created="lately"))


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (with_key(sha256=HASH.upper()), f"api_keys.ci.sha256: {HASH_RULE}"),
        (with_key(sha256="sk-live-secret"), f"api_keys.ci.sha256: {HASH_RULE}"),
        (with_key(tenant=""), "api_keys.ci.tenant: use 1 to 200 visible ASCII characters without spaces"),
        (with_key(scopes=[]), f"api_keys.ci.scopes: {SCOPE_RULE}"),
        (with_key(scopes=["exek"]), "api_keys.ci.scopes: there is no scope 'exek'; did you mean exec?"),
        (
            with_key(scopes=["q"]),
            (
                "api_keys.ci.scopes: there is no scope 'q'; known are *, code, describe, exec, files:*, files:read, "
                "files:write, git, lifecycle, pattern:*, pattern:chat, pattern:coding, pattern:environment, "
                "pattern:generate, pattern:openai, pattern:parallel, pattern:pipeline, pattern:run, pattern:workspace, "
                "ports, processes, sessions, status, storage, terminal"
            ),
        ),
        (with_key(not_after="tomorrow"), f"api_keys.ci.not_after: {MOMENT_RULE}"),
        (with_key(not_after="2027-02-30T00:00:00Z"), f"api_keys.ci.not_after: {MOMENT_RULE}"),
        (with_key(not_after="2027-01-31T00:00:00+01:00"), f"api_keys.ci.not_after: {MOMENT_RULE}"),
        (
            with_key(requests_per_minute=0),
            "api_keys.ci.requests_per_minute: should be greater than or equal to 1",
        ),
        ({"api_keys": {"ci": {}}}, None),
        (
            {"api_keys": {"c i": KEY}},
            "api_keys: 'c i' cannot name a key; use 1 to 64 letters, digits, dots, hyphens and underscores",
        ),
        (
            {"api_keys": {"one": KEY, "two": {**KEY, "tenant": "other"}}},
            "api_keys one and two are the same key; make one for each",
        ),
        (
            with_trust(team_domain="https://acme.cloudflareaccess.com"),
            "zero_trust.team_domain: give the team's domain alone, such as team.cloudflareaccess.com",
        ),
        (with_trust(protect=[]), "zero_trust.protect: name what to protect: api, previews or both"),
        (with_trust(protect=["all"]), "zero_trust.protect.0: expected 'api' or 'previews'"),
        (
            with_trust(emails=["ada"]),
            "zero_trust.emails: 'ada' is no e-mail address; give one such as ada@example.com, in lower case",
        ),
        (
            with_trust(email_domains=["@example.com"]),
            ("zero_trust.email_domains: '@example.com' cannot be used; leave the @ out"),
        ),
        (
            with_trust(groups=["engineers"]),
            "zero_trust.groups: 'engineers' is no id of an Access group; copy it from the group's page",
        ),
        (
            with_trust(service_tokens=["CI"]),
            "zero_trust.service_tokens: 'CI' cannot name a machine; use 1 to 32 lower-case letters, digits and hyphens",
        ),
        (
            with_trust(session_duration="1 day"),
            "zero_trust.session_duration: give hours or minutes, such as 24h or 30m",
        ),
        (with_trust(scopes=[]), f"zero_trust.scopes: {SCOPE_RULE}"),
        (
            {"zero_trust": {**TRUST, "service_tokens": ["ci"], "names": {"apo": "x"}}},
            "zero_trust: names: nothing is called apo here; known are api, previews, people, machines, ci",
        ),
        (
            with_trust(emails=[]),
            "zero_trust: nobody may pass; add emails, email_domains, groups or service_tokens",
        ),
    ],
)
def test_a_mistake_is_told_with_rule_and_remedy(document: dict[str, Any], problem: str | None):
    required = [f"api_keys.ci.{name}: is required; add it" for name in ("sha256", "tenant", "scopes")]
    assert problems(document) == ([problem] if problem else required)


def test_a_key_given_by_mistake_is_not_repeated():
    assert "sk-live-secret" not in str(problems(with_key(sha256="sk-live-secret")))


def test_the_worker_gets_keys_sorted_and_without_nulls():
    full = {**KEY, "sha256": "0" * 64, "not_after": "2027-01-31T00:00:00Z", "requests_per_minute": 60}
    text = AccessSettings.parse({"api_keys": {"zeta": KEY, "alpha": full}}).api_keys_json
    assert text == (
        '[{"id":"alpha","not_after":"2027-01-31T00:00:00Z","requests_per_minute":60,"scopes":["exec"],"sha256":"'
        + "0" * 64
        + '","tenant":"acme"},{"id":"zeta","scopes":["exec"],"sha256":"'
        + HASH
        + '","tenant":"acme"}]'
    )
    assert len(json.loads(text)) == 2


def test_people_come_in_an_order_of_their_own():
    one = with_trust(emails=["b@example.com", "a@example.com"], email_domains=["example.org"])
    other = with_trust(emails=["a@example.com", "b@example.com", "a@example.com"], email_domains=["example.org"])
    people = [AccessSettings.parse(document).zero_trust.people for document in (one, other)]  # type: ignore[union-attr]
    assert people[0] == people[1]
    assert people[0] == [
        {"email": {"email": "a@example.com"}},
        {"email": {"email": "b@example.com"}},
        {"email_domain": {"domain": "example.org"}},
    ]


def hosts(trust: dict[str, Any], domain: dict[str, Any] | None) -> dict[str, str]:
    return protected_hosts(
        AccessSettings.parse({"zero_trust": {**TRUST, **trust}}), DomainSettings.parse(domain) if domain else None
    )


API_BELOW = {"hostname": "example.com", "api_hostname": "api.example.com"}


@pytest.mark.parametrize(
    ("trust", "domain", "problem"),
    [
        ({}, None, "access.zero_trust: there are no hosts to stand before; add the settings domain"),
        (
            {},
            {"hostname": "example.com"},
            "access.zero_trust: the API has no host; set domain.api_hostname or protect previews only",
        ),
        (
            {"protect": ["previews"]},
            {"hostname": "example.com", "bypass": ["www.example.com"]},
            (
                "access.zero_trust: *.example.com includes www.example.com, whose visitors would have to log in too; "
                "protect the api only, or move that service out of domain.bypass to another host"
            ),
        ),
        (
            {"protect": ["previews"]},
            API_BELOW,
            (
                "access.zero_trust: *.example.com includes the API at api.example.com, where API keys alone would no "
                "longer do; protect the api too, or choose a domain.api_hostname elsewhere in the zone"
            ),
        ),
    ],
)
def test_zero_trust_needs_hosts_it_can_stand_before(trust: dict[str, Any], domain: dict[str, Any] | None, problem: str):
    with pytest.raises(ValueError, match="zero_trust") as caught:
        hosts(trust, domain)
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("trust", "domain", "expected"),
    [
        ({}, API_BELOW, {"api": "api.example.com", "previews": "*.example.com"}),
        ({"protect": ["api"]}, API_BELOW, {"api": "api.example.com"}),
        ({"protect": ["previews"]}, {"hostname": "example.com"}, {"previews": "*.example.com"}),
        (
            {"protect": ["previews"]},
            {"hostname": "example.com", "api_hostname": "example.com"},
            {"previews": "*.example.com"},
        ),
    ],
)
def test_hosts_by_role(trust: dict[str, Any], domain: dict[str, Any], expected: dict[str, str]):
    assert hosts(trust, domain) == expected
    assert protected_hosts(AccessSettings(), DomainSettings.parse(domain)) == {}
