"""KV bindings: workerd's requests, answered from the state the API has."""

import json
from typing import Any
from urllib.parse import unquote

from emulator.calls import Call, Raw, dump, parse_json
from emulator.errors import ApiError
from emulator.paging import cursor_for
from emulator.registry import MEBIBYTE
from emulator.services.kv import rules
from emulator.store import Document

_LARGEST = 25 * MEBIBYTE
_MOST_KEYS = 1000
_MOST_AT_ONCE = 100


def answer(call: Call, content: bytes) -> Raw:
    """One request of a binding; refusals go out as plain text."""
    name = unquote(call.raw_path.removeprefix("/"))
    call.params["key_name"] = name
    if len(content) > _LARGEST:
        return Raw(f"Value length of {len(content)} exceeds limit of {_LARGEST}.".encode(), "text/plain", 413)
    try:
        if call.method == "POST" and name == "bulk/get":
            return Raw(dump(_several(call, parse_json(content))))
        if call.method == "GET" and not name:
            return Raw(dump(_list(call)))
        return _one(call, content)
    except ApiError as error:
        return Raw(error.errors[0]["message"].encode(), "text/plain", error.status)


def _one(call: Call, content: bytes) -> Raw:
    if call.method == "GET":
        key = rules.get_key(call)
        headers = {"cf-kv-metadata": json.dumps(key["metadata"])} if "metadata" in key else {}
        if "expiration" in key:
            headers["cf-expiration"] = str(key["expiration"])
        return Raw(rules.value_of(call, key), "application/octet-stream", headers=headers)
    if call.method == "PUT":
        metadata = call.headers.get("cf-kv-metadata")
        with call.store.transaction():
            rules.write(call, content, parse_json(metadata.encode("latin-1")) if metadata else None)
    elif call.method == "DELETE":
        with call.store.transaction():
            rules.remove(call, call.params["key_name"])
    else:
        return Raw(b"", None, 405)
    return Raw(b"", None)


def _list(call: Call) -> Document:
    limit = min(int(call.query.get("key_count_limit") or _MOST_KEYS), _MOST_KEYS)
    found, more = rules.keys(call, limit)
    keys = [{**key, "metadata": json.dumps(key["metadata"])} if "metadata" in key else key for key in found]
    listed: Document = {"keys": keys, "list_complete": not more, "cacheStatus": None}
    return {**listed, "cursor": cursor_for(found[-1]["name"])} if more else listed


def _several(call: Call, asked: Any) -> Document:
    values: Document = {}
    for name in asked["keys"][:_MOST_AT_ONCE]:
        call.params["key_name"] = name
        values[name] = _value(call, asked)
    return values


def _value(call: Call, asked: Document) -> Any:
    try:
        key = rules.get_key(call)
    except ApiError:
        return None
    text = rules.value_of(call, key).decode(errors="replace")
    value = json.loads(text) if asked.get("type") == "json" else text
    return {"value": value, "metadata": key.get("metadata")} if asked.get("withMetadata") else value
