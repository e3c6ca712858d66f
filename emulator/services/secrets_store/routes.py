"""Operations of the Secrets Store."""

from emulator.calls import Call, Result
from emulator.paging import page_of
from emulator.registry import Fidelity, Service
from emulator.schema import fields, items, nullable, text

from . import errors, rules

api = Service("secrets_store", source="official Python SDK 5.9.0, wrangler 4.158.0", date="2026-11-18")

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
_CHANGE = fields({}, {"value": nullable(_VALUE), "name": nullable(text()), **_MORE})
_IDS = items(fields({"id": text(least=1)}, closed=False), least=1)


@api.operation("GET", _STORES, needs=READ)
def list_stores(call: Call) -> Result:
    """List stores."""
    order = call.choice("order", ("name", "created", "modified"), "name")
    descending = call.choice("direction", ("asc", "desc"), "asc") == "desc"
    found = sorted(call.store.select(rules.STORE, call.account_id), key=lambda each: str(each[order]))
    return page_of(call, found[::-1] if descending else found)


@api.operation("POST", _STORES, needs=WRITE, note="one for an account")
def create_store(call: Call) -> Result:
    """Create a store."""
    return Result(rules.create_store(call, call.body(_NEW_STORE, errors.INVALID)["name"]))


@api.operation("DELETE", _STORE, needs=WRITE)
def delete_store(call: Call) -> Result:
    """Delete a store with its secrets."""
    rules.delete_store(call)
    return Result({})


@api.operation("GET", "/accounts/{account_id}/secrets_store/quota", needs=READ)
def get_quota(call: Call) -> Result:
    """Read how many secrets there are and may be."""
    return Result({"secrets": {"quota": rules.QUOTA, "usage": rules.used(call)}})


@api.operation("GET", _SECRETS, needs=READ, note="filters search, scopes")
def list_secrets(call: Call) -> Result:
    """List secrets without their values."""
    return page_of(call, rules.secrets(call))


@api.operation("POST", _SECRETS, needs=WRITE, fidelity=Fidelity.STORED, note=_NOT_BOUND)
def create_secrets(call: Call) -> Result:
    """Add secrets, all or none."""
    return Result([rules.create_secret(call, each) for each in call.body(_NEW_SECRETS, errors.INVALID)])


@api.operation("DELETE", _SECRETS, needs=WRITE)
def delete_secrets(call: Call) -> Result:
    """Delete secrets by their ids, all or none."""
    deleted = []
    for each in call.body(_IDS, errors.INVALID):
        call.params["secret_id"] = each["id"]
        deleted.append(rules.delete_secret(call, rules.get_secret(call)))
    return Result(deleted)


@api.operation("GET", _SECRET, needs=READ)
def get_secret(call: Call) -> Result:
    """Read a secret without its value."""
    return Result(rules.get_secret(call))


@api.operation("PATCH", _SECRET, needs=WRITE, fidelity=Fidelity.STORED, note=_NOT_BOUND)
def change_secret(call: Call) -> Result:
    """Change a secret."""
    return Result(rules.change_secret(call, call.body(_CHANGE, errors.INVALID)))


@api.operation("DELETE", _SECRET, needs=WRITE)
def delete_secret(call: Call) -> Result:
    """Delete a secret."""
    return Result(rules.delete_secret(call, rules.get_secret(call)))


@api.operation("POST", _SECRET + "/duplicate", needs=WRITE, fidelity=Fidelity.STORED, note=_NOT_BOUND)
def duplicate_secret(call: Call) -> Result:
    """Copy a secret under another name."""
    return Result(rules.duplicate(call, call.body(_COPY, errors.INVALID)))
