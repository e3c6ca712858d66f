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
    """Set a key."""
    namespace, name = get_namespace(call), call.params["key_name"]
    if not 0 < len(name.encode()) <= 512 or name in (".", ".."):
        raise errors.BAD_KEY()
    key: Document = {"name": name}
    expiration = _expiration(call)
    if expiration:
        key["expiration"] = expiration
    if metadata is not None:
        key["metadata"] = metadata
    call.store.put("kv_key", namespace["id"], name, key)
    call.store.put("kv_value", namespace["id"], name, {"base64": base64.b64encode(value).decode()})


def _expiration(call: Call) -> int | None:
    now = int(call.world.clock.time())
    for parameter, start in (("expiration_ttl", now), ("expiration", 0)):
        value = call.query.get(parameter)
        if value:
            moment = start + int(value) if value.isascii() and value.isdigit() and len(value) < 12 else 0
            if moment < now + 60:
                raise errors.BAD_EXPIRATION(name=parameter)
            return moment
    return None


def get_key(call: Call) -> Document:
    """The path's key, unless it expired."""
    key = call.store.get("kv_key", get_namespace(call)["id"], call.params["key_name"])
    if key is None or not _alive(call, key):
        raise errors.NO_KEY()
    return key


def read(call: Call) -> bytes:
    """The value of the path's key."""
    key = get_key(call)
    value = call.store.get("kv_value", call.params["namespace_id"], key["name"]) or {"base64": ""}
    return base64.b64decode(value["base64"])


def remove(call: Call) -> None:
    """Remove the path's key; one that is not there is no error, as in the real API."""
    namespace = get_namespace(call)
    for kind in ("kv_key", "kv_value"):
        call.store.delete(kind, namespace["id"], call.params["key_name"])


def _alive(call: Call, key: Document) -> bool:
    return bool(key.get("expiration", float("inf")) > call.world.clock.time())


def keys(call: Call, *, prefix: str, after: str | None) -> list[Document]:
    """Living keys in the order of their names."""
    namespace = get_namespace(call)
    found = call.store.select("kv_key", namespace["id"], order="key", prefix=prefix, after=after)
    return [key for key in found if _alive(call, key)]
