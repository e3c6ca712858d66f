"""Operations on zones."""

from emulator.calls import Call, Result
from emulator.paging import page_of
from emulator.registry import Fidelity, Service
from emulator.schema import fields, flag, items, nullable, text

from . import errors, rules

api = Service("zones", source="official Python SDK 5.9.0, Terraform provider 5.22.0", date="2026-11-16")

_TYPE = text(choices=["full", "partial", "secondary", "internal"])
_CREATE = fields(
    {"name": text(least=1, most=253), "account": fields({"id": text()}, {"name": text()})},
    {
        "type": nullable(_TYPE),
        "jump_start": flag(),
        "paused": nullable(flag()),
        "vanity_name_servers": nullable(items(text())),
    },
)
_CHANGE = fields(
    {}, {"paused": flag(), "type": _TYPE, "vanity_name_servers": items(text()), "plan": fields({}, closed=False)}
)


@api.operation(
    "GET", "/zones", note="the zones the token may read; filters name, status, type, account.id, account.name, match"
)
def list_zones(call: Call) -> Result:
    """List zones in order."""
    order = call.choice("order", ("name", "status", "account.id", "account.name"), "name")
    descending = call.choice("direction", ("asc", "desc"), "asc") == "desc"
    zones = sorted(rules.visible_zones(call), key=lambda zone: rules.field_of(zone, order), reverse=descending)
    return page_of(call, zones, most=50)


@api.operation("POST", "/zones", fidelity=Fidelity.PARTIAL, note="needs Zone Write; test domains are active at once")
def create_zone(call: Call) -> Result:
    """Create a zone."""
    return Result(rules.create_zone(call, call.body(_CREATE, errors.INVALID)))


@api.operation("GET", "/zones/{zone_id}", needs="Zone Read")
def get_zone(call: Call) -> Result:
    """Read a zone."""
    return Result(call.zone)


@api.operation("PATCH", "/zones/{zone_id}", needs="Zone Write", fidelity=Fidelity.STORED)
def edit_zone(call: Call) -> Result:
    """Change a zone."""
    body = call.body(_CHANGE, errors.INVALID)
    changes = {name: body[name] for name in ("paused", "type", "vanity_name_servers") if name in body}
    return Result(rules.change_zone(call, changes))


@api.operation("DELETE", "/zones/{zone_id}", needs="Zone Write")
def delete_zone(call: Call) -> Result:
    """Delete a zone with everything in it."""
    rules.delete_zone(call)
    return Result({"id": call.zone["id"]})
