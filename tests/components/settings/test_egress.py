import hashlib
import json
import re
from datetime import date
from typing import Any

import pytest
import yaml

from components.rules import check
from components.settings import SandboxSettings, SettingsError
from components.settings.egress import EgressSettings, covers
from components.settings.facts import facts
from tools.paths import ROOT

AGENT = {"host": "api.anthropic.com", "secret": "AGENT_API_KEY", "header": "x-api-key", "scheme": "plain"}
GIT = {"host": "github.com", "secret": "GITHUB_TOKEN", "scheme": "basic", "user": "x-access-token"}
EITHER = 'expected "off", "on" (put quotes around them) or a list of hosts'
FULL = "give a full host name of letters, digits and inner hyphens, such as previews.example.com"


def problems(document: dict[str, Any]) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        SandboxSettings.parse(document)
    return caught.value.problems


def with_key(whole: dict[str, Any], **changes: Any) -> dict[str, Any]:
    key = {"sha256": hashlib.sha256(b"a key").hexdigest(), "tenant": "acme", "scopes": ["*"], **changes}
    return {
        "egress": {"credentials": {"agent": AGENT}, **whole},
        "secrets": ["AGENT_API_KEY"],
        "access": {"api_keys": {"ci": key}},
    }


@pytest.mark.parametrize(
    ("allow", "problem"),
    [
        (False, EITHER),
        ("none", EITHER),
        ([], EITHER),
        ([1], "a host is text; put quotes around it"),
        (["a.test"] * 101, "list 100 hosts at most; *.example.com means every host below example.com"),
        (["*"], "'*' is no host; say \"on\" where every host may be reached"),
        (["a.*.test"], "'a.*.test' is no host; a wildcard stands in front of a whole name, as in *.example.com"),
        (["192.0.2.1"], "'192.0.2.1' is no host; give a name, not an address"),
        (["2001:db8::1"], "'2001:db8::1' is no host; give a name, not an address"),
        (["a.test:443"], "'a.test:443' is no host; give the host name alone, without port or path"),
        (["https://a.test"], "'https://a.test' is no host; give the host name alone, without a scheme"),
        (["A.test", "localhost"], f"'A.test' is no host; use lower case; 'localhost' is no host; {FULL}"),
        (["*.test"], f"'*.test' is no host; {FULL}"),
    ],
)
def test_what_cannot_be_reached_is_told(allow: Any, problem: str):
    assert problems({"egress": {"allow": allow}}) == [f"egress.allow: {problem}"]
    key = with_key({"credentials": {}}, egress=allow)
    assert problems(key) == [f"access.api_keys.ci.egress: {problem}"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"host": "*.anthropic.com"}, "host: '*.anthropic.com' cannot have a credential; name one host in full"),
        ({"host": "192.0.2.1"}, "host: '192.0.2.1' cannot have a credential; give a name, not an address"),
        ({"header": "host"}, "header: host belongs to the connection; choose another"),
        ({"scheme": "basic"}, "user: the scheme basic needs one, and only that; add or remove it"),
        ({"user": "me"}, "user: the scheme basic needs one, and only that; add or remove it"),
    ],
)
def test_a_credential_that_cannot_be_added_is_told(changes: dict[str, str], problem: str):
    found = problems({"egress": {"credentials": {"agent": {**AGENT, **changes}}}, "secrets": ["AGENT_API_KEY"]})
    assert found == [f"egress.credentials.agent: {problem}"]


def test_names_and_headers_are_checked():
    found = problems({"egress": {"credentials": {"Agent": {**AGENT, "header": "X-Api-Key", "secret": "a-b"}}}})
    assert found == [
        "egress.credentials.Agent.secret: give the name of a secret, such as AGENT_API_KEY",
        "egress.credentials.Agent.header: give the name of a header in lower case, such as x-api-key",
    ]
    known = {"credentials": {"Agent": AGENT}}
    assert problems({"egress": known}) == [
        "egress.credentials: 'Agent' cannot name a credential; use 1 to 32 lower-case letters, digits and hyphens"
    ]


def test_a_credential_has_a_secret_and_is_for_hosts_that_its_keys_reach():
    assert problems({"egress": {"credentials": {"agent": AGENT}}}) == [
        "egress.credentials.agent.secret: AGENT_API_KEY is no secret of the Worker; name it under `secrets`"
    ]
    assert problems(with_key({}, credentials=["git"])) == [
        "access.api_keys.ci.credentials: there is no credential git; define it under egress.credentials"
    ]
    unreached = (
        "access.api_keys.ci.credentials: agent is for api.anthropic.com, which the key's sandboxes may not reach; add "
        "the host to the key's egress, or remove the credential"
    )
    assert problems(with_key({"allow": "off"}, credentials=["agent"])) == [unreached]
    assert problems(with_key({}, credentials=["agent"], egress=["*.example.com"])) == [unreached]
    SandboxSettings.parse(with_key({"allow": "off"}, credentials=["agent"], egress=["*.anthropic.com"]))
    SandboxSettings.parse(with_key({}, credentials=["agent"]))


def test_the_worker_is_told():
    assert EgressSettings.parse({}).variables == {}
    assert EgressSettings.parse({"allow": "off"}).variables == {"EGRESS": '"off"'}
    said = EgressSettings.parse({"allow": ["github.com"], "credentials": {"agent": AGENT, "git": GIT}}).variables
    assert json.loads(said["EGRESS"]) == ["github.com"]
    plain = {name: value for name, value in AGENT.items() if name != "scheme"}
    assert json.loads(said["EGRESS_CREDENTIALS"]) == {"agent": plain, "git": {"header": "authorization", **GIT}}


def test_keys_without_bounds_are_told_as_before():
    (key,) = json.loads(SandboxSettings.parse(with_key({})).access.api_keys_json)
    assert sorted(key) == ["id", "scopes", "sha256", "tenant"]
    bound = with_key({}, egress=["api.anthropic.com"], credentials=["agent"])
    (key,) = json.loads(SandboxSettings.parse(bound).access.api_keys_json)
    assert (key["egress"], key["credentials"]) == (["api.anthropic.com"], ["agent"])


@pytest.mark.parametrize(
    ("host", "reached"),
    [("a.test.example", True), ("b.a.test.example", True), ("test.example", False), ("xtest.example", False)],
)
def test_a_wildcard_means_what_is_below(host: str, reached: bool):
    assert covers(("*.test.example",), host) == reached
    assert covers("on", host)
    assert not covers("off", host)


def test_the_guide_shows_settings_that_deploy():
    page = (ROOT / "docs/worker/egress.md").read_text()
    (example,) = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    settings = SandboxSettings.parse(yaml.safe_load(example))
    assert sorted(settings.egress.credentials) == ["agent", "git", "registry"]
    assert found(settings) == []


def found(settings: SandboxSettings) -> list[tuple[str, str, str]]:
    return [
        (each.rule, each.where, each.what)
        for each in check(facts(settings), today=date(2026, 11, 18))
        if each.rule.startswith("egress/")
    ]


def test_secrets_that_enter_sandboxes_are_told():
    entering = {"secrets": ["AGENT_API_KEY", "GITHUB_TOKEN", "MODEL_API_KEY"]}
    rule = "egress/entering-secret"
    assert found(SandboxSettings.parse(entering)) == [
        (rule, "secrets", "AGENT_API_KEY enters the sandboxes that use it"),
        (rule, "secrets", "GITHUB_TOKEN enters the sandboxes that use it"),
    ]
    # What a Worker of one's own does with them is not known.
    assert found(SandboxSettings.parse({**entering, "worker": {"entry": "src/index.ts"}})) == []
    assert found(SandboxSettings.parse(with_key({}))) == [
        ("egress/unused-credential", "egress.credentials.agent", "no API key may use the credential agent")
    ]
