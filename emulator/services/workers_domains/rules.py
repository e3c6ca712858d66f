"""State and rules of custom domains.

A host name has one attachment and one id, whatever Worker it is attached to: attaching it to another Worker changes the
attachment in place, and a later deletion by the id known from before removes the new attachment.
"""

import hashlib
import re

from emulator.calls import Call
from emulator.collection import Collection
from emulator.services.workers import rules as workers
from emulator.services.zones.rules import zone_for
from emulator.store import Document

from . import errors

_LABELS = {name: name for name in ("hostname", "service", "zone_id")}
DOMAINS = Collection("worker_domain", "domain_id", errors.NO_DOMAIN, labels=_LABELS)
DOMAIN = DOMAINS.kind
_HOSTNAME = re.compile(r"(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]")
_TAKEN_BY = ("A", "AAAA", "CNAME")


def attach_domain(call: Call, body: Document) -> Document:
    """Attach a host name to a Worker, whatever Worker has it now."""
    return _attach(call, body, other_worker=True, other_records=False)


def _attach(call: Call, body: Document, *, other_worker: bool, other_records: bool) -> Document:
    """Attach a host name to a Worker; whether another Worker or DNS records may lose it is said by the caller."""
    hostname, service = body["hostname"].lower(), body["service"]
    zone = _zone_for(call, hostname, body)
    if workers.find(call.store, call.account_id, service) is None:
        raise errors.NO_SCRIPT()
    former = _former(call, hostname)
    if former and former["service"] != service and not other_worker:
        raise errors.IN_USE(hostname=hostname, service=former["service"])
    if not former and not other_records and _has_records(call, zone, hostname):
        raise errors.HAS_RECORDS(hostname=hostname)
    seed = f"{zone['id']}/{hostname}"
    domain = {
        "id": hashlib.sha256(seed.encode()).hexdigest()[:40],
        "hostname": hostname,
        "service": service,
        "environment": body.get("environment") or "production",
        "zone_id": zone["id"],
        "zone_name": zone["name"],
        "cert_id": _uuid(seed),
        "enabled": body.get("enabled") is not False,
        "previews_enabled": bool(body.get("previews_enabled")),
    }
    return DOMAINS.put(call, domain)


def _former(call: Call, hostname: str) -> Document | None:
    found = DOMAINS.find(call, "hostname", hostname)
    return found[0] if found else None


def _uuid(seed: str) -> str:
    digest = hashlib.md5(seed.encode(), usedforsecurity=False).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-8{digest[17:20]}-{digest[20:]}"


def _zone_for(call: Call, hostname: str, body: Document) -> Document:
    zone = zone_for(call.store, call.account_id, hostname, body) if _HOSTNAME.fullmatch(hostname) else None
    if zone is None:
        raise errors.BAD_HOSTNAME(hostname=hostname)
    return zone


def _has_records(call: Call, zone: Document, hostname: str) -> bool:
    found = call.store.find("dns_record", zone["id"], "name", hostname)
    return any(record["type"] in _TAKEN_BY for record in found)


def detach_domain(call: Call) -> None:
    """Detach a custom domain, whatever Worker has it now."""
    DOMAINS.delete(call)


def list_domains(call: Call) -> list[Document]:
    """Domains that fit the filters."""
    names = ("hostname", "service", "zone_id", "zone_name", "environment")
    wanted = call.query.given(*names)
    return [each for each in DOMAINS.all(call) if all(each[name] == value for name, value in wanted.items())]


def preview_domains(call: Call, origins: list[Document]) -> Document:
    """Tell what giving a Worker these domains would do."""
    service = workers.get(call)["name"]
    result: Document = {"added": [], "updated": [], "removed": [], "conflicting": []}
    for origin in origins:
        hostname = origin["hostname"].lower()
        zone, former = _zone_for(call, hostname, origin), _former(call, hostname)
        if former:
            result["updated"].append({**former, "modified": former["service"] != service})
        elif _has_records(call, zone, hostname):
            result["conflicting"].append({"hostname": hostname, "zone_id": zone["id"], "zone_name": zone["name"]})
        else:
            result["added"].append({**origin, "hostname": hostname, "service": service})
    if call.flag("replace_state"):
        names = {origin["hostname"].lower() for origin in origins}
        own = DOMAINS.find(call, "service", service)
        result["removed"] = [each for each in own if each["hostname"] not in names]
    return result


def replace_domains(call: Call, body: Document) -> list[Document]:
    """Attach these domains to the path's Worker, and with `override_scope` no others."""
    service = workers.get(call)["name"]
    if body.get("override_scope"):
        names = {origin["hostname"].lower() for origin in body["origins"]}
        for each in DOMAINS.find(call, "service", service):
            if each["hostname"] not in names:
                call.store.delete(DOMAIN, call.account_id, each["id"])
    return [
        _attach(
            call,
            {**origin, "service": service},
            other_worker=bool(body.get("override_existing_origin")),
            other_records=bool(body.get("override_existing_dns_record")),
        )
        for origin in body["origins"]
    ]
