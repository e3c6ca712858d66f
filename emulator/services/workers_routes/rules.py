"""State and rules of routes: a pattern exists once in its zone, and the script it names must exist."""

from emulator.calls import Call
from emulator.clock import hex_id
from emulator.collection import Collection
from emulator.schema import fields, nullable, text
from emulator.services.workers import rules as workers
from emulator.services.zones.rules import zone_for
from emulator.store import Document

from . import errors, patterns

ROUTES = Collection("worker_route", "route_id", errors.NO_ROUTE, labels={"pattern": "pattern", "script": "script"})
ROUTE = ROUTES.kind
BODY = fields({"pattern": text(least=1, most=1024)}, {"script": nullable(text())})


def create_route(call: Call, body: Document) -> Document:
    """Create a route."""
    return _put_route(call, call.zone, "", body)


def replace_route(call: Call) -> Document:
    """Replace a route."""
    route = ROUTES.get(call)
    return _put_route(call, call.zone, route["id"], call.body(BODY, errors.INVALID))


def _put_route(call: Call, zone: Document, route_id: str, body: Document) -> Document:
    """Create or replace a route; without a script it keeps Workers off its pattern."""
    pattern, script = body["pattern"], body.get("script")
    trouble = patterns.problem(pattern, zone["name"])
    if trouble:
        raise errors.BAD_PATTERN(pattern=pattern, problem=trouble)
    if script and workers.find(call.store, call.account_id, script) is None:
        raise errors.NO_SCRIPT(script=script)
    if any(other["id"] != route_id for other in call.store.find(ROUTE, zone["id"], "pattern", pattern)):
        raise errors.PATTERN_TAKEN()
    route: Document = {"id": route_id or hex_id(), "pattern": pattern}
    labels = {"pattern": pattern}
    if script:
        route["script"] = script
        labels["script"] = script
    return call.store.put(ROUTE, zone["id"], route["id"], route, labels=labels)


def replace_routes(call: Call, wanted: list[Document]) -> list[str]:
    """Let the path's Worker have exactly these routes, in whatever zones they lie."""
    name = workers.get(call)["name"]
    zones = [zone for _, zone in call.store.find_anywhere("zone", "account", call.account_id)]
    placed = [(_zone_for(call, each), each["pattern"]) for each in wanted]
    for zone in zones:
        keep = {pattern for place, pattern in placed if place["id"] == zone["id"]}
        for route in call.store.find(ROUTE, zone["id"], "script", name):
            if route["pattern"] not in keep:
                call.store.delete(ROUTE, zone["id"], route["id"])
    for zone, pattern in placed:
        there = call.store.find(ROUTE, zone["id"], "pattern", pattern)
        if not there or there[0].get("script") != name:
            _put_route(call, zone, "", {"pattern": pattern, "script": name})
    return [pattern for _, pattern in placed]


def _zone_for(call: Call, wanted: Document) -> Document:
    zone = zone_for(call.store, call.account_id, patterns.host_of(wanted["pattern"]), wanted)
    if zone is None:
        raise errors.BAD_PATTERN(pattern=wanted["pattern"], problem="the account has no zone for it")
    return zone
