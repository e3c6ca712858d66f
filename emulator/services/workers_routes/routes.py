"""Operations on routes."""

from emulator.registry import Service
from emulator.schema import anything, fields, items, nullable, text

from . import errors, rules

api = Service(
    "workers_routes",
    source="official Python SDK 5.9.0, wrangler 4.158.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
    invalid=errors.INVALID,
)

READ, WRITE = "Workers Routes Read", "Workers Routes Write"
_ROUTES = "/zones/{zone_id}/workers/routes"
_ROUTE = _ROUTES + "/{route_id}"
_WANTED = items(
    fields(
        {"pattern": text(least=1, most=1024)},
        {"zone_id": nullable(text()), "zone_name": nullable(text()), "custom_domain": anything()},
        closed=False,
    ),
    most=1000,
)


api.get(_ROUTES, rules.ROUTES.all, READ, name="list_routes")
api.post(_ROUTES, rules.create_route, WRITE, body=rules.BODY)
api.get(_ROUTE, rules.ROUTES.get, READ, name="get_route")
api.put(_ROUTE, rules.replace_route, WRITE)
api.delete(_ROUTE, rules.ROUTES.delete, WRITE, name="delete_route")
api.put(
    "/accounts/{account_id}/workers/scripts/{script_name}/routes",
    rules.replace_routes,
    WRITE,
    body=_WANTED,
    note="used by wrangler; needs the permission for the whole account, without it wrangler goes zone by zone",
)
