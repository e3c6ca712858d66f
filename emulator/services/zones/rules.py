"""State and rules of zones.

A zone of a reserved test domain (`*.example`, `*.test`) is active at once; others wait for name servers that never
change. Deleting a zone deletes everything in it.
"""

import re
from collections.abc import Callable

from emulator.calls import Call, Result
from emulator.clock import hex_id
from emulator.errors import BAD_QUERY
from emulator.identity import account_resources, zone_resources
from emulator.paging import ordered, page_of
from emulator.schema import without_nulls
from emulator.seed import new_zone, put_zone
from emulator.store import Document, Store

from . import errors

_NAME = re.compile(r"(?=.{3,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]")
_EXACT_CASE = "_case_sensitive"
_PLAIN_OPERATORS: dict[str, Callable[[str, str], bool]] = {
    "equal": str.__eq__,
    "not_equal": str.__ne__,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "contains": str.__contains__,
}
_OPERATORS = _PLAIN_OPERATORS | {
    name + _EXACT_CASE: _PLAIN_OPERATORS[name] for name in ("starts_with", "ends_with", "contains")
}
_TEST_DOMAINS = (".example", ".test", ".invalid", ".localhost")


def list_zones(call: Call) -> Result:
    """List zones in order."""
    return page_of(
        call, ordered(call, _visible(call), ("name", "status", "account.id", "account.name"), "name"), most=50
    )


def get_zone(call: Call) -> Document:
    """Read a zone."""
    return call.zone


def _visible(call: Call) -> list[Document]:
    """The zones the token may read and the query asks for."""
    wanted = call.query.given("name", "status", "type", "account.id", "account.name")
    match_any = call.choice("match", ("all", "any"), "all") == "any"
    combine = any if match_any and wanted else all
    name = wanted.get("name", "") if combine is all else ""
    zones = call.store.find("zone", "", "name", name) if name and ":" not in name else call.store.select("zone", "")
    return [
        zone
        for zone in zones
        if _readable(call, zone) and combine(_holds(zone, field, value) for field, value in wanted.items())
    ]


def _readable(call: Call, zone: Document) -> bool:
    return call.identity.allows(("Zone Read",), zone_resources(zone["id"], zone["account"]["id"]))


def _field(zone: Document, name: str) -> str:
    """A field of a zone, or of its account as in `account.name`."""
    owner, _, inner = name.rpartition(".")
    return str(zone[owner][inner] if owner else zone[name])


def _holds(zone: Document, field: str, wanted: str) -> bool:
    value, (how, colon, text) = _field(zone, field), wanted.partition(":")
    if field == "type":
        return value in wanted.split(",")
    if not colon or not field.endswith("name"):
        return value == wanted
    if how not in _OPERATORS:
        raise BAD_QUERY(name=field, problem=f"the operator must be one of {', '.join(_OPERATORS)}")
    if how.endswith(_EXACT_CASE):
        return _OPERATORS[how](value, text)
    return _OPERATORS[how](value.lower(), text.lower())


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
    zone = new_zone(hex_id(), name, account, call.state.clock.stamp(), status=status)
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


def edit_zone(call: Call, body: Document) -> Document:
    """Change a zone."""
    changes: Document = {name: body[name] for name in ("paused", "type", "vanity_name_servers") if name in body}
    zone = {**call.zone, **changes, "modified_on": call.state.clock.stamp()}
    put_zone(call.store, zone)
    return zone


def delete_zone(call: Call) -> Document:
    """Remove the zone, all that is in it, and the custom domains that Workers and buckets have there."""
    call.store.delete_scope(call.zone["id"])
    for kind, key in (("worker_domain", "id"), ("r2_domain", "domain")):
        for scope, domain in call.store.find_anywhere(kind, "zone_id", call.zone["id"]):
            call.store.delete(kind, scope, domain[key])
    call.store.delete("zone", "", call.zone["id"])
    return {"id": call.zone["id"]}
