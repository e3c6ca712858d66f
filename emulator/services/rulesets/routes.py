"""Operations on rulesets; the same below accounts and below zones."""

from emulator.registry import STORED, Service
from emulator.schema import anything, either, fields, flag, items, mapping, nullable, number, options, text

from . import errors, rules

api = Service(
    "rulesets",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0",
    date="2026-11-16",
    invalid=errors.INVALID,
)

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
_CHANGED_RULE = options(**_RULE_NEEDS, **_RULE_MORE, position=_POSITION)
_OPTIONAL = {
    "description": nullable(text()),
    "rules": nullable(items(_RULE, most=1000)),
    "id": anything(),
    "version": anything(),
    "last_updated": anything(),
}
_KINDS = text(choices=["managed", "custom", "root", "zone"])
_CREATE = fields({"name": text(least=1), "kind": _KINDS, "phase": text(choices=rules.PHASES)}, _OPTIONAL)
_REPLACE = options(name=text(least=1), kind=nullable(_KINDS), phase=nullable(text()), **_OPTIONAL)


def _declare(owner: Service, read: str, write: str) -> None:
    """Declare the operations of accounts or of zones."""
    one, rule, entrypoint = "/{ruleset_id}", "/{ruleset_id}/rules/{rule_id}", "/phases/{ruleset_phase}/entrypoint"
    note = "rules are kept, not evaluated; expressions are not parsed"
    owner.get("", rules.list_rulesets, read, name="list")
    owner.post("", rules.create_ruleset, write, body=_CREATE, note=note, name="create")
    owner.get(one, rules.get_ruleset, read, name="get")
    owner.put(one, rules.replace_ruleset, write, body=_REPLACE, note=note, name="replace")
    owner.delete(one, rules.delete_ruleset, write, name="delete")
    owner.post(one + "/rules", rules.add_rule, write, body=_PLACED_RULE, note=note)
    owner.patch(rule, rules.edit_rule, write, body=_CHANGED_RULE, note=note)
    owner.delete(rule, rules.delete_rule, write)
    owner.get(entrypoint, rules.get_entrypoint, read)
    owner.put(entrypoint, rules.put_entrypoint, write, body=_REPLACE, note=note)


_declare(
    api.branch("/accounts/{account_id}/rulesets", "account_", STORED), "Account Rulesets Read", "Account Rulesets Write"
)
_declare(api.branch("/zones/{zone_id}/rulesets", "zone_", STORED), "Zone WAF Read", "Zone WAF Write")
