"""DNS records through the official SDK, and their refusals."""

from typing import Any

import pytest
from cloudflare import Cloudflare, NotFoundError


def test_life_of_a_record(client: Cloudflare, zone: str):
    made = client.dns.records.create(
        zone_id=zone, name="*.preview", type="CNAME", content="target.example.net", ttl=1, proxied=True, comment="why"
    )
    assert made.name == "*.preview.sandbox.example"
    read = client.dns.records.get(made.id, zone_id=zone)
    assert (read.content, read.proxied, read.ttl, read.comment) == ("target.example.net", True, 1, "why")
    replaced = client.dns.records.update(
        made.id, zone_id=zone, name="*.preview.sandbox.example", type="CNAME", content="other.example.net", ttl=300
    )
    assert (replaced.content, replaced.proxied, replaced.comment) == ("other.example.net", False, None)
    changed = client.dns.records.edit(made.id, zone_id=zone, name="*.preview", type="CNAME", ttl=300, comment="because")
    assert (changed.content, changed.comment) == ("other.example.net", "because")
    assert changed.created_on == made.created_on
    client.dns.records.delete(made.id, zone_id=zone)
    with pytest.raises(NotFoundError, match="81044"):
        client.dns.records.get(made.id, zone_id=zone)


def test_list_over_several_pages_and_filters(client: Cloudflare, raw: Any, zone: str):
    for number in range(45):
        client.dns.records.create(zone_id=zone, name=f"n{number}", type="A", content=f"192.0.2.{number}", ttl=60)
    client.dns.records.create(zone_id=zone, name="n1", type="TXT", content='"text"', ttl=60)
    assert len(list(client.dns.records.list(zone_id=zone, per_page=20))) == 46
    assert len(list(client.dns.records.list(zone_id=zone, type="TXT"))) == 1
    assert len(list(client.dns.records.list(zone_id=zone, name={"exact": "N1.sandbox.example"}))) == 2
    assert len(list(client.dns.records.list(zone_id=zone, content={"startswith": "192.0.2.4"}))) == 6
    answer = raw.api("GET", f"/zones/{zone}/dns_records", params={"page": 3, "per_page": 20}).json()
    assert answer["result_info"] == {"page": 3, "per_page": 20, "count": 6, "total_count": 46, "total_pages": 3}
    assert raw.api("GET", f"/zones/{zone}/dns_records", params={"page": 4, "per_page": 20}).json()["result"] == []


def test_structured_records(client: Cloudflare, zone: str):
    made = client.dns.records.create(
        zone_id=zone,
        name="_sip._tcp",
        type="SRV",
        ttl=60,
        data={"priority": 10, "weight": 5, "port": 5060, "target": "sip.sandbox.example"},
    )
    assert made.content == "10 5 5060 sip.sandbox.example"


GOOD = {"name": "www", "type": "A", "content": "192.0.2.1", "ttl": 60}


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"content": "nonsense"}, 9005, "Content for A record must be a valid IPv4 address."),
        ({"type": "AAAA"}, 9006, "Content for AAAA record must be a valid IPv6 address."),
        ({"type": "CNAME", "content": "a b"}, 9007, "Content for CNAME record is invalid."),
        ({"type": "CNAME", "content": "www.sandbox.example"}, 9039, "CNAME content cannot reference itself."),
        ({"ttl": 5}, 9021, "Invalid TTL. Must be between 60 and 86,400 seconds, or 1 for Automatic."),
        ({"type": "TXT", "proxied": True}, 9004, "This record type cannot be proxied."),
        ({"type": "MX", "content": "mail.example.net"}, 9101, "priority is a required field."),
        ({"name": "a..b"}, 9000, "DNS name is invalid."),
        ({"proxyed": True}, 9207, "Request body is invalid: proxyed is not a known field."),
        ({"content": 5}, 9207, "Request body is invalid: content must be a string."),
        ({"type": "BOGUS"}, 9207, "type must be one of A, AAAA"),
    ],
)
def test_refusals(raw: Any, zone: str, change: Any, code: int, message: str):
    status, got, text = raw.refusal("POST", f"/zones/{zone}/dns_records", json={**GOOD, **change})
    assert (status, got) == (400, code)
    assert message in text


@pytest.mark.parametrize(
    ("second", "code", "message"),
    [
        (GOOD, 81058, "An identical record already exists."),
        (
            {**GOOD, "type": "CNAME", "content": "other.example.net"},
            81053,
            "An A, AAAA, or CNAME record with that host already exists.",
        ),
        ({**GOOD, "name": "alias"}, 81054, "A CNAME record with that host already exists."),
    ],
)
def test_conflicts(raw: Any, zone: str, second: Any, code: int, message: str):
    path = f"/zones/{zone}/dns_records"
    assert raw.api("POST", path, json=GOOD).status_code == 200
    alias = {**GOOD, "name": "alias", "type": "CNAME", "content": "other.example.net"}
    assert raw.api("POST", path, json=alias).status_code == 200
    assert raw.refusal("POST", path, json=second) == (400, code, message)


def test_what_was_sent_comes_back(raw: Any, zone: str):
    path = f"/zones/{zone}/dns_records"
    sent = {**GOOD, "name": "MiXed", "proxied": False, "tags": ["a:b"], "comment": "c"}
    made = raw.api("POST", path, json=sent).json()["result"]
    read = raw.api("GET", f"{path}/{made['id']}").json()["result"]
    assert read == made
    assert {name: read[name] for name in sent} == {**sent, "name": "MiXed.sandbox.example"}
