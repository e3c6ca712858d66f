"""State and rules of custom certificates.

What can be told from a certificate is read from it; the certificate itself and its key are kept beside, the key sealed.
"""

from typing import Any

from emulator.calls import Call, Result
from emulator.clock import parse_stamp, stamp, uuid_id
from emulator.collection import Collection
from emulator.paging import page_of
from emulator.schema import without_nulls
from emulator.services.zones.rules import in_zone
from emulator.store import Document

from . import errors, pem

CERTIFICATES = Collection(
    "custom_certificate", "custom_certificate_id", errors.NO_CERTIFICATE, labels={"fingerprint": "fingerprint"}
)
_PAIR = "custom_certificate_pair"
_STATES = ("", "active", "expired", "deleted", "pending", "initializing")
_HIDDEN = frozenset({"type", "fingerprint"})
_CHOSEN = ("bundle_method", "geo_restrictions", "type")


def list_certificates(call: Call) -> Result:
    """List custom certificates."""
    state = call.choice("status", _STATES, "")
    call.query.has_no_effect("match")  # with one filter, all of them and any of them are the same
    found = [view(call, each) for each in CERTIFICATES.all(call)]
    return page_of(call, [each for each in found if state in ("", each["status"])], most=50, least=5)


def create_certificate(call: Call, body: Document) -> Document:
    """Upload a certificate with its private key."""
    if call.store.count(CERTIFICATES.kind, call.zone["id"]) >= call.zone["meta"]["custom_certificate_quota"]:
        raise errors.FULL()
    given = {"bundle_method": "ubiquitous", "type": "legacy_custom", **without_nulls(body)}
    read = _read(call, given["certificate"], given["private_key"])
    if CERTIFICATES.find(call, "fingerprint", read["fingerprint"]):
        raise errors.TWIN()
    made = {**_chosen(given), **read, "id": uuid_id(), "priority": 1, "uploaded_on": call.state.clock.stamp()}
    return _put(call, made, given["certificate"], call.state.vault.seal(given["private_key"]))


def edit_certificate(call: Call, body: Document) -> Document:
    """Change a certificate, its key or its options; one for SNI is another one afterwards, with an id of its own."""
    former, given = CERTIFICATES.get(call), without_nulls(body)
    pair: Any = call.store.get(_PAIR, call.zone["id"], former["id"])
    certificate = given.get("certificate", pair["certificate"])
    key = given.get("private_key") or call.state.vault.open(pair["key"])
    made = {**former, **_chosen(given), **_read(call, certificate, key)}
    if former["type"] == "sni_custom":
        delete_certificate(call)
        made["id"] = uuid_id()
    return _put(call, made, certificate, call.state.vault.seal(key))


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
    made["modified_on"] = call.state.clock.stamp()
    call.store.put(_PAIR, call.zone["id"], made["id"], {"certificate": certificate, "key": sealed})
    return CERTIFICATES.put(call, made)


def delete_certificate(call: Call) -> Document:
    """Delete a certificate with its key."""
    call.store.delete(_PAIR, call.zone["id"], call.params["custom_certificate_id"])
    return CERTIFICATES.delete(call)


def view(call: Call, certificate: Document) -> Document:
    """A certificate as the API describes it, without itself and its key."""
    expires = parse_stamp(certificate["expires_on"])
    expired = expires is not None and expires < call.state.clock.now()
    shown = {name: value for name, value in certificate.items() if name not in _HIDDEN}
    return {**shown, "zone_id": call.zone["id"], "status": "expired" if expired else "active"}
