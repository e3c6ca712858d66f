"""State and rules of Workers KV.

A title is unique in its account. Keys expire by the emulator's clock; an expired key is as good as gone.
"""

import base64
import json
from typing import Any

from emulator.calls import Call, Raw, Result, parse_json
from emulator.clock import hex_id
from emulator.collection import Collection
from emulator.errors import ApiError
from emulator.multipart import is_multipart, parse_multipart
from emulator.paging import cursor_after, cursor_for, cut, is_descending, ordered, page_of, page_of_kind, whole_query
from emulator.schema import without_nulls
from emulator.store import Document

from . import errors

NAMESPACES = Collection("kv_namespace", "namespace_id", errors.NO_NAMESPACE, labels={"title": "title"})
_EXPIRATIONS = ("expiration_ttl", "expiration")


def list_namespaces(call: Call) -> Result:
    """List namespaces."""
    page = {"default": 20, "most": 1000}
    if not is_descending(call) and call.choice("order", ("id", "title"), "id") == "id":
        return page_of_kind(call, NAMESPACES.kind, call.account_id, order="key", **page)
    return page_of(call, ordered(call, NAMESPACES.all(call), ("id", "title"), "id"), **page)


def create_namespace(call: Call, body: Document) -> Document:
    """Make a namespace."""
    return _put(call, {"id": hex_id(), "supports_url_encoding": True}, body)


def rename_namespace(call: Call, body: Document) -> Document:
    """Change the title, mode or jurisdiction of a namespace; what is not said stays."""
    return _put(call, NAMESPACES.get(call), body)


def _put(call: Call, former: Document, body: Document) -> Document:
    if NAMESPACES.is_taken(call, "title", body["title"], former["id"]):
        raise errors.TITLE_TAKEN()
    return NAMESPACES.put(call, {**former, **without_nulls(body)})


def delete_namespace(call: Call) -> Document:
    """Remove a namespace with its keys."""
    for kind in ("kv_key", "kv_value"):
        call.store.delete_all(kind, call.params["namespace_id"])
    NAMESPACES.delete(call)
    return {}


def write_value(call: Call) -> Document:
    """Write a value, plain or as a multipart body with metadata."""
    NAMESPACES.get(call)
    content_type = call.headers.get("content-type", "")
    value, metadata = call.body_bytes, None
    if is_multipart(content_type):
        parts = {part.name: part.body for part in parse_multipart(content_type, call.body_bytes)}
        value = parts.get("value", b"")
        metadata = _metadata(parts["metadata"]) if "metadata" in parts else None
    write(call, value, metadata)
    return {}


def write(call: Call, value: bytes, metadata: Any) -> None:
    """Set the path's key."""
    given = {name: text if _is_number(text) else "0" for name, text in call.query.given(*_EXPIRATIONS).items()}
    put_value(call, call.params["key_name"], value, metadata, {name: int(text) for name, text in given.items()})


def _metadata(content: bytes) -> object:
    try:
        metadata: object = parse_json(content)
    except ApiError as error:
        raise errors.BAD_METADATA() from error
    if len(json.dumps(metadata)) > 1024:
        raise errors.BAD_METADATA()
    return metadata


def put_value(call: Call, name: str, value: bytes, metadata: Any, expirations: dict[str, int]) -> None:
    """Set a key."""
    namespace = NAMESPACES.get(call)
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
    now = int(call.state.clock.time())
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
    key = call.store.get("kv_key", NAMESPACES.get(call)["id"], name)
    return key if key is not None and _alive(call, key) else None


def read_value(call: Call) -> Raw:
    """Read a value."""
    key = get_key(call)
    headers = {"expiration": str(key["expiration"])} if "expiration" in key else {}
    return Raw(value_of(call, key), "application/octet-stream", headers=headers)


def read_metadata(call: Call) -> Any:
    """Read a key's metadata."""
    return get_key(call).get("metadata")


def value_of(call: Call, key: Document) -> bytes:
    """The value of a key."""
    value = call.store.get("kv_value", call.params["namespace_id"], key["name"]) or {"base64": ""}
    return base64.b64decode(value["base64"])


def delete_value(call: Call) -> Document:
    """Delete a key."""
    remove(call, call.params["key_name"])
    return {}


def remove(call: Call, name: str) -> None:
    """Remove a key; one that is not there is no error, as in the real API."""
    namespace = NAMESPACES.get(call)
    for kind in ("kv_key", "kv_value"):
        call.store.delete(kind, namespace["id"], name)


def _alive(call: Call, key: Document) -> bool:
    return bool(key.get("expiration", float("inf")) > call.state.clock.time())


def list_keys(call: Call) -> Result:
    """List living keys by name, with a cursor."""
    part, more = keys(call, whole_query(call, "limit", 1000, 10, 1000))
    return Result(part, {"count": len(part), "cursor": cursor_for(part[-1]["name"]) if more else ""})


def keys(call: Call, limit: int) -> tuple[list[Document], bool]:
    """So many living keys of the prefix and after the cursor asked for, by name; whether there are more."""
    prefix, after, scope = call.query.get("prefix"), cursor_after(call), NAMESPACES.get(call)["id"]
    found = call.store.select("kv_key", scope, order="key", prefix=prefix, after=after)
    return cut([key for key in found if _alive(call, key)], limit)
