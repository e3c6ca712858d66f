"""State and rules of the Secrets Store.

An account has one store. A secret's value is sealed when it comes in, and no operation gives it out: not even a copy
can be told from its original.
"""

from emulator.calls import Call, Result
from emulator.clock import hex_id
from emulator.collection import Collection
from emulator.paging import ordered, page_of
from emulator.store import Document

from . import errors

STORES = Collection("secrets_store", "store_id", errors.NO_STORE)
SECRETS = Collection(
    "secrets_store_secret",
    "secret_id",
    errors.NO_SECRET,
    labels={"name": "name"},
    scope=lambda call: str(STORES.get(call)["id"]),
)
_VALUE = "secrets_store_value"
QUOTA = 100


def list_stores(call: Call) -> Result:
    """List stores."""
    return page_of(call, ordered(call, STORES.all(call), ("name", "created", "modified"), "name"))


def create_store(call: Call, body: Document) -> Document:
    """Create the account's store."""
    if STORES.all(call):
        raise errors.STORE_EXISTS()
    now = call.state.clock.stamp()
    store = {"id": hex_id(), "name": body["name"], "created": now, "modified": now, "account_id": call.account_id}
    return STORES.put(call, store)


def delete_store(call: Call) -> Document:
    """Delete a store with its secrets."""
    call.store.delete_scope(STORES.delete(call)["id"])
    return {}


def get_quota(call: Call) -> Document:
    """Read how many secrets there are and may be."""
    return {"secrets": {"quota": QUOTA, "usage": used(call)}}


def used(call: Call) -> int:
    """How many secrets the account has."""
    return sum(call.store.count(SECRETS.kind, store["id"]) for store in STORES.all(call))


def create_secrets(call: Call, body: list[Document]) -> list[Document]:
    """Add secrets, all or none."""
    return [_add(call, each, call.state.vault.seal(each["value"])) for each in body]


def duplicate_secret(call: Call, body: Document) -> Document:
    """Add a secret of the same value under another name."""
    sealed = call.store.get(_VALUE, call.params["store_id"], SECRETS.get(call)["id"]) or {}
    return _add(call, body, sealed["sealed"])


def _add(call: Call, body: Document, sealed: str) -> Document:
    store = STORES.get(call)
    if SECRETS.is_taken(call, "name", body["name"]):
        raise errors.NAME_TAKEN(name=body["name"])
    if used(call) >= QUOTA:
        raise errors.FULL(limit=QUOTA)
    now = call.state.clock.stamp()
    secret = {
        "id": hex_id(),
        "store_id": store["id"],
        "name": body["name"],
        "comment": body.get("comment") or "",
        "scopes": body.get("scopes") or [],
        "status": "active",
        "created": now,
        "modified": now,
    }
    return _put(call, secret, sealed)


def _put(call: Call, secret: Document, sealed: str | None) -> Document:
    if sealed is not None:
        call.store.put(_VALUE, secret["store_id"], secret["id"], {"sealed": sealed})
    return SECRETS.put(call, secret)


def change_secret(call: Call, body: Document) -> Document:
    """Change the value, comment or scopes of a secret; what is not said stays."""
    changes = {name: body[name] for name in ("comment", "scopes") if body.get(name) is not None}
    sealed = call.state.vault.seal(body["value"]) if body.get("value") is not None else None
    return _put(call, {**SECRETS.get(call), **changes, "modified": call.state.clock.stamp()}, sealed)


def delete_secret(call: Call) -> Document:
    """Remove the path's secret; what it was."""
    secret = SECRETS.get(call)
    for kind in (SECRETS.kind, _VALUE):
        call.store.delete(kind, secret["store_id"], secret["id"])
    return {**secret, "status": "deleted"}


def delete_secrets(call: Call, body: list[Document]) -> list[Document]:
    """Delete secrets by their ids, all or none."""
    deleted = []
    for each in body:
        call.params["secret_id"] = each["id"]
        deleted.append(delete_secret(call))
    return deleted


def list_secrets(call: Call) -> Result:
    """List the secrets of the path's store that fit the filters, without their values."""
    search, scopes = call.query.get("search"), call.query.get("scopes")
    wanted = {each for each in scopes.split(",") if each}
    found = [
        each for each in SECRETS.all(call) if search.lower() in each["name"].lower() and wanted <= set(each["scopes"])
    ]
    return page_of(call, ordered(call, found, ("name", "comment", "created", "modified", "status"), "name"))
