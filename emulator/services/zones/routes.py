"""Operations on zones."""

from emulator.registry import PARTIAL, STORED, Service
from emulator.schema import fields, flag, items, nullable, options, text

from . import errors, rules

api = Service(
    "zones", source="official Python SDK 5.9.0, Terraform provider 5.22.0", date="2026-11-16", invalid=errors.INVALID
)

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
_CHANGE = options(paused=flag(), type=_TYPE, vanity_name_servers=items(text()), plan=fields({}, closed=False))
_LIST_ZONES = "the zones the token may read; filters name, status, type, account.id, account.name, match"
_CREATE_ZONE = "needs Zone Write; test domains are active at once"

api.get("/zones", rules.list_zones, note=_LIST_ZONES)
api.post("/zones", rules.create_zone, body=_CREATE, fidelity=PARTIAL, note=_CREATE_ZONE)
api.get("/zones/{zone_id}", rules.get_zone, "Zone Read")
api.patch("/zones/{zone_id}", rules.edit_zone, "Zone Write", STORED, body=_CHANGE)
api.delete("/zones/{zone_id}", rules.delete_zone, "Zone Write")
