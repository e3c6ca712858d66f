"""Operations on API tokens; the same for an account's and for the user's."""

from emulator.calls import Call, Result
from emulator.paging import page_of
from emulator.permissions import ACCOUNT, R2_BUCKET, USER, ZONE
from emulator.registry import Fidelity, Service
from emulator.schema import anything, either, fields, items, mapping, nullable, text

from . import errors, rules

api = Service(
    "tokens",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
)

_ACCOUNT_PATH, _USER_PATH = "/accounts/{account_id}/tokens", "/user/tokens"
_READS = {_ACCOUNT_PATH: "Account API Tokens Read", _USER_PATH: "API Tokens Read"}
_WRITES = {_ACCOUNT_PATH: "Account API Tokens Write", _USER_PATH: "API Tokens Write"}
_PREFIX = {_ACCOUNT_PATH: "account_", _USER_PATH: "user_"}
_SCOPES = {_ACCOUNT_PATH: (ACCOUNT, ZONE, R2_BUCKET), _USER_PATH: (ACCOUNT, ZONE, USER, R2_BUCKET)}

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
        "condition": nullable(
            fields({}, {"request_ip": nullable(fields({}, {"in": _ADDRESSES, "not_in": _ADDRESSES}))})
        ),
        "expires_on": nullable(text()),
        "not_before": nullable(text()),
        "status": nullable(text(choices=["active", "disabled", "expired"])),
        # A token that was read is often sent back whole.
        **dict.fromkeys(("id", "issued_on", "modified_on", "last_used_on"), anything()),
    },
)


def _declare(base: str) -> None:
    """Declare the operations below one of the two paths."""
    read, write, prefix = _READS[base], _WRITES[base], _PREFIX[base]
    one = base + "/{token_id}"

    def permission_groups(call: Call) -> Result:
        return Result(rules.permission_groups(call, _SCOPES[base]))

    note = "request_ip conditions are kept but not enforced"
    for method, path, needs, name, handler, fidelity in (
        ("POST", base, write, "create", _create, Fidelity.PARTIAL),
        ("GET", base, read, "list", _list, Fidelity.FULL),
        ("GET", base + "/permission_groups", read, "permission_groups", permission_groups, Fidelity.PARTIAL),
        ("GET", base + "/verify", (), "verify", _verify, Fidelity.FULL),
        ("GET", one, read, "get", _get, Fidelity.FULL),
        ("PUT", one, write, "replace", _replace, Fidelity.PARTIAL),
        ("PUT", one + "/value", write, "roll", _roll, Fidelity.FULL),
        ("DELETE", one, write, "delete", _delete, Fidelity.FULL),
    ):
        notes = {"create": note, "replace": note, "permission_groups": "the groups that emulated services ask for"}
        declared = api.operation(
            method, path, needs=needs, fidelity=fidelity, name=prefix + name, note=notes.get(name, "")
        )
        declared(handler)


def _create(call: Call) -> Result:
    token, value = rules.create_token(call, call.body(_TOKEN, errors.BAD_TOKEN))
    return Result({**rules.token_view(call, token), "value": value})


def _list(call: Call) -> Result:
    tokens = [rules.token_view(call, token) for token in call.store.select("token", rules.scope(call))]
    if not call.flag("include_expired"):
        tokens = [token for token in tokens if token["status"] != "expired"]
    if call.choice("direction", ("asc", "desc"), "asc") == "desc":
        tokens.reverse()
    return page_of(call, tokens, most=50)


def _verify(call: Call) -> Result:
    message = {"code": 10000, "message": "This API Token is valid and active", "type": None}
    answer = rules.verify(call)
    return Result(answer, messages=[message] if answer["status"] == "active" else [])


def _get(call: Call) -> Result:
    return Result(rules.token_view(call, rules.get_token(call)))


def _replace(call: Call) -> Result:
    return Result(rules.token_view(call, rules.replace_token(call, call.body(_TOKEN, errors.BAD_TOKEN))))


def _roll(call: Call) -> Result:
    return Result(rules.roll_token(call))


def _delete(call: Call) -> Result:
    rules.delete_token(call)
    return Result({"id": call.params["token_id"]})


for _base in (_ACCOUNT_PATH, _USER_PATH):
    _declare(_base)
