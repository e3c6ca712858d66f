"""Custom certificates: what is read from one, what is refused, and that its key comes out nowhere."""

from datetime import UTC, datetime
from typing import Any

import pytest
from cloudflare import Cloudflare, NotFoundError
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from testbed.emulator.certificates import DAY, certificate_for, pem_of


@pytest.fixture(scope="module")
def key() -> Any:
    return ec.generate_private_key(ec.SECP256R1())


@pytest.fixture
def path(zone: str) -> str:
    return f"/zones/{zone}/custom_certificates"


def test_life_of_a_certificate(client: Cloudflare, raw: Any, zone: str, key: Any):
    own = client.custom_certificates
    chain = certificate_for(key, is_authority=True) + certificate_for(key, "sandbox.example", "*.sandbox.example")
    made = own.create(zone_id=zone, certificate=chain, private_key=pem_of(key), bundle_method="force")
    assert made is not None
    assert made.hosts == ["sandbox.example", "*.sandbox.example"]
    assert (made.issuer, made.signature, made.status) == ("Example Trust", "ECDSAWithSHA256", "active")
    assert (made.zone_id, made.bundle_method, made.priority) == (zone, "force", 1)
    assert made.expires_on is not None
    assert abs(made.expires_on - datetime.now(UTC) - 30 * DAY) < DAY
    other = rsa.generate_private_key(65537, 2048)
    renewed = own.edit(
        made.id, zone_id=zone, certificate=certificate_for(other, "sandbox.example"), private_key=pem_of(other)
    )
    assert renewed is not None
    assert (renewed.id, renewed.hosts, renewed.signature) == (made.id, ["sandbox.example"], "SHA256WithRSA")
    raw.advance(31 * 86400)
    assert [each.id for each in own.list(zone_id=zone, status="expired", match="any")] == [made.id]
    assert not list(own.list(zone_id=zone, status="active"))
    own.delete(made.id, zone_id=zone)
    with pytest.raises(NotFoundError):
        own.get(made.id, zone_id=zone)


def test_a_certificate_for_sni_is_another_one_when_changed(client: Cloudflare, zone: str, key: Any):
    own, certificate = client.custom_certificates, certificate_for(key, "sandbox.example")
    made = own.create(zone_id=zone, certificate=certificate, private_key=pem_of(key), type="sni_custom")
    assert made is not None
    changed = own.edit(made.id, zone_id=zone, bundle_method="optimal", geo_restrictions={"label": "eu"})
    assert changed is not None
    assert changed.id != made.id
    assert (changed.hosts, changed.bundle_method) == (made.hosts, "optimal")
    assert [each.id for each in own.list(zone_id=zone)] == [changed.id]


def test_the_key_comes_out_nowhere(raw: Any, path: str, key: Any):
    secret = pem_of(key)
    middle = secret.splitlines()[1]
    body = {"certificate": certificate_for(key, "sandbox.example"), "private_key": secret}
    made = raw.api("POST", path, json=body)
    one = f"{path}/{made.json()['result']['id']}"
    changed = raw.api("PATCH", one, json={"bundle_method": "optimal"})
    for answer in (made, changed, raw.api("GET", path), raw.api("GET", one), raw.api("DELETE", one)):
        assert answer.status_code == 200
        assert middle not in answer.text
        assert "private_key" not in answer.text
    assert middle not in str(raw.control("GET", "/journal"))


def test_the_key_is_sealed_at_rest(raw: Any, path: str, key: Any):
    raw.api("POST", path, json={"certificate": certificate_for(key, "sandbox.example"), "private_key": pem_of(key)})
    (kept,) = raw.emulator.state.store.select("custom_certificate_pair", path.split("/")[2])
    assert kept.keys() == {"certificate", "key"}
    assert raw.emulator.state.vault.open(kept["key"]) == pem_of(key)
    assert pem_of(key).splitlines()[1] not in kept["key"]


def test_what_is_refused(raw: Any, path: str, key: Any):
    good = {"certificate": certificate_for(key, "sandbox.example"), "private_key": pem_of(key)}
    stranger = pem_of(ec.generate_private_key(ec.SECP256R1()))
    for change, code in (
        ({"certificate": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}, 1002),
        ({"certificate": "no certificate"}, 1002),
        ({"certificate": certificate_for(key, is_authority=True)}, 2101),
        ({"certificate": certificate_for(key, "elsewhere.example")}, 2103),
        ({"certificate": certificate_for(key)}, 2103),
        ({"private_key": "no key"}, 2106),
        ({"private_key": stranger}, 2200),
        ({"bundle_method": "best"}, 1434),
        ({"deploy": "staging"}, 1434),
    ):
        status, got, _ = raw.refusal("POST", path, json={**good, **change})
        assert (status, got) == (400, code), change
    made = raw.api("POST", path, json=good).json()["result"]["id"]
    assert raw.refusal("PATCH", f"{path}/{made}", json={"private_key": stranger})[1] == 2200
    assert raw.refusal("POST", path, json=good)[1] == 1212
