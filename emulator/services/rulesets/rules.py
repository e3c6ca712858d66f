"""State and rules of rulesets.

Every write makes a new version; rules keep their id and ref while the client sends them. A phase has one entry point:
kind `zone` in a zone, `root` in an account.
"""

from emulator.calls import Call, Raw, Result
from emulator.clock import hex_id
from emulator.collection import scope_of
from emulator.paging import cursor_after, cursor_for, cut, whole_query
from emulator.schema import without_nulls
from emulator.store import Document

from . import errors

PHASES = (
    "ddos_l4", "ddos_l7", "http_config_settings", "http_custom_errors", "http_log_custom_fields", "http_ratelimit",
    "http_request_cache_settings", "http_request_dynamic_redirect", "http_request_firewall_custom",
    "http_request_firewall_managed", "http_request_late_transform", "http_request_origin", "http_request_redirect",
    "http_request_sanitize", "http_request_sbfm", "http_request_transform", "http_response_cache_settings",
    "http_response_compression", "http_response_firewall_managed", "http_response_headers_transform", "magic_transit",
    "magic_transit_ids_managed", "magic_transit_managed", "magic_transit_ratelimit",
)  # fmt: skip
_KIND = "ruleset"


def list_rulesets(call: Call) -> Result:
    """List rulesets without their rules, with a cursor."""
    size = whole_query(call, "per_page", 50, 1, 50)
    found = call.store.select(_KIND, scope_of(call), order="key", after=cursor_after(call), limit=size + 1)
    part, more = cut(found, size)
    info: Document = {"per_page": size}
    if more:
        cursor = cursor_for(part[-1]["id"])
        info |= {"cursors": {"after": cursor}, "cursor": cursor}
    return Result([{name: value for name, value in each.items() if name != "rules"} for each in part], info)


def entrypoint_kind(call: Call) -> str:
    """The kind of the rulesets that are entry points here."""
    return "zone" if "zone_id" in call.params else "root"


def create_ruleset(call: Call, body: Document) -> Document:
    """Make a ruleset."""
    kind, entry_kind = body["kind"], entrypoint_kind(call)
    if kind not in ("custom", entry_kind):
        raise errors.BAD_KIND(kind=kind)
    if kind == entry_kind and find_entrypoint(call, body["phase"]) is not None:
        raise errors.PHASE_TAKEN(kind=kind)
    return _write(call, body, None)


def replace_ruleset(call: Call, body: Document) -> Document:
    """Write a new version of the path's ruleset."""
    former = get_ruleset(call)
    for field in ("kind", "phase"):
        if body.get(field) not in (None, former[field]):
            raise errors.FROZEN(field=field)
    return _write(call, body, former)


def put_entrypoint(call: Call, body: Document) -> Document:
    """Write a new version of the phase's entry point, making it if there is none."""
    phase = asked_phase(call)
    former = find_entrypoint(call, phase)
    return _write(call, {**body, "phase": phase, "kind": entrypoint_kind(call)}, former)


def get_entrypoint(call: Call) -> Document:
    """Read the entry point of the path's phase."""
    ruleset = find_entrypoint(call, asked_phase(call))
    if ruleset is None:
        raise errors.NO_ENTRYPOINT(phase=call.params["ruleset_phase"])
    return ruleset


def asked_phase(call: Call) -> str:
    """The path's phase."""
    phase = call.params["ruleset_phase"]
    if phase not in PHASES:
        raise errors.BAD_PHASE(phase=phase)
    return phase


def _write(call: Call, body: Document, former: Document | None) -> Document:
    now = call.state.clock.stamp()
    base = former or {
        "id": hex_id(),
        "kind": body["kind"],
        "phase": body["phase"],
        "name": "default",
        "description": "",
    }
    version = int(former["version"]) + 1 if former else 1
    ruleset = {
        **base,
        "name": body.get("name") or base["name"],
        "description": body.get("description") or "",
        "version": str(version),
        "last_updated": now,
        "rules": [_rule(rule, version, now) for rule in body.get("rules") or []],
    }
    labels = {"entrypoint": ruleset["phase"]} if ruleset["kind"] == entrypoint_kind(call) else {}
    call.store.put(_KIND, scope_of(call), ruleset["id"], ruleset, labels=labels)
    return ruleset


def _rule(rule: Document, version: int, now: str) -> Document:
    rule_id = rule.get("id") or hex_id()
    given = without_nulls(rule)
    defaults = {"id": rule_id, "ref": given.get("ref") or rule_id, "enabled": True}
    return {**defaults, **given, "id": rule_id, "version": str(version), "last_updated": now}


def add_rule(call: Call, body: Document) -> Document:
    """Write a new version of the path's ruleset with one rule more."""
    ruleset = get_ruleset(call)
    rule = {**{name: value for name, value in body.items() if name != "position"}, "id": hex_id()}
    return _write(call, {**ruleset, "rules": _placed(ruleset["rules"], rule, body.get("position") or {})}, ruleset)


def edit_rule(call: Call, body: Document) -> Document:
    """Write a new version with one rule changed, or at another place."""
    ruleset, former = get_ruleset(call), _one_rule(call)
    changes = {name: value for name, value in body.items() if name not in ("position", "id")}
    rule = {**former, **changes}
    if body.get("position"):
        others = [each for each in ruleset["rules"] if each["id"] != former["id"]]
        return _write(call, {**ruleset, "rules": _placed(others, rule, body["position"])}, ruleset)
    changed = [rule if each["id"] == former["id"] else each for each in ruleset["rules"]]
    return _write(call, {**ruleset, "rules": changed}, ruleset)


def delete_rule(call: Call) -> Document:
    """Write a new version without the path's rule."""
    ruleset, rule = get_ruleset(call), _one_rule(call)
    return _write(call, {**ruleset, "rules": [each for each in ruleset["rules"] if each != rule]}, ruleset)


def _one_rule(call: Call) -> Document:
    for rule in get_ruleset(call)["rules"]:
        if rule["id"] == call.params["rule_id"]:
            return dict(rule)
    raise errors.NO_RULE(rule=call.params["rule_id"])


def _placed(others: list[Document], rule: Document, position: Document) -> list[Document]:
    """The rules with one more at the place asked for, at the end if none is; an empty id means the end or beginning."""
    place = len(others)
    if "index" in position:
        place = int(position["index"]) - 1
    for word, step in (("before", 0), ("after", 1)):
        if word in position:
            ids = [each["id"] for each in others]
            if position[word] and position[word] not in ids:
                raise errors.NO_RULE(rule=position[word])
            at_edge = 0 if word == "before" else len(others)
            place = ids.index(position[word]) + step if position[word] else at_edge
    if not 0 <= place <= len(others):
        raise errors.INVALID(problem="position.index is beyond the rules")
    return [*others[:place], rule, *others[place:]]


def find_entrypoint(call: Call, phase: str) -> Document | None:
    """The entry point of a phase."""
    found = call.store.find(_KIND, scope_of(call), "entrypoint", phase)
    return found[0] if found else None


def get_ruleset(call: Call) -> Document:
    """The path's ruleset."""
    ruleset = call.store.get(_KIND, scope_of(call), call.params["ruleset_id"])
    if ruleset is None:
        raise errors.NO_RULESET(ruleset=call.params["ruleset_id"])
    return ruleset


def delete_ruleset(call: Call) -> Raw:
    """Remove the path's ruleset."""
    call.store.delete(_KIND, scope_of(call), get_ruleset(call)["id"])
    return Raw(b"", None, 204)
