from typing import Any

import pytest
from pydantic import ValidationError

from components.settings import SandboxSettings, SettingsError

NAME_RULE = "use 1 to 32 lower-case letters, digits and hyphens, starting with a letter, ending without a hyphen"


def test_an_empty_document_gives_the_safe_defaults():
    settings = SandboxSettings.parse({})
    assert (settings.name, settings.environment) == ("sandbox", "lasting")


def test_settings_are_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        SandboxSettings.parse({}).name = "other"


@pytest.mark.parametrize("name", ["a", "ab", "my-sandbox-2", "x" * 32])
def test_good_names_pass(name: str):
    assert SandboxSettings.parse({"name": name}).name == name


@pytest.mark.parametrize("name", ["", "A", "2x", "-x", "x-", "x_y", "x" * 33, "ä", "x\n"])
def test_bad_names_say_the_rule(name: str):
    with pytest.raises(SettingsError) as caught:
        SandboxSettings.parse({"name": name})
    assert caught.value.problems == [f"name: {NAME_RULE}"]


def test_all_mistakes_come_in_one_message():
    with pytest.raises(SettingsError) as caught:
        SandboxSettings.parse({"name": 7, "environment": "forever", "colour": "red"})
    assert str(caught.value) == (
        "3 mistakes in the sandbox settings:\n"
        "  name: expected text; put quotes around it\n"
        "  environment: expected 'throw-away' or 'lasting'\n"
        "  colour: no such setting; known are access, account_id, budget, class_name, container, domain, egress, "
        "environment, further_sandboxes, image, name, rules, sdk, secrets, storage, worker"
    )


def test_all_mistakes_between_settings_come_in_one_message():
    with pytest.raises(SettingsError) as caught:
        SandboxSettings.parse(
            {
                "worker": {"entry": "a.ts", "bundle": "b.js", "compatibility_flags": ["nodejs_compat"]},
                "container": {"instance_type": "lite", "size": {"vcpu": 1, "memory_mib": 4096, "disk_mb": 2000}},
            }
        )
    assert [problem.partition(";")[0] for problem in caught.value.problems] == [
        "worker: entry and bundle exclude each other",
        (
            "worker: compatibility_flags: nodejs_compat is added as compatibility_date demands "
            "(from 2026-08-04 on it is an error)"
        ),
        "container: instance_type and size exclude each other",
    ]


@pytest.mark.parametrize(
    ("document", "text"),
    [
        (
            {"worker": {"renamed_classes": {"Old": "SandboxPython"}}},
            (
                "worker.renamed_classes: there is no class Old here; write the present name first, as in "
                "{SandboxPython: FormerName}"
            ),
        ),
        (
            {"worker": {"deleted_classes": ["Sandbox"]}},
            "worker.deleted_classes: class Sandbox is still in use; remove it here or there",
        ),
        (
            {
                "sdk": {"generation": "1.x", "version": "1.0.3"},
                "worker": {"bundle": "b.js"},
                "container": {"name": "own", "jurisdiction": "eu", "max_instances": 3, "logs": False},
            },
            (
                "container: jurisdiction, max_instances cannot be set for SDK 1.x, whose Durable Objects manage "
                "instances themselves; say it in the Worker's code and remove it here"
            ),
        ),
        (
            {
                "sdk": {"generation": "1.x", "version": "1.0.3"},
                "worker": {"bundle": "b.js", "waits_for_images": False},
            },
            ("worker.waits_for_images: a Worker of SDK 1.x names its images and cannot go live before them; remove it"),
        ),
    ],
)
def test_what_would_have_no_effect_is_refused(document: dict[str, Any], text: str):
    with pytest.raises(SettingsError) as caught:
        SandboxSettings.parse(document)
    assert caught.value.problems == [text]


def test_what_yaml_takes_for_something_else_needs_quotes():
    with pytest.raises(SettingsError) as caught:
        SandboxSettings.parse({"rules": {"auth/plain-text-secret": False}})
    assert caught.value.problems == [
        "rules.auth/plain-text-secret: expected 'mandatory', 'advisory' or 'off'; put quotes around it"
    ]


@pytest.mark.parametrize("document", [[], "text", 3])
def test_settings_that_are_no_mapping_are_told_as_such(document: Any):
    with pytest.raises(SettingsError, match="expected a mapping of settings"):
        SandboxSettings.parse(document, name="mine")


def test_defaults_count_where_the_document_is_silent():
    assert SandboxSettings.parse(None, name="mine").name == "mine"
    assert SandboxSettings.parse({"name": "theirs"}, name="mine").name == "theirs"
