"""The policy pack that is told to ask the account: it judges by the answer, and what it could not ask it says."""

from pathlib import Path
from typing import Any

import pytest

from components.crossguard.asking import ask, question
from components.crossguard.pack import ACCOUNT, ConfigError, Pack, Setting
from components.crossguard.resource import Resource
from components.errors import UserError
from components.platform.sdk import OFFICIAL_IMAGE
from components.pulumi_protocol.values import UNKNOWN
from emulator.settings import Account
from emulator.testing import running
from testbed.account import EmulatedAccount
from tests.policy.examples import TODAY
from tests.policy.ways import APPLICATION, SCRIPT, URN, resource

ASKING = {ACCOUNT: Setting("mandatory", {"ask": True})}


def program(account_id: str, zone: str) -> list[Resource]:
    script = {
        "accountId": account_id,
        "scriptName": "box",
        "compatibilityDate": "2026-08-04",
        "observability": {"enabled": True},
        "bindings": {"Sandbox": {"type": "durable_object_namespace", "className": "Sandbox"}},
        "classes": {"Sandbox": {"container": {}}},
    }
    application = {"scriptName": "box", "className": "Sandbox", "image": OFFICIAL_IMAGE, "maxInstances": 1}
    return [
        Resource(SCRIPT, "worker", URN.format(SCRIPT, "worker"), script),
        resource(APPLICATION, application),
        resource("cloudflare:index/workersRoute:WorkersRoute", {"zoneId": zone, "pattern": "a/*", "script": "box"}),
    ]


def reports(pack: Pack, resources: list[Resource]) -> dict[str, str]:
    return {each.policy: each.text for each in pack.on_stack(resources)}


@pytest.fixture
def account(tmp_path: Path):
    with running(tmp_path, accounts=(Account(zones=("a.example",)),)) as served:
        found = EmulatedAccount(served)
        yield found
        found.http.close()


def mint(account: EmulatedAccount, *names: str) -> dict[str, str]:
    """Return the environment of a token that has these on the account and may read itself."""
    ids = {
        each["name"]: each["id"]
        for each in account.api("GET", "/tokens/permission_groups", params={"scope": "com.cloudflare.api.account"})
    }
    policy = {
        "effect": "allow",
        "resources": {f"com.cloudflare.api.account.{account.account}": "*"},
        "permission_groups": [{"id": ids[name]} for name in ("Account API Tokens Read", *names)],
    }
    made = account.api("POST", "/tokens", json={"name": "t", "policies": [policy]})
    return {**account.env, "CLOUDFLARE_API_TOKEN": made["value"]}


def test_it_judges_by_what_the_account_says(account: EmulatedAccount):
    zone = account.http.get(f"{account.url}/zones").json()["result"][0]["id"]
    env = mint(account, "Workers Scripts Write", "D1 Write")
    resources = program(account.account, zone)
    account.clear_journal()
    found = reports(Pack(TODAY, ASKING, lambda those: ask(those, env)), resources)
    assert {"auth-token-lacks", "auth-token-expires", "auth-token-surplus"} <= found.keys()
    assert "D1 Write" in found["auth-token-surplus"]
    assert {each["method"] for each in account.journal()} == {"GET"}
    texts = [
        each.text
        for each in Pack(TODAY, ASKING, lambda those: ask(those, env)).on_stack(resources)
        if each.policy == "auth-token-lacks"
    ]
    assert [text.partition(" [")[0].partition("lacks ")[2] for text in texts] == [
        "Workers Containers Write",
        f"Workers Routes Write ({zone})",
    ]


def test_what_other_resources_need_is_not_called_too_much(account: EmulatedAccount):
    env = mint(account, "Workers Scripts Write", "D1 Write")
    others = [*program(account.account, "0" * 32), resource("cloudflare:index/d1Database:D1Database", {"name": "d"})]
    assert "auth-token-surplus" not in reports(Pack(TODAY, ASKING, lambda those: ask(those, env)), others)


def test_it_asks_nobody_unless_it_is_told_to(account: EmulatedAccount):
    def never(_: Any) -> Any:
        raise AssertionError

    for settings in ({}, {ACCOUNT: Setting("off", {"ask": True})}, {ACCOUNT: Setting("mandatory", {"ask": False})}):
        assert ACCOUNT not in reports(Pack(TODAY, settings, never), program(account.account, "0" * 32))


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({}, "set CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN where the engine runs"),
        (
            {"CLOUDFLARE_API_TOKEN": "t" * 40, "CLOUDFLARE_ACCOUNT_ID": "0" * 32}
            | {"CLOUDFLARE_BASE_URL": "http://127.0.0.1:9/client/v4"},
            "does not answer",
        ),
    ],
)
def test_what_could_not_be_asked_is_a_violation(environment: dict[str, str], told: str):
    """The rules that need no answer judge all the same."""
    resources = program("0" * 32, "0" * 32)
    pack = Pack(TODAY, ASKING, lambda those: ask(those, environment))
    (report,) = (each for each in pack.on_stack(resources) if each.policy == ACCOUNT)
    assert report.level == "mandatory"
    assert report.text.startswith("the account was to be asked and could not be: ")
    assert told in report.text
    with pytest.raises(UserError):
        ask(resources, environment)


def test_a_wrong_setting_is_refused():
    with pytest.raises(ConfigError, match=r"account\.ask: expected true or false, not 'yes'"):
        Pack(TODAY, {ACCOUNT: Setting("mandatory", {"ask": "yes"})})


def test_what_is_not_known_yet_is_not_asked_about():
    unknown: Any = UNKNOWN
    found = question(program("0" * 32, unknown), "box")
    assert [each.label for each in found.needs] == ["Workers Scripts Write", "Workers Containers Write"]
