"""Operations on secrets."""

from emulator.registry import Service
from emulator.schema import anything, fields, mapping, nullable, text

from . import errors, rules

api = Service(
    "workers_secrets", source="official Python SDK 5.9.0, wrangler 4.158.0", date="2026-11-16", invalid=errors.INVALID
)

READ, WRITE = "Workers Scripts Read", "Workers Scripts Write"
_SCRIPT = "/accounts/{account_id}/workers/scripts/{script_name}"
_SECRET = fields({"name": text(least=1, most=255), "type": text()}, closed=False)
_BULK = fields({"secrets": mapping(nullable(fields({"type": text()}, closed=False)))}, {"version_tags": anything()})


api.get(_SCRIPT + "/secrets", rules.list_secrets, READ)
api.put(_SCRIPT + "/secrets", rules.put_secret, WRITE, body=_SECRET)
api.patch(_SCRIPT + "/secrets-bulk", rules.change_secrets, WRITE, body=_BULK)
api.get(_SCRIPT + "/secrets/{secret_name}", rules.get_secret, READ)
api.delete(_SCRIPT + "/secrets/{secret_name}", rules.delete_secret, WRITE)
