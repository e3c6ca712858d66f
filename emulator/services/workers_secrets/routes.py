"""Operations on secrets."""

from emulator.calls import Call, Result
from emulator.registry import Service
from emulator.schema import anything, fields, mapping, nullable, text

from . import errors, rules

api = Service("workers_secrets", source="official Python SDK 5.9.0, wrangler 4.158.0", date="2026-11-16")

READ, WRITE = "Workers Scripts Read", "Workers Scripts Write"
_SCRIPT = "/accounts/{account_id}/workers/scripts/{script_name}"
_SECRET = fields({"name": text(least=1, most=255), "type": text()}, closed=False)
_BULK = fields({"secrets": mapping(nullable(fields({"type": text()}, closed=False)))}, {"version_tags": anything()})


@api.operation("GET", _SCRIPT + "/secrets", needs=READ)
def list_secrets(call: Call) -> Result:
    """List secrets by name."""
    return Result(rules.listed(call))


@api.operation("PUT", _SCRIPT + "/secrets", needs=WRITE)
def put_secret(call: Call) -> Result:
    """Set a secret."""
    body = call.body(_SECRET, errors.INVALID)
    return Result(rules.change(call, {body["name"]: body})[0])


@api.operation("PATCH", _SCRIPT + "/secrets-bulk", needs=WRITE)
def change_secrets(call: Call) -> Result:
    """Set several secrets and remove those that are null."""
    changed = rules.change(call, call.body(_BULK, errors.INVALID)["secrets"])
    return Result({each["name"]: each for each in changed})


@api.operation("GET", _SCRIPT + "/secrets/{secret_name}", needs=READ)
def get_secret(call: Call) -> Result:
    """Tell that a secret is there."""
    return Result(rules.get(call))


@api.operation("DELETE", _SCRIPT + "/secrets/{secret_name}", needs=WRITE)
def delete_secret(call: Call) -> Result:
    """Remove a secret."""
    rules.remove(call)
    return Result(None)
