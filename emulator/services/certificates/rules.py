"""State and rules of certificate packs.

An active zone has a universal pack, which is made up from its settings. An order is first `initializing`, then
`pending_validation`, and `active` after VALIDATION_SECONDS of the emulator's clock: nothing is stored to move it on,
the status follows from the age.
"""

import uuid
from datetime import datetime, timedelta

from emulator.calls import Call, Result
from emulator.clock import parse_stamp, stamp, uuid_id
from emulator.collection import Collection
from emulator.paging import page_of
from emulator.schema import flag, nullable, options, without_nulls
from emulator.store import Document

from . import errors

VALIDATION_SECONDS = 30
ORDERED = Collection("certificate_pack", "certificate_pack_id", errors.NO_PACK)
_QUOTA = 100
_EDIT = nullable(options(cloudflare_branding=flag()))
_ISSUERS = {"google": "GoogleTrustServices", "lets_encrypt": "LetsEncrypt", "ssl_com": "SSLCom"}


def order_pack(call: Call, body: Document) -> Document:
    """Order a pack for hosts of the zone, the apex among them."""
    zone_name = call.zone["name"]
    hosts = [host.lower() for host in body["hosts"]]
    for host in hosts:
        if host != zone_name and not host.endswith(f".{zone_name}"):
            raise errors.FOREIGN_HOST(host=host)
    if zone_name not in hosts:
        raise errors.NO_APEX()
    given = without_nulls(body)
    pack = {
        **given,
        "hosts": hosts,
        "id": uuid_id(),
        "certificate_id": uuid_id(),
        "ordered_on": call.state.clock.stamp(),
    }
    return ORDERED.put(call, pack)


def list_packs(call: Call) -> Result:
    """The universal pack, which every active zone has unless it is switched off, and the ordered; active ones only."""
    every = call.choice("status", ("all", ""), "") == "all"
    if call.choice("deploy", ("production", "staging", ""), "") == "staging":
        return page_of(call, [], most=50)  # nothing here is ever staged
    packs = [pack_view(call, pack) for pack in (*universal_packs(call), *ORDERED.all(call))]
    return page_of(call, [pack for pack in packs if every or pack["status"] == "active"], most=50)


def get_quota(call: Call) -> Document:
    """Read how many packs were ordered and may be."""
    return {"advanced": {"allocated": _QUOTA, "used": call.store.count(ORDERED.kind, call.zone["id"])}}


def get_pack(call: Call) -> Document:
    """The path's pack."""
    asked = call.params["certificate_pack_id"]
    ordered = call.store.get(ORDERED.kind, call.zone["id"], asked)
    pack = ordered or next((each for each in universal_packs(call) if each["id"] == asked), None)
    if pack is None:
        raise errors.NO_PACK()
    return pack


def _ordered_pack(call: Call) -> Document:
    """The path's pack, which must be one that was ordered."""
    pack = get_pack(call)
    if pack["type"] == "universal":
        raise errors.UNIVERSAL()
    return pack


def delete_pack(call: Call) -> Document:
    """Delete a pack."""
    _ordered_pack(call)
    return ORDERED.delete(call)


def edit_pack(call: Call) -> Document:
    """Validate a pack that waits anew, with or without Cloudflare's name on the certificate."""
    pack = _ordered_pack(call)
    changed = {**pack, **(call.body(_EDIT, errors.INVALID) or {})}
    if status(call, pack) != "active":
        changed["ordered_on"] = call.state.clock.stamp()
    return ORDERED.put(call, changed)


def status(call: Call, pack: Document) -> str:
    """Where the order is by now."""
    return status_at(pack, call.state.clock.now())


def status_at(pack: Document, now: datetime) -> str:
    """Where the order is at a moment."""
    ordered = parse_stamp(pack["ordered_on"])
    age = 0.0 if ordered is None else (now - ordered).total_seconds()
    if age < 1:
        return "initializing"
    return "pending_validation" if age < VALIDATION_SECONDS else "active"


def pack_view(call: Call, pack: Document) -> Document:
    """A pack as the API describes it; the certificate is there once it is active."""
    state = status(call, pack)
    shown = {name: value for name, value in pack.items() if name not in ("ordered_on", "certificate_id")}
    shown["status"] = state
    shown["certificates"] = [_certificate(call, pack)] if state == "active" else []
    if state == "active":
        shown["primary_certificate"] = pack["certificate_id"]
    return shown


def _certificate(call: Call, pack: Document) -> Document:
    ordered = parse_stamp(pack["ordered_on"]) or call.state.clock.now()
    issued = ordered + timedelta(seconds=VALIDATION_SECONDS)
    return {
        "id": pack["certificate_id"],
        "hosts": pack["hosts"],
        "status": "active",
        "issuer": _ISSUERS[pack["certificate_authority"]],
        "signature": "ECDSAWithSHA256",
        "bundle_method": "ubiquitous",
        "zone_id": call.zone["id"],
        "uploaded_on": stamp(issued),
        "modified_on": stamp(issued),
        "expires_on": stamp(issued + timedelta(days=int(pack["validity_days"]))),
        "priority": 1,
    }


def universal_packs(call: Call) -> list[Document]:
    """The pack of the zone's universal certificate, if it has one."""
    settings, zone = get_universal(call), call.zone
    activated = parse_stamp(zone["activated_on"] or "")
    if not settings["enabled"] or activated is None:
        return []
    pack_id, certificate_id = (uuid.uuid5(uuid.UUID(zone["id"]), part) for part in ("pack", "certificate"))
    pack = {
        "id": str(pack_id),
        "certificate_id": str(certificate_id),
        "type": "universal",
        "hosts": [zone["name"], f"*.{zone['name']}"],
        "certificate_authority": settings.get("certificate_authority", "google"),
        "validation_method": "txt",
        "validity_days": 90,
        "ordered_on": stamp(activated - timedelta(seconds=VALIDATION_SECONDS)),  # it is there when the zone is
    }
    return [pack]


def get_universal(call: Call) -> Document:
    """The settings of the zone's universal certificate, which is on unless switched off."""
    return {"enabled": True, **(call.store.get("universal_certificate", call.zone["id"], "settings") or {})}


def edit_universal(call: Call, changes: Document) -> Document:
    """Switch the universal certificate on or off."""
    settings = {**get_universal(call), **without_nulls(changes)}
    return call.store.put("universal_certificate", call.zone["id"], "settings", settings)
