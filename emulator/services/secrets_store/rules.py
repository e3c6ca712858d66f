"""State and rules of the Secrets Store.

An account has one store. A secret's value is sealed when it comes in, and no operation gives it out: not even a copy
can be told from its original.
"""

from emulator.calls import Call
from emulator.clock import hex_id
from emulator.store import Document

from . import errors

STORE, SECRET, VALUE = "secrets_store", "secrets_store_secret", "secrets_store_value"
QUOTA = 100


def create_store(call: Call, name: str) -> Document:
    """Make the account's store."""
    if call.store.count(STORE, call.account_id):
        raise errors.STORE_EXISTS()
    now = call.world.clock.stamp()
    store = {"id": hex_id(), "name": name, "created": now, "modified": now, "account_id": call.account_id}
    return call.store.put(STORE, call.account_id, store["id"], store)


def get_store(call: Call) -> Document:
    """The path's store."""
    store = call.store.get(STORE, call.account_id, call.params["store_id"])
    if store is None:
        raise errors.NO_STORE()
    return store


def delete_store(call: Call) -> None:
    """Remove a store with its secrets."""
    store = get_store(call)
    call.store.delete_scope(store["id"])
    call.store.delete(STORE, call.account_id, store["id"])


def used(call: Call) -> int:
    """How many secrets the account has."""
    return sum(call.store.count(SECRET, store["id"]) for store in call.store.select(STORE, call.account_id))


def create_secret(call: Call, body: Document) -> Document:
    """Add a secret."""
    return _add(call, body, call.world.vault.seal(body["value"]))


def duplicate(call: Call, body: Document) -> Document:
    """Add a secret of the same value under another name."""
    sealed = call.store.get(VALUE, call.params["store_id"], get_secret(call)["id"]) or {}
    return _add(call, body, sealed["sealed"])


def _add(call: Call, body: Document, sealed: str) -> Document:
    store = get_store(call)
    if call.store.find(SECRET, store["id"], "name", body["name"]):
        raise errors.NAME_TAKEN(name=body["name"])
    if used(call) >= QUOTA:
        raise errors.FULL(limit=QUOTA)
    now = call.world.clock.stamp()
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
        call.store.put(VALUE, secret["store_id"], secret["id"], {"sealed": sealed})
    return call.store.put(SECRET, secret["store_id"], secret["id"], secret, labels={"name": secret["name"]})


def get_secret(call: Call) -> Document:
    """The path's secret, without its value."""
    secret = call.store.get(SECRET, get_store(call)["id"], call.params["secret_id"])
    if secret is None:
        raise errors.NO_SECRET()
    return secret


def change_secret(call: Call, body: Document) -> Document:
    """Give a secret another value, comment or scopes; what is not said stays."""
    changes = {name: body[name] for name in ("comment", "scopes") if body.get(name) is not None}
    sealed = call.world.vault.seal(body["value"]) if body.get("value") is not None else None
    return _put(call, {**get_secret(call), **changes, "modified": call.world.clock.stamp()}, sealed)


def delete_secret(call: Call, secret: Document) -> Document:
    """Remove a secret; what it was."""
    for kind in (SECRET, VALUE):
        call.store.delete(kind, secret["store_id"], secret["id"])
    return {**secret, "status": "deleted"}


def secrets(call: Call) -> list[Document]:
    """Secrets of the path's store that fit the filters, in order."""
    search, scopes = call.query.get("search"), call.query.get("scopes")
    order = call.choice("order", ("name", "comment", "created", "modified", "status"), "name")
    descending = call.choice("direction", ("asc", "desc"), "asc") == "desc"
    wanted = {each for each in scopes.split(",") if each}
    found = [
        each
        for each in call.store.select(SECRET, get_store(call)["id"])
        if search.lower() in each["name"].lower() and wanted <= set(each["scopes"])
    ]
    return sorted(found, key=lambda each: str(each[order]), reverse=descending)
