"""How a key is replaced in the settings."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from components.deployed import rotation
from components.deployed.history import keys, read_history, settings_of
from components.errors import UserError

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
OLD = {"sha256": "0" * 64, "tenant": "123", "scopes": ["exec"], "egress": "on", "requests_per_minute": 5}
WEEK = timedelta(days=7)


def test_the_new_key_takes_the_name_and_the_old_one_an_end():
    change = rotation.begun({"team": OLD, "ci": OLD}, "team", "1" * 64, NOW, WEEK)
    assert change.ends == "2026-11-25T12:00:00Z"
    assert change.keys == {
        "team": {**OLD, "sha256": "1" * 64, "created": "2026-11-18"},
        "ci": OLD,
        "team.until-2026-11-25": {**OLD, "not_after": "2026-11-25T12:00:00Z"},
    }
    after = rotation.finished(change.keys, "team")
    assert (after.removed, set(after.keys)) == (("team.until-2026-11-25",), {"team", "ci"})


def test_an_end_that_comes_sooner_stays_the_end_of_the_old_one_alone():
    given = {**OLD, "not_after": "2026-11-20T00:00:00Z"}
    change = rotation.begun({"team": given}, "team", "1" * 64, NOW, WEEK)
    assert change.ends == "2026-11-20T00:00:00Z"
    assert "not_after" not in change.keys["team"]


def test_a_long_name_stays_a_name():
    name = "n" * 64
    change = rotation.begun({name: OLD}, name, "1" * 64, NOW, WEEK)
    (kept,) = set(change.keys) - {name}
    assert len(kept) == 64
    assert rotation.finished(change.keys, name).removed == (kept,)


@pytest.mark.parametrize(
    ("given", "name", "reason"),
    [
        ({}, "team", "--id team: the settings have no such key; they have none"),
        ({"ci": OLD}, "team", "they have ci"),
        ({"team": OLD, "team.until-2026-11-20": OLD}, "team", "is being replaced already"),
        ({"team": {**OLD, "not_after": "2026-01-01T00:00:00Z"}}, "team", "the key ended at 2026-01-01"),
    ],
)
def test_what_cannot_be_replaced_is_refused(given: rotation.Keys, name: str, reason: str):
    with pytest.raises(UserError, match=reason):
        rotation.begun(given, name, "1" * 64, NOW, WEEK)


def test_there_has_to_be_something_to_finish():
    with pytest.raises(UserError, match="nothing of it is being replaced"):
        rotation.finished({"team": OLD}, "team")


@pytest.mark.parametrize(("text", "days"), [("7d", 7), ("12h", 0.5), ("1440m", 1)])
def test_overlaps(text: str, days: float):
    assert rotation.overlap(text) == timedelta(days=days)


@pytest.mark.parametrize("text", ["", "7", "0d", "-1d", "1w", "12345d"])
def test_what_is_no_overlap(text: str):
    with pytest.raises(ValueError, match="is no duration"):
        rotation.overlap(text)


def test_the_configuration_keeps_what_is_not_a_key():
    settings = {"environment": "lasting", "access": {"api_keys": {"team": OLD}, "zero_trust": {"x": 1}}}
    change = rotation.begun({"team": OLD}, "team", "1" * 64, NOW, WEEK)
    said = json.loads(rotation.configuration("p:settings", settings, change))
    name, written = settings_of(said)
    assert (name, written["environment"]) == ("p:settings", "lasting")
    assert written["access"]["zero_trust"] == {"x": 1}
    assert json.loads(said["p:settings"]["value"]) == written
    assert written["access"]["api_keys"]["team"]["requests_per_minute"] == 5


def test_settings_that_hold_a_secret_cannot_be_read():
    assert settings_of({"p:settings": {"value": "[secret]", "secret": True}}) == ("", {})
    assert settings_of({"p:other": {"value": "x", "secret": False}}) == ("", {})


def test_keys_of_a_history():
    config = {"p:settings": {"objectValue": {"access": {"api_keys": {"team": {**OLD, "created": "2026-01-18"}}}}}}
    text = json.dumps([{"kind": "update", "result": "succeeded", "config": config}, {"kind": "preview"}])
    (update,) = read_history(text, "here")
    (key,) = update.keys
    assert (key.id, key.tenant, key.days(NOW.date())) == ("team", "123", 304)
    assert keys({"access": {"api_keys": {"team": {"created": "then"}}}})[0].days(NOW.date()) is None
    assert read_history("", "here") == ()
    with pytest.raises(UserError, match="here: is no history of a Pulumi stack"):
        read_history("{", "here")
