"""Operations on rulesets; the same below accounts and below zones."""

from emulator.calls import Call, Raw, Result
from emulator.paging import cursor_after, cursor_for, cut, whole_query
from emulator.registry import Fidelity, Service
from emulator.schema import anything, either, fields, flag, items, mapping, nullable, number, text

from . import errors, rules

api = Service("rulesets", source="official Python SDK 5.9.0, Terraform provider 5.22.0", date="2026-11-16")

_OBJECT = nullable(mapping(anything()))
_RULE_NEEDS = {"action": text(least=1), "expression": text(least=1)}
_RULE_MORE = {
    "id": nullable(text(pattern="[0-9a-f]{32}")),
    "ref": nullable(text(least=1)),
    "description": nullable(text()),
    "enabled": nullable(flag()),
    "action_parameters": _OBJECT,
    "exposed_credential_check": nullable(
        fields({"username_expression": text(least=1), "password_expression": text(least=1)})
    ),
    "logging": nullable(fields({"enabled": flag()})),
    "ratelimit": nullable(fields({"characteristics": items(text()), "period": anything()}, closed=False)),
    "categories": nullable(items(text())),
    "version": anything(),
    "last_updated": anything(),
}
_POSITION = nullable(
    either(
        fields({"index": number(least=1, most=1000, whole=True)}),
        fields({"before": text()}),
        fields({"after": text()}),
    )
)
_RULE = fields(_RULE_NEEDS, _RULE_MORE)
_PLACED_RULE = fields(_RULE_NEEDS, {**_RULE_MORE, "position": _POSITION})
_CHANGED_RULE = fields({}, {**_RULE_NEEDS, **_RULE_MORE, "position": _POSITION})
_OPTIONAL = {
    "description": nullable(text()),
    "rules": nullable(items(_RULE, most=1000)),
    "id": anything(),
    "version": anything(),
    "last_updated": anything(),
}
_KINDS = text(choices=["managed", "custom", "root", "zone"])
_CREATE = fields({"name": text(least=1), "kind": _KINDS, "phase": text(choices=rules.PHASES)}, _OPTIONAL)
_REPLACE = fields({}, {"name": text(least=1), "kind": nullable(_KINDS), "phase": nullable(text()), **_OPTIONAL})


def _declare(owner: str, prefix: str, read: tuple[str, ...], write: tuple[str, ...]) -> None:
    """Declare the operations of accounts or of zones."""
    many = f"{owner}/rulesets"
    one, entrypoint = many + "/{ruleset_id}", many + "/phases/{ruleset_phase}/entrypoint"
    note = "rules are kept, not evaluated; expressions are not parsed"
    for method, path, needs, name, handler in (
        ("GET", many, read, "list", _list),
        ("POST", many, write, "create", _create),
        ("GET", one, read, "get", _get),
        ("PUT", one, write, "replace", _replace),
        ("DELETE", one, write, "delete", _delete),
        ("POST", one + "/rules", write, "add_rule", _add_rule),
        ("PATCH", one + "/rules/{rule_id}", write, "edit_rule", _edit_rule),
        ("DELETE", one + "/rules/{rule_id}", write, "delete_rule", _delete_rule),
        ("GET", entrypoint, read, "get_entrypoint", _get_entrypoint),
        ("PUT", entrypoint, write, "put_entrypoint", _put_entrypoint),
    ):
        stored = note if method in ("POST", "PUT", "PATCH") else ""
        api.operation(method, path, needs=needs, fidelity=Fidelity.STORED, name=f"{prefix}_{name}", note=stored)(
            handler
        )


def _list(call: Call) -> Result:
    size = whole_query(call, "per_page", 50, 1, 50)
    found = call.store.select("ruleset", rules.scope(call), order="key", after=cursor_after(call), limit=size + 1)
    part, more = cut(found, size)
    listed = [{name: value for name, value in ruleset.items() if name != "rules"} for ruleset in part]
    info: dict[str, object] = {"per_page": size}
    if more:
        info["cursors"] = {"after": cursor_for(part[-1]["id"])}
        info["cursor"] = cursor_for(part[-1]["id"])
    return Result(listed, info)


def _create(call: Call) -> Result:
    return Result(rules.create_ruleset(call, call.body(_CREATE, errors.INVALID)))


def _get(call: Call) -> Result:
    return Result(rules.get_ruleset(call))


def _replace(call: Call) -> Result:
    return Result(rules.replace_ruleset(call, call.body(_REPLACE, errors.INVALID)))


def _delete(call: Call) -> Raw:
    rules.delete_ruleset(call)
    return Raw(b"", None, 204)


def _add_rule(call: Call) -> Result:
    body = call.body(_PLACED_RULE, errors.INVALID)
    return Result(rules.add_rule(call, body))


def _edit_rule(call: Call) -> Result:
    return Result(rules.edit_rule(call, call.body(_CHANGED_RULE, errors.INVALID)))


def _delete_rule(call: Call) -> Result:
    return Result(rules.delete_rule(call))


def _get_entrypoint(call: Call) -> Result:
    ruleset = rules.find_entrypoint(call, rules.asked_phase(call))
    if ruleset is None:
        raise errors.NO_ENTRYPOINT(phase=call.params["ruleset_phase"])
    return Result(ruleset)


def _put_entrypoint(call: Call) -> Result:
    return Result(rules.put_entrypoint(call, call.body(_REPLACE, errors.INVALID)))


_declare("/accounts/{account_id}", "account", ("Account Rulesets Read",), ("Account Rulesets Write",))
_declare("/zones/{zone_id}", "zone", ("Zone WAF Read",), ("Zone WAF Write",))
