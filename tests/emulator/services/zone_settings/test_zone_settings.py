"""Zone settings: every one the SDK knows, Cloudflare's defaults, what is refused."""

from typing import Any, get_args

import pytest
from cloudflare import BadRequestError, Cloudflare
from cloudflare.types.zones import setting_get_response

from emulator.services.zone_settings.catalogue import SETTINGS


def known_to_the_sdk() -> set[str]:
    """The ids in the union that the SDK reads a setting as."""
    fields = [kind.model_fields["id"] for kind in get_args(setting_get_response.SettingGetResponse)]
    names = [get_args(field.annotation) for field in fields]
    return {name if isinstance(name, str) else get_args(name)[0] for name, *_ in names}


def test_every_setting_of_the_sdk_is_there(client: Cloudflare, raw: Any, zone: str):
    assert set(SETTINGS) == known_to_the_sdk()
    listed = raw.api("GET", f"/zones/{zone}/settings").json()["result"]
    assert [each["id"] for each in listed] == sorted(SETTINGS)
    for each in listed:
        assert each["modified_on"] is None
        read: Any = client.zones.settings.get(each["id"], zone_id=zone)
        assert read.id == each["id"]


def test_a_setting_is_kept(client: Cloudflare, raw: Any, zone: str):
    settings = client.zones.settings
    before: Any = settings.get("min_tls_version", zone_id=zone)
    assert before.value == "1.0"
    changed: Any = settings.edit("min_tls_version", zone_id=zone, value="1.2")
    assert changed.value == "1.2"
    assert changed.modified_on is not None
    header = {"strict_transport_security": {"enabled": True, "max_age": 86400}}
    settings.edit("security_header", zone_id=zone, value=header)
    settings.edit("ssl_recommender", zone_id=zone, enabled=True)
    listed = {each["id"]: each for each in raw.api("GET", f"/zones/{zone}/settings").json()["result"]}
    assert listed["min_tls_version"]["value"] == "1.2"
    assert listed["security_header"]["value"] == header
    assert listed["ssl_recommender"]["enabled"] is True
    other = raw.api("POST", "/zones", json={"name": "second.example", "account": {"id": raw.emulator.account_id}})
    elsewhere = raw.api("GET", f"/zones/{other.json()['result']['id']}/settings/min_tls_version").json()["result"]
    assert elsewhere["value"] == "1.0"


@pytest.mark.parametrize(
    ("setting", "body"),
    [
        ("ssl", {"value": "strongest"}),
        ("ssl", {"value": None}),
        ("ssl", {}),
        ("ssl", []),
        ("cache_level", {"value": "bypass"}),
        ("browser_cache_ttl", {"value": "14400"}),
        ("browser_cache_ttl", {"value": True}),
        ("challenge_ttl", {"value": 301}),
        ("ciphers", {"value": "AES128-SHA"}),
        ("security_header", {"value": {"strict_transport_security": {"enabled": "yes"}}}),
    ],
)
def test_bad_values_are_refused(raw: Any, zone: str, setting: str, body: Any):
    refused = raw.refusal("PATCH", f"/zones/{zone}/settings/{setting}", json=body)
    assert refused == (400, 1007, f"Invalid value for zone setting {setting}")


def test_what_is_not_known_or_not_in_the_plan_is_refused(client: Cloudflare, raw: Any, zone: str):
    path = f"/zones/{zone}/settings"
    with pytest.raises(BadRequestError, match="Undefined zone setting: bot_fight_mode"):
        client.zones.settings.get("bot_fight_mode", zone_id=zone)
    assert raw.refusal("PATCH", f"{path}/bot_fight_mode", json={"value": "on"})[1] == 1003
    assert raw.api("GET", f"{path}/polish").json()["result"]["editable"] is False
    refused = raw.refusal("PATCH", f"{path}/polish", json={"value": "lossy"})
    assert refused == (400, 1015, "Not allowed to edit setting for polish")


def test_development_mode_ends_by_itself(raw: Any, zone: str):
    path = f"/zones/{zone}/settings/development_mode"
    changed = raw.api("PATCH", path, json={"value": "on"}).json()["result"]
    assert changed["value"] == "on"
    assert 10_000 < changed["time_remaining"] <= 10_800
    raw.advance(3 * 3600 + 1)
    ended = raw.api("GET", path).json()["result"]
    assert (ended["value"], ended["time_remaining"]) == ("off", 0)
