"""AccessGate: what it registers for which settings, to the last input."""

import hashlib
from typing import Any

import pulumi
import pulumi_cloudflare
import pytest

from components.access import AccessArgs, AccessGate
from components.settings import SettingsError
from components.settings.access import AccessSettings
from components.settings.domain import DomainSettings
from tests.components.monitor import UNKNOWN, Recorded, deploy, unknown_inputs

ACCOUNT = "0123456789abcdef0123456789abcdef"
GROUP = "12345678-1234-1234-1234-123456789abc"
KEY = {"sha256": hashlib.sha256(b"a key").hexdigest(), "tenant": "acme", "scopes": ["*"]}
TRUST: dict[str, Any] = {
    "team_domain": "acme.cloudflareaccess.com",
    "emails": ["ada@example.org"],
    "email_domains": ["example.com"],
    "groups": [GROUP],
    "service_tokens": ["ci"],
}
DOMAIN = {"hostname": "example.com", "api_hostname": "api.example.com"}
ANSWERS = {
    "cloudflare:index/zeroTrustAccessApplication:ZeroTrustAccessApplication": lambda inputs: {
        "aud": f"aud of {inputs['domain']}"
    },
    "cloudflare:index/zeroTrustAccessServiceToken:ZeroTrustAccessServiceToken": lambda inputs: {
        "clientId": f"{inputs['name']}.access",
        "clientSecret": "the secret",
    },
}


def made(document: dict[str, Any], domain: dict[str, Any] | None = None, *, preview: bool = False) -> Recorded:
    def program() -> None:
        hosts = DomainSettings.parse(domain) if domain else None
        gate = AccessGate("access", AccessArgs(AccessSettings.parse(document), hosts, ACCOUNT, ("sandbox", "dev")))
        for name, binding in gate.bindings.items():
            pulumi.export(name, binding["text"])
        pulumi.export("types", {name: binding["type"] for name, binding in gate.bindings.items()})

    return deploy(program, answers=ANSWERS, preview=preview)


def test_keys_alone_make_nothing_in_the_account():
    recorded = made({"api_keys": {"ci": KEY}})
    assert recorded.names() == ["AccessGate access"]
    assert recorded.exports == {
        "API_KEYS": f'[{{"id":"ci","scopes":["*"],"sha256":"{KEY["sha256"]}","tenant":"acme"}}]',
        "types": {"API_KEYS": "secret_text"},
    }
    assert recorded.one("pulumi:pulumi:Stack").secret_outputs == {"API_KEYS"}
    assert recorded.one("AccessGate").outputs == [{"audiences": {}, "service_tokens": {}}]
    assert recorded.one("AccessGate").secret_outputs == {"service_tokens"}


def test_nothing_set_gives_the_worker_nothing():
    assert made({}).exports == {"types": {}}


def test_zero_trust_makes_policies_tokens_and_an_application_for_each_role():
    recorded = made({"zero_trust": TRUST}, DOMAIN)
    assert recorded.names() == [
        "AccessGate access",
        "ZeroTrustAccessApplication access-api",
        "ZeroTrustAccessApplication access-previews",
        "ZeroTrustAccessPolicy access-machines",
        "ZeroTrustAccessPolicy access-people",
        "ZeroTrustAccessServiceToken access-ci-token",
    ]
    assert recorded.one("AccessGate").type == "cloudflare-sandbox:index:AccessGate"
    assert {each.parent for each in recorded.resources if each.custom} == {"access"}


def test_people_log_in_and_machines_show_a_token():
    recorded = made({"zero_trust": TRUST}, DOMAIN)
    assert recorded.one("ZeroTrustAccessPolicy", "access-people").inputs == {
        "accountId": ACCOUNT,
        "name": "sandbox-dev-people",
        "decision": "allow",
        "includes": [
            {"email": {"email": "ada@example.org"}},
            {"emailDomain": {"domain": "example.com"}},
            {"group": {"id": GROUP}},
        ],
        "sessionDuration": "24h",
    }
    assert recorded.one("ZeroTrustAccessPolicy", "access-machines").inputs == {
        "accountId": ACCOUNT,
        "name": "sandbox-dev-machines",
        "decision": "non_identity",
        "includes": [{"serviceToken": {"tokenId": "access-ci-token-id"}}],
        "sessionDuration": "24h",
    }
    token = recorded.one("ZeroTrustAccessServiceToken")
    assert token.inputs == {"accountId": ACCOUNT, "name": "sandbox-dev-ci", "duration": "8760h"}


@pytest.mark.parametrize(
    ("role", "host", "more"),
    [("api", "api.example.com", {"serviceAuth401Redirect": True}), ("previews", "*.example.com", {})],
)
def test_an_application(role: str, host: str, more: dict[str, Any]):
    recorded = made({"zero_trust": {**TRUST, "session_duration": "30m"}}, DOMAIN)
    assert recorded.one("ZeroTrustAccessApplication", f"access-{role}").inputs == {
        "accountId": ACCOUNT,
        "name": f"sandbox-dev-{role}",
        "type": "self_hosted",
        "domain": host,
        "sessionDuration": "30m",
        "appLauncherVisible": False,
        "httpOnlyCookieAttribute": True,
        "policies": [{"id": "access-machines-id", "precedence": 1}, {"id": "access-people-id", "precedence": 2}],
        **more,
    }


def test_the_worker_is_told_a_different_audience_for_api_and_previews():
    exports = made({"zero_trust": {**TRUST, "scopes": ["files:*", "exec"]}}, DOMAIN).exports
    assert exports == {
        "ACCESS_TEAM_DOMAIN": "acme.cloudflareaccess.com",
        "ACCESS_AUDIENCES": '["aud of api.example.com"]',
        "PREVIEW_ACCESS": "required",
        "PREVIEW_ACCESS_AUDIENCES": '["aud of *.example.com"]',
        "ACCESS_SCOPES": '["exec","files:*"]',
        "types": dict.fromkeys(
            (
                "ACCESS_TEAM_DOMAIN",
                "ACCESS_AUDIENCES",
                "PREVIEW_ACCESS",
                "PREVIEW_ACCESS_AUDIENCES",
                "ACCESS_SCOPES",
            ),
            "plain_text",
        ),
    }


def test_the_names_of_variables_are_known_in_a_preview():
    recorded = made({"zero_trust": TRUST}, DOMAIN, preview=True)
    assert recorded.exports["ACCESS_AUDIENCES"] == UNKNOWN
    assert recorded.exports["types"] == made({"zero_trust": TRUST}, DOMAIN).exports["types"]


def test_what_machines_need_is_a_secret_output():
    gate = made({"zero_trust": TRUST}, DOMAIN).one("AccessGate")
    assert gate.outputs == [
        {
            "audiences": {"api": "aud of api.example.com", "previews": "aud of *.example.com"},
            "service_tokens": {"ci": {"client_id": "sandbox-dev-ci.access", "client_secret": "the secret"}},
        }
    ]
    assert gate.secret_outputs == {"service_tokens"}


def test_only_what_is_asked_for_is_protected():
    only_api = made({"zero_trust": {**TRUST, "protect": ["api"], "service_tokens": []}}, DOMAIN)
    assert [each.name for each in only_api.of("ZeroTrustAccessApplication")] == ["access-api"]
    assert [each.name for each in only_api.of("ZeroTrustAccessPolicy")] == ["access-people"]
    assert "PREVIEW_ACCESS" not in only_api.exports


def test_hosts_that_are_missing_stop_the_run():
    with pytest.raises(SettingsError) as told:
        made({"zero_trust": TRUST})
    assert told.value.problems == ["access.zero_trust: there are no hosts to stand before; add the settings domain"]


def test_the_sdk_knows_every_input():
    custom = [each for each in made({"zero_trust": TRUST}, DOMAIN).resources if each.custom]
    assert [path for each in custom for path in unknown_inputs(each, pulumi_cloudflare)] == []
    assert len(custom) == 5
