"""State and rules of zones.

A zone of a reserved test domain (`*.example`, `*.test`) is active at once; others wait for name servers that never
change. Deleting a zone deletes everything in it.
"""

import re
from typing import Any

from emulator.calls import Call
from emulator.clock import hex_id
from emulator.identity import account_resources, zone_resources
from emulator.schema import without_nulls
from emulator.seed import new_zone, put_zone
from emulator.store import Document, Store

from . import errors

_NAME = re.compile(r"(?=.{3,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]")
_TEST_DOMAINS = (".example", ".test", ".invalid", ".localhost")


def visible_zones(call: Call) -> list[Document]:
    """The zones the token may read."""
    name = call.query.get("name")
    zones = call.store.find("zone", "", "name", name) if name else call.store.select("zone", "")
    return [zone for zone in zones if _readable(call, zone) and _matches(call, zone)]


def _readable(call: Call, zone: Document) -> bool:
    return call.identity.allows(("Zone Read",), zone_resources(zone["id"], zone["account"]["id"]))


def _matches(call: Call, zone: Document) -> bool:
    wanted = {
        "status": zone["status"],
        "type": zone["type"],
        "account.id": zone["account"]["id"],
        "account.name": zone["account"]["name"],
    }
    return all(call.query.get(name) in (None, "", value) for name, value in wanted.items())


def create_zone(call: Call, body: Document) -> Document:
    """Add a zone to an account the token may create zones in."""
    name, account_id = body["name"].lower(), body["account"].get("id", "")
    account = call.store.get("account", "", account_id)
    if account is None or not call.identity.allows(("Zone Write",), account_resources(account_id)):
        raise errors.NO_ACCOUNT()
    if not _NAME.fullmatch(name):
        raise errors.BAD_ZONE_NAME(name=name)
    if call.store.find("zone", "", "name", name):
        raise errors.ZONE_EXISTS(name=name)
    status = "active" if name.endswith(_TEST_DOMAINS) else "pending"
    zone = new_zone(hex_id(), name, account, call.world.clock.stamp(), status=status)
    zone |= without_nulls({name: body.get(name) for name in ("type", "paused", "vanity_name_servers")})
    put_zone(call.store, zone)
    return zone


def in_zone(host: str, zone_name: str) -> bool:
    """Whether a host name belongs to a zone."""
    return host == zone_name or host.endswith(f".{zone_name}")


def zone_for(store: Store, account_id: str, host: str, wanted: Document) -> Document | None:
    """The account's closest zone a host name belongs to, and the one a body names if it does."""
    zones = [zone for _, zone in store.find_anywhere("zone", "account", account_id)]
    for zone in sorted(zones, key=lambda each: -len(each["name"])):
        named = wanted.get("zone_id") in (None, zone["id"]) and wanted.get("zone_name") in (None, zone["name"])
        if named and in_zone(host, zone["name"]):
            return zone
    return None


def change_zone(call: Call, changes: dict[str, Any]) -> Document:
    """Apply what was sent."""
    zone = {**call.zone, **changes, "modified_on": call.world.clock.stamp()}
    put_zone(call.store, zone)
    return zone


def delete_zone(call: Call) -> None:
    """Remove the zone, all that is in it, and the custom domains that Workers and buckets have there."""
    call.store.delete_scope(call.zone["id"])
    for kind, key in (("worker_domain", "id"), ("r2_domain", "domain")):
        for scope, domain in call.store.find_anywhere(kind, "zone_id", call.zone["id"]):
            call.store.delete(kind, scope, domain[key])
    call.store.delete("zone", "", call.zone["id"])
