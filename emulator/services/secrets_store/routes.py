"""Operations of the Secrets Store."""

from emulator.registry import STORED, Service
from emulator.schema import fields, items, nullable, options, text

from . import errors, rules

api = Service(
    "secrets_store", source="official Python SDK 5.9.0, wrangler 4.158.0", date="2026-11-18", invalid=errors.INVALID
)

READ, WRITE = "Secrets Store Read", "Secrets Store Write"
_STORES = "/accounts/{account_id}/secrets_store/stores"
_STORE = _STORES + "/{store_id}"
_SECRETS = _STORE + "/secrets"
_SECRET = _SECRETS + "/{secret_id}"
_NOT_BOUND = "kept sealed; no binding opens it"

_SCOPES = nullable(items(text(choices=["workers", "ai_gateway", "dex", "access", "containers", "websearch"])))
_NAME = text(least=1, most=255, pattern=r"[A-Za-z0-9_.-]+")
_MORE = {"scopes": _SCOPES, "comment": nullable(text(most=1024))}
_VALUE = text(least=1, most=65536)
_NEW_STORE = fields({"name": text(least=1, most=255)})
_NEW_SECRETS = items(fields({"name": _NAME, "value": _VALUE}, _MORE), least=1, most=rules.QUOTA)
_COPY = fields({"name": _NAME}, _MORE)
_CHANGE = options(value=nullable(_VALUE), name=nullable(text()), **_MORE)
_IDS = items(fields({"id": text(least=1)}, closed=False), least=1)


api.get(_STORES, rules.list_stores, READ)
api.post(_STORES, rules.create_store, WRITE, body=_NEW_STORE, note="one for an account")
api.delete(_STORE, rules.delete_store, WRITE)
api.get("/accounts/{account_id}/secrets_store/quota", rules.get_quota, READ)
api.get(_SECRETS, rules.list_secrets, READ, note="filters search, scopes")
api.post(_SECRETS, rules.create_secrets, WRITE, STORED, body=_NEW_SECRETS, note=_NOT_BOUND)
api.delete(_SECRETS, rules.delete_secrets, WRITE, body=_IDS)
api.get(_SECRET, rules.SECRETS.get, READ, name="get_secret")
api.patch(_SECRET, rules.change_secret, WRITE, STORED, body=_CHANGE, note=_NOT_BOUND)
api.delete(_SECRET, rules.delete_secret, WRITE)
api.post(_SECRET + "/duplicate", rules.duplicate_secret, WRITE, STORED, body=_COPY, note=_NOT_BOUND)
