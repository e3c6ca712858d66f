from typing import Any

import pytest

from components.settings import SettingsError
from components.settings.storage import StorageSettings

BUCKET_RULE = "use 3 to 63 lower-case letters, digits and inner hyphens, as R2 names buckets"


def problems(document: dict[str, Any]) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        StorageSettings.parse(document)
    return caught.value.problems


def test_the_defaults_keep_data_and_are_closed():
    settings = StorageSettings.parse({})
    assert list(settings.buckets) == ["files", "backups", "artifacts"]
    assert (settings.backups.keep_days, settings.backups.token, settings.artifacts.keep_days) == (7, True, None)
    assert (settings.conversations.enabled, settings.events.enabled) == (True, False)
    assert (settings.jurisdiction, settings.location, settings.files.cors_origins) == ("default", None, ())


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"files": {"name": "No"}}, f"files.name: {BUCKET_RULE}"),
        ({"backups": {"name": "ends-"}}, f"backups.name: {BUCKET_RULE}"),
        ({"artifacts": {"name": "x" * 64}}, f"artifacts.name: {BUCKET_RULE}"),
        (
            {"files": {"cors_origins": ["https://a.example/path", "*"]}},
            (
                "files.cors_origins: 'https://a.example/path' is no origin; give scheme and host alone, such as "
                "https://app.example.com; '*' is no origin; give scheme and host alone, such as https://app.example.com"
            ),
        ),
        (
            {"backups": {"keep_days": 2}},
            "backups.keep_days: use 3 to 3650 days; the SDK promises to restore a backup for 3 days",
        ),
        ({"backups": {"keep_days": "7"}}, "backups.keep_days: expected a whole number"),
        ({"backups": {"lock_days": -1}}, "backups.lock_days: use 0 to 3650 days; 0 means no lock"),
        (
            {"backups": {"lock_days": 8}},
            (
                "backups: a lock of 8 days outlasts keep_days of 7, and locked objects are not deleted; "
                "raise keep_days or lower lock_days"
            ),
        ),
        (
            {"backups": {"token_permission_groups": ["Object Read"]}},
            "backups.token_permission_groups: 'Object Read' is no permission group; give its id, 32 hexadecimal digits",
        ),
        (
            {"backups": {"token": False, "token_name": "mine"}},
            "backups: token_name is for the token; set token to true or leave it out",
        ),
        (
            {"backups": {"token": False, "token_permission_groups": ["a" * 32]}},
            "backups: token_permission_groups are for the token; set token to true or leave them out",
        ),
        (
            {"artifacts": {"keep_days": 0}},
            "artifacts.keep_days: use 1 to 3650 days; leave it out to keep artifacts for ever",
        ),
        ({"conversations": {"name": ""}}, "conversations.name: use 1 to 512 characters of plain text"),
        (
            {"events": {"name": "Our_Events"}},
            "events.name: use 1 to 63 lower-case letters, digits and inner hyphens",
        ),
        ({"jurisdiction": "us"}, "jurisdiction: expected 'default', 'eu' or 'fedramp'"),
        ({"location": "mars"}, "location: expected 'apac', 'eeur', 'enam', 'oc', 'weur' or 'wnam'"),
        (
            {"jurisdiction": "eu", "location": "wnam"},
            "location wnam is outside the jurisdiction eu; use one of eeur, weur, or leave it out",
        ),
        (
            {"files": {"name": "shared"}, "artifacts": {"name": "shared"}},
            "files and artifacts have the same name; give each a bucket of its own",
        ),
        ({"files": {"publik": True}}, "files.publik: no such setting; known are cors_origins, enabled, name"),
    ],
)
def test_a_mistake_is_told_with_rule_and_remedy(document: dict[str, Any], problem: str):
    assert problems(document) == [problem]


def test_a_bucket_that_is_off_does_not_claim_its_name():
    document = {"files": {"name": "shared", "enabled": False}, "artifacts": {"name": "shared"}}
    assert list(StorageSettings.parse(document).buckets) == ["backups", "artifacts"]


def test_a_binding_names_one_thing_that_exists():
    existing = {"buckets": {"A": {"name": "one-bucket"}}, "namespaces": {"A": {"id": "a" * 32, "title": "t"}}}
    with pytest.raises(SettingsError, match="existing: A is a bucket and a namespace; rename one"):
        StorageSettings.parse({"existing": existing})
