"""Accounts, memberships, the user and zones through the official SDK."""

from typing import Any

import pytest
from cloudflare import Cloudflare, NotFoundError

from testbed.emulator.workers_upload import Uploads


def test_accounts_and_user(client: Cloudflare, raw: Any, account: str):
    assert [found.id for found in client.accounts.list()] == [account]
    assert client.accounts.get(account_id=account).name == "Emulated account"
    assert [found.status for found in client.memberships.list()] == ["accepted"]
    assert client.user.get().email == "owner@sandbox.example"
    assert raw.api("GET", "/accounts?page=2").json()["result"] == []


def test_an_unknown_account_cannot_be_routed(raw: Any):
    path = f"/accounts/{'0' * 32}"
    assert raw.refusal("GET", path) == (
        404,
        7003,
        f"Could not route to /client/v4{path}, perhaps your object identifier is invalid?",
    )


def test_life_of_a_zone(client: Cloudflare, account: str):
    made = client.zones.create(account={"id": account}, name="More.example", type="full")
    assert (made.name, made.status) == ("more.example", "active")
    assert client.zones.get(zone_id=made.id).created_on == made.created_on
    changed = client.zones.edit(zone_id=made.id, paused=True)
    assert changed.paused
    client.dns.records.create(zone_id=made.id, name="a", type="A", content="192.0.2.1", ttl=60)
    client.zones.delete(zone_id=made.id)
    with pytest.raises(NotFoundError):
        client.zones.get(zone_id=made.id)


def test_a_deleted_zone_takes_its_content_along(client: Cloudflare, raw: Any, account: str):
    made = client.zones.create(account={"id": account}, name="more.example", type="full")
    client.dns.records.create(zone_id=made.id, name="a", type="A", content="192.0.2.1", ttl=60)
    assert not raw.control("GET", "/state")["empty"]
    client.zones.delete(zone_id=made.id)
    assert raw.control("GET", "/state")["empty"]


def test_a_deleted_zone_takes_custom_domains_along(client: Cloudflare, raw: Any, account: str):
    zones = [client.zones.create(account={"id": account}, name=f"{name}.example", type="full") for name in "ab"]
    workers, buckets = f"/accounts/{account}/workers", f"/accounts/{account}/r2/buckets"
    Uploads(raw).put("app")
    client.r2.buckets.create(account_id=account, name="data")
    custom = f"{buckets}/data/domains/custom"
    for zone in zones:
        raw.api("PUT", f"{workers}/domains", json={"hostname": f"app.{zone.name}", "service": "app"})
        domain = {"domain": f"data.{zone.name}", "zoneId": zone.id, "enabled": True}
        assert raw.api("POST", custom, json=domain).status_code == 200
        raw.api("PUT", f"{custom}/{domain['domain']}", json={"enabled": False})
    raw.api("PATCH", f"{workers}/workers/app", json={"name": "renamed"})
    client.zones.delete(zone_id=zones[0].id)
    assert [each["hostname"] for each in raw.api("GET", f"{workers}/domains").json()["result"]] == ["app.b.example"]
    assert [each["domain"] for each in raw.api("GET", custom).json()["result"]["domains"]] == ["data.b.example"]


def test_a_zone_keeps_what_it_was_created_with(raw: Any, account: str):
    given = {"paused": True, "type": "partial", "vanity_name_servers": ["ns1.more.example", "ns2.more.example"]}
    body = {"name": "more.example", "account": {"id": account}, **given}
    made = raw.api("POST", "/zones", json=body).json()["result"]
    read = raw.api("GET", f"/zones/{made['id']}").json()["result"]
    assert {name: read[name] for name in given} == {name: made[name] for name in given} == given


def test_zone_filters(client: Cloudflare, raw: Any, account: str):
    assert [zone.name for zone in client.zones.list()] == ["preview.example", "sandbox.example", "sandbox.localhost"]
    assert [zone.name for zone in client.zones.list(name="sandbox.example")] == ["sandbox.example"]
    assert len(list(client.zones.list(account={"id": account}, per_page=5))) == 3
    assert not list(client.zones.list(account={"id": "f" * 32}))
    assert not list(client.zones.list(status="pending"))
    assert raw.api("GET", "/zones?page=2").json()["result"] == []


def test_list_of_zones_over_several_pages(client: Cloudflare, account: str):
    for number in range(12):
        client.zones.create(account={"id": account}, name=f"zone{number:02}.example", type="full")
    names = [zone.name for zone in client.zones.list(per_page=5)]
    assert len(names) == 15
    assert names == sorted(names)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"name": "sandbox.example"}, 400, 1061),
        ({"name": "not a name"}, 400, 1105),
        ({"name": 5}, 400, 1006),
    ],
)
def test_zone_refusals(raw: Any, account: str, body: Any, status: int, code: int):
    assert raw.refusal("POST", "/zones", json={"account": {"id": account}, **body})[:2] == (status, code)


def test_a_zone_in_a_foreign_account_is_refused(raw: Any):
    status, code, message = raw.refusal("POST", "/zones", json={"account": {"id": "f" * 32}, "name": "x.example"})
    assert (status, code) == (403, 1068)
    assert message == 'Permission denied: requires permission "com.cloudflare.api.account.zone.create"'


def test_accounts_are_made_while_it_runs(client: Cloudflare, raw: Any, account: str):
    made = raw.control("POST", "/accounts", json={"name": "Another", "zones": ["more.example"]})
    assert [found.id for found in client.accounts.list()] == [account, made["id"]]
    assert [zone.name for zone in client.zones.list(account={"id": made["id"]})] == ["more.example"]
    again = raw.control("POST", "/accounts", json={"id": made["id"], "zones": ["more.example", "most.example"]})
    assert again == made
    assert [zone.name for zone in client.zones.list(account={"id": made["id"]})] == ["more.example", "most.example"]
    assert raw.api("GET", f"/accounts/{made['id']}/workers/scripts").json()["result"] == []
    answer = raw.http.post(f"{raw.emulator.origin}/_emulator/accounts", json={"zones": ["no zone"]})
    assert answer.status_code == 400
