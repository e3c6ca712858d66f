"""What programs in other languages give, as settings, and mistakes in their spelling."""

from typing import Any

import pytest

from components import SettingsError
from components.construct import inputs
from components.pulumi_protocol.values import UNKNOWN, Secret


def refusal(given: dict[str, Any], secrets: tuple[str, ...] = ()) -> list[str]:
    with pytest.raises(SettingsError) as refused:
        inputs.settings(given, list(secrets), None)
    return list(map(inputs.respelled, refused.value.problems))


def test_names_of_settings_are_translated_and_keys_of_maps_are_not():
    given = {
        "className": "Sandbox",
        "worker": {
            "entry": "index.ts",
            "variables": {"rateLimit": "1", "max_instances": "2"},
            "routes": [{"pattern": "a.example/*", "zoneId": "b" * 32}],
            "bindings": {"KEYS": {"type": "kv_namespace", "namespace_id": "c" * 32}},
        },
        "furtherSandboxes": {"shell": {"className": "SandboxShell", "image": {"fromImage": None}}},
        "egress": {"allow": ["api.example.com"]},
    }
    read = inputs.settings(given, ["KEY"], "a" * 32)
    assert read.worker.variables == {"rateLimit": "1", "max_instances": "2"}
    assert read.worker.routes[0].zone_id == "b" * 32
    assert read.worker.bindings["KEYS"]["namespace_id"] == "c" * 32
    assert read.further_sandboxes["shell"].class_name == "SandboxShell"
    assert (read.account_id, read.secrets, read.egress.allow) == ("a" * 32, ("KEY",), ("api.example.com",))


def test_the_account_a_program_names_is_the_one():
    assert inputs.settings({"accountId": "b" * 32}, [], "a" * 32).account_id == "b" * 32


def test_what_null_takes_away_in_python_false_takes_away_elsewhere():
    assert inputs.settings({}, [], None).worker.rate_limit is not None
    assert inputs.settings({"worker": {"rateLimit": False}}, [], None).worker.rate_limit is None
    assert refusal({"worker": {"placement": False}}) == ["worker.placement: expected a mapping of settings"]


def test_mistakes_are_told_in_the_spelling_of_the_program():
    given = {
        "className": "x",
        "worker": {"compatibilityDat": "2026-01-01", "routes": [{"pattern": "é"}], "packageVariables": False},
        "container": {"maxInstances": 0},
    }
    assert sorted(refusal(given)) == [
        "className: give the name of a class, such as SandboxPython",
        "container.maxInstances: should be greater than or equal to 1",
        "worker.compatibilityDat: no such setting; did you mean compatibilityDate?",
        "worker.routes[0].pattern: give a pattern such as example.com/api/*",
    ]
    assert refusal({"worker": {"packageVariables": False}}) == [
        "worker.packageVariables: this package's Worker reads them; remove it"
    ]


def test_the_spelling_of_python_is_no_other_way_to_say_it():
    said = refusal({"class_name": "Sandbox", "worker": {"routes": [{"zone_id": "b" * 32}]}})
    assert said == [
        "className: is written like this here, not as in Python",
        "worker.routes[0].zoneId: is written like this here, not as in Python",
    ]


def test_settings_are_known_and_no_secrets():
    given = {"worker": {"variables": {"URL": UNKNOWN, "KEY": Secret("word")}}, "image": {"apt": ["a", UNKNOWN]}}
    assert refusal(given) == [
        "worker.variables.URL: is not known before the run, and settings decide what is made; give a plain value",
        "worker.variables.KEY: is a secret, and settings are kept in clear; give its value in `secrets` instead",
        "image.apt[1]: is not known before the run, and settings decide what is made; give a plain value",
    ]


def test_secrets_may_wait_and_their_names_may_not():
    given = Secret({"KEY": UNKNOWN, "TOKEN": Secret("word"), "NONE": None})
    assert inputs.secrets("secrets", given) == {"KEY": UNKNOWN, "TOKEN": "word"}
    assert inputs.secrets("secrets", None) == {}
    for wrong, said in (
        (UNKNOWN, "secrets: the names are not known before the run; give a map in which values alone wait"),
        (["KEY"], "secrets: expected a mapping of names to values"),
        ({"KEY": 3}, "secrets.KEY: expected text"),
    ):
        with pytest.raises(SettingsError, match=said):
            inputs.secrets("secrets", wrong)
