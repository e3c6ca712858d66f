"""Operations on API tokens; the same for an account's and for the user's."""

from emulator.registry import PARTIAL, Service
from emulator.schema import anything, either, fields, items, mapping, nullable, options, text

from . import errors, rules

api = Service(
    "tokens",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
    invalid=errors.BAD_TOKEN,
)

_ADDRESSES = nullable(items(text(least=1)))
_POLICY = fields(
    {
        "effect": text(choices=["allow", "deny"]),
        "permission_groups": items(fields({"id": text()}, {"meta": anything(), "name": anything()}), least=1, most=300),
        "resources": mapping(either(mapping(text()), text(least=1))),
    },
    {"id": nullable(text())},
)
_TOKEN = fields(
    {"name": text(least=1, most=120), "policies": items(_POLICY, least=1, most=100)},
    {
        "condition": nullable(options(request_ip=nullable(fields({}, {"in": _ADDRESSES, "not_in": _ADDRESSES})))),
        "expires_on": nullable(text()),
        "not_before": nullable(text()),
        "status": nullable(text(choices=["active", "disabled", "expired"])),
        # A token that was read is often sent back whole.
        **dict.fromkeys(("id", "issued_on", "modified_on", "last_used_on"), anything()),
    },
)


def _declare(owner: Service, read: str, write: str) -> None:
    """Declare the operations on the tokens of accounts or of the user."""
    kept = "request_ip conditions are kept but not enforced"
    groups = "the groups that emulated services ask for"
    one, value = "/{token_id}", "/{token_id}/value"
    owner.post("", rules.create_token, write, PARTIAL, body=_TOKEN, note=kept, name="create")
    owner.get("", rules.list_tokens, read, name="list")
    owner.get("/permission_groups", rules.permission_groups, read, PARTIAL, note=groups)
    owner.get("/verify", rules.verify)
    owner.get(one, rules.TOKENS.get, read, view=rules.token_view, name="get")
    owner.put(one, rules.replace_token, write, PARTIAL, body=_TOKEN, view=rules.token_view, note=kept, name="replace")
    owner.put(value, rules.roll_token, write, name="roll")
    owner.delete(one, rules.delete_token, write, name="delete")


_declare(api.branch("/accounts/{account_id}/tokens", "account_"), "Account API Tokens Read", "Account API Tokens Write")
_declare(api.branch("/user/tokens", "user_"), "API Tokens Read", "API Tokens Write")
