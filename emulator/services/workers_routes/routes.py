"""Operations on routes."""

from emulator.calls import Call, Result
from emulator.registry import Service
from emulator.schema import anything, fields, items, nullable, text

from . import errors, rules

api = Service(
    "workers_routes",
    source="official Python SDK 5.9.0, wrangler 4.158.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
)

READ, WRITE = "Workers Routes Read", "Workers Routes Write"
_ROUTES = "/zones/{zone_id}/workers/routes"
_ROUTE = _ROUTES + "/{route_id}"
_BODY = fields({"pattern": text(least=1, most=1024)}, {"script": nullable(text())})
_WANTED = items(
    fields(
        {"pattern": text(least=1, most=1024)},
        {"zone_id": nullable(text()), "zone_name": nullable(text()), "custom_domain": anything()},
        closed=False,
    ),
    most=1000,
)


@api.operation("GET", _ROUTES, needs=READ)
def list_routes(call: Call) -> Result:
    """List the routes of a zone, in one page."""
    return Result(call.store.select(rules.ROUTE, call.zone["id"]))


@api.operation("POST", _ROUTES, needs=WRITE)
def create_route(call: Call) -> Result:
    """Create a route."""
    return Result(rules.put_route(call, call.zone, "", call.body(_BODY, errors.INVALID)))


@api.operation("GET", _ROUTE, needs=READ)
def get_route(call: Call) -> Result:
    """Read a route."""
    return Result(rules.get_route(call))


@api.operation("PUT", _ROUTE, needs=WRITE)
def replace_route(call: Call) -> Result:
    """Replace a route."""
    route = rules.get_route(call)
    return Result(rules.put_route(call, call.zone, route["id"], call.body(_BODY, errors.INVALID)))


@api.operation("DELETE", _ROUTE, needs=WRITE)
def delete_route(call: Call) -> Result:
    """Delete a route."""
    return Result(rules.delete_route(call))


@api.operation(
    "PUT",
    "/accounts/{account_id}/workers/scripts/{script_name}/routes",
    needs=WRITE,
    note="used by wrangler; needs the permission for the whole account, without it wrangler goes zone by zone",
)
def replace_routes(call: Call) -> Result:
    """Replace all routes of a Worker."""
    return Result(rules.replace_routes(call, call.body(_WANTED, errors.INVALID)))
