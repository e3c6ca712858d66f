"""State and rules of Workers KV.

A title is unique in its account. Keys expire by the emulator's clock; an expired key is as good as gone.
"""

import base64
from typing import Any

from emulator.calls import Call
from emulator.clock import hex_id
from emulator.store import Document

from . import errors

_NAMESPACE = "kv_namespace"
_EXPIRATIONS = ("expiration_ttl", "expiration")


def create_namespace(call: Call, body: Document) -> Document:
    """Make a namespace."""
    _check_title(call, body["title"], "")
    return _put(call, {"id": hex_id(), "supports_url_encoding": True}, body)


def change_namespace(call: Call, body: Document) -> Document:
    """Give a namespace another title, mode or jurisdiction; what is not said stays."""
    namespace = get_namespace(call)
    _check_title(call, body["title"], namespace["id"])
    return _put(call, namespace, body)


def _put(call: Call, former: Document, body: Document) -> Document:
    namespace = {**former, **{name: value for name, value in body.items() if value is not None}}
    return call.store.put(_NAMESPACE, call.account_id, namespace["id"], namespace, labels={"title": namespace["title"]})


def _check_title(call: Call, title: str, own_id: str) -> None:
    taken = call.store.find(_NAMESPACE, call.account_id, "title", title)
    if any(other["id"] != own_id for other in taken):
        raise errors.TITLE_TAKEN()


def get_namespace(call: Call) -> Document:
    """The path's namespace."""
    namespace = call.store.get(_NAMESPACE, call.account_id, call.params["namespace_id"])
    if namespace is None:
        raise errors.NO_NAMESPACE()
    return namespace


def delete_namespace(call: Call) -> None:
    """Remove a namespace with its keys."""
    namespace = get_namespace(call)
    call.store.delete_all("kv_key", namespace["id"])
    call.store.delete_all("kv_value", namespace["id"])
    call.store.delete(_NAMESPACE, call.account_id, namespace["id"])


def write(call: Call, value: bytes, metadata: Any) -> None:
    """Set the path's key."""
    given = {name: text if _is_number(text) else "0" for name, text in call.query.given(*_EXPIRATIONS).items()}
    put_value(call, call.params["key_name"], value, metadata, {name: int(text) for name, text in given.items()})


def put_value(call: Call, name: str, value: bytes, metadata: Any, expirations: dict[str, int]) -> None:
    """Set a key."""
    namespace = get_namespace(call)
    if not 0 < len(name.encode()) <= 512 or name in (".", ".."):
        raise errors.BAD_KEY()
    key: Document = {"name": name}
    expiration = _expiration(call, expirations)
    if expiration:
        key["expiration"] = expiration
    if metadata is not None:
        key["metadata"] = metadata
    call.store.put("kv_key", namespace["id"], name, key)
    call.store.put("kv_value", namespace["id"], name, {"base64": base64.b64encode(value).decode()})


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 12


def _expiration(call: Call, given: dict[str, int]) -> int | None:
    """When a key expires; the time to live takes precedence."""
    now = int(call.world.clock.time())
    for name in _EXPIRATIONS:
        if name in given:
            moment = now + given[name] if name == "expiration_ttl" else given[name]
            if moment < now + 60:
                raise errors.BAD_EXPIRATION(name=name)
            return moment
    return None


def get_key(call: Call) -> Document:
    """The path's key, unless it expired."""
    key = find_key(call, call.params["key_name"])
    if key is None:
        raise errors.NO_KEY()
    return key


def find_key(call: Call, name: str) -> Document | None:
    """A key, unless it is not there or expired."""
    key = call.store.get("kv_key", get_namespace(call)["id"], name)
    return key if key is not None and _alive(call, key) else None


def read(call: Call) -> bytes:
    """The value of the path's key."""
    return value_of(call, get_key(call))


def value_of(call: Call, key: Document) -> bytes:
    """The value of a key."""
    value = call.store.get("kv_value", call.params["namespace_id"], key["name"]) or {"base64": ""}
    return base64.b64decode(value["base64"])


def remove(call: Call, name: str) -> None:
    """Remove a key; one that is not there is no error, as in the real API."""
    namespace = get_namespace(call)
    for kind in ("kv_key", "kv_value"):
        call.store.delete(kind, namespace["id"], name)


def _alive(call: Call, key: Document) -> bool:
    return bool(key.get("expiration", float("inf")) > call.world.clock.time())


def keys(call: Call, *, prefix: str, after: str | None) -> list[Document]:
    """Living keys in the order of their names."""
    namespace = get_namespace(call)
    found = call.store.select("kv_key", namespace["id"], order="key", prefix=prefix, after=after)
    return [key for key in found if _alive(call, key)]
