"""State and rules of custom certificates.

What can be told from a certificate is read from it; the certificate itself and its key are kept beside, the key sealed.
"""

from typing import Any

from emulator.calls import Call
from emulator.clock import parse_stamp, stamp, uuid_id
from emulator.schema import without_nulls
from emulator.services.zones.rules import in_zone
from emulator.store import Document

from . import errors, pem

KIND, PAIR = "custom_certificate", "custom_certificate_pair"
_HIDDEN = frozenset({"type", "fingerprint"})
_CHOSEN = ("bundle_method", "geo_restrictions", "type")


def upload(call: Call, body: Document) -> Document:
    """Add a certificate with its key."""
    if call.store.count(KIND, call.zone["id"]) >= call.zone["meta"]["custom_certificate_quota"]:
        raise errors.FULL()
    given = {"bundle_method": "ubiquitous", "type": "legacy_custom", **without_nulls(body)}
    read = _read(call, given["certificate"], given["private_key"])
    if call.store.find(KIND, call.zone["id"], "fingerprint", read["fingerprint"]):
        raise errors.TWIN()
    made = {**_chosen(given), **read, "id": uuid_id(), "priority": 1, "uploaded_on": call.world.clock.stamp()}
    return _put(call, made, given["certificate"], call.world.vault.seal(given["private_key"]))


def change(call: Call, body: Document) -> Document:
    """Give a certificate other content or options; one for SNI is another one afterwards, with an id of its own."""
    former, given = get(call), without_nulls(body)
    pair: Any = call.store.get(PAIR, call.zone["id"], former["id"])
    certificate = given.get("certificate", pair["certificate"])
    key = given.get("private_key") or call.world.vault.open(pair["key"])
    made = {**former, **_chosen(given), **_read(call, certificate, key)}
    if former["type"] == "sni_custom":
        delete(call)
        made["id"] = uuid_id()
    return _put(call, made, certificate, call.world.vault.seal(key))


def _chosen(given: Document) -> Document:
    chosen = {name: given[name] for name in _CHOSEN if name in given}
    policy = given.get("policy") or given.get("policy_restrictions")
    return {**chosen, "policy_restrictions": policy} if policy else chosen


def _read(call: Call, certificate: str, private_key: str) -> Document:
    """What a certificate says, if it is for the zone and the key is its own."""
    leaf = pem.leaf_of(certificate)
    pem.refuse_other_key(leaf, private_key)
    if not any(in_zone(host.removeprefix("*."), call.zone["name"]) for host in leaf.hosts):
        raise errors.FOREIGN()
    return {
        "hosts": leaf.hosts,
        "issuer": leaf.issuer,
        "signature": leaf.signature,
        "fingerprint": leaf.fingerprint,
        "expires_on": stamp(leaf.expires),
    }


def _put(call: Call, made: Document, certificate: str, sealed: str) -> Document:
    made["modified_on"] = call.world.clock.stamp()
    call.store.put(PAIR, call.zone["id"], made["id"], {"certificate": certificate, "key": sealed})
    return call.store.put(KIND, call.zone["id"], made["id"], made, labels={"fingerprint": made["fingerprint"]})


def get(call: Call) -> Document:
    """The path's certificate."""
    found = call.store.get(KIND, call.zone["id"], call.params["custom_certificate_id"])
    if found is None:
        raise errors.NO_CERTIFICATE()
    return found


def delete(call: Call) -> None:
    """Remove the path's certificate and its key."""
    for kind in (KIND, PAIR):
        call.store.delete(kind, call.zone["id"], call.params["custom_certificate_id"])


def view(call: Call, certificate: Document) -> Document:
    """A certificate as the API describes it, without itself and its key."""
    expires = parse_stamp(certificate["expires_on"])
    expired = expires is not None and expires < call.world.clock.now()
    shown = {name: value for name, value in certificate.items() if name not in _HIDDEN}
    return {**shown, "zone_id": call.zone["id"], "status": "expired" if expired else "active"}
