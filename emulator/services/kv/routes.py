"""Operations of Workers KV."""

import json

from emulator.calls import Call, Raw, Result, parse_json
from emulator.errors import ApiError
from emulator.multipart import is_multipart, parse_multipart
from emulator.paging import asked_page, cursor_after, cursor_for, cut, page_of, page_of_kind, whole_query
from emulator.registry import MEBIBYTE, Fidelity, Service
from emulator.schema import fields, nullable, text

from . import bulk, errors, rules

api = Service(
    "kv",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
)

bulk.declare(api)

READ, WRITE = "Workers KV Storage Read", "Workers KV Storage Write"
_NAMESPACES = "/accounts/{account_id}/storage/kv/namespaces"
_NAMESPACE = _NAMESPACES + "/{namespace_id}"
_BODY = fields(
    {"title": text(least=1, most=512)},
    {"jurisdiction": nullable(text(choices=["eu", "us", "fedramp"])), "mode": nullable(text())},
)


@api.operation("GET", _NAMESPACES, needs=READ)
def list_namespaces(call: Call) -> Result:
    """List namespaces."""
    page = {"default": 20, "most": 1000}
    order = call.choice("order", ("id", "title"), "id")
    direction = call.choice("direction", ("asc", "desc"), "asc")
    if (order, direction) == ("id", "asc"):
        return page_of_kind(call, "kv_namespace", call.account_id, order="key", **page)
    asked_page(call, **page)
    found = call.store.select("kv_namespace", call.account_id)
    found.sort(key=lambda namespace: str(namespace[order]), reverse=direction == "desc")
    return page_of(call, found, **page)


@api.operation("POST", _NAMESPACES, needs=WRITE, note="visible at once; the real one may lag (404 code 10013)")
def create_namespace(call: Call) -> Result:
    """Create a namespace."""
    return Result(rules.create_namespace(call, call.body(_BODY, errors.NO_TITLE)))


@api.operation("GET", _NAMESPACE, needs=READ)
def get_namespace(call: Call) -> Result:
    """Read a namespace."""
    return Result(rules.get_namespace(call))


@api.operation("PUT", _NAMESPACE, needs=WRITE)
def rename_namespace(call: Call) -> Result:
    """Change a namespace."""
    return Result(rules.change_namespace(call, call.body(_BODY, errors.NO_TITLE)))


@api.operation("DELETE", _NAMESPACE, needs=WRITE, fidelity=Fidelity.PARTIAL, note="bindings to it are not looked for")
def delete_namespace(call: Call) -> Result:
    """Delete a namespace."""
    rules.delete_namespace(call)
    return Result({})


@api.operation("GET", _NAMESPACE + "/keys", needs=READ)
def list_keys(call: Call) -> Result:
    """List keys by name, with a cursor."""
    limit = whole_query(call, "limit", 1000, 10, 1000)
    found = rules.keys(call, prefix=call.query.get("prefix", ""), after=cursor_after(call))
    part, more = cut(found, limit)
    cursor = cursor_for(part[-1]["name"]) if more else ""
    return Result(part, {"count": len(part), "cursor": cursor})


@api.operation("PUT", _NAMESPACE + "/values/{key_name}", needs=WRITE, body_limit=26 * MEBIBYTE)
def write_value(call: Call) -> Result:
    """Write a value, plain or as a multipart body with metadata."""
    rules.get_namespace(call)
    content_type = call.headers.get("content-type", "")
    value, metadata = call.body_bytes, None
    if is_multipart(content_type):
        parts = {part.name: part.body for part in parse_multipart(content_type, call.body_bytes)}
        value = parts.get("value", b"")
        metadata = _metadata(parts["metadata"]) if "metadata" in parts else None
    rules.write(call, value, metadata)
    return Result({})


def _metadata(content: bytes) -> object:
    try:
        metadata: object = parse_json(content)
    except ApiError as error:
        raise errors.BAD_METADATA() from error
    if len(json.dumps(metadata)) > 1024:
        raise errors.BAD_METADATA()
    return metadata


@api.operation("GET", _NAMESPACE + "/values/{key_name}", needs=READ)
def read_value(call: Call) -> Raw:
    """Read a value."""
    value = rules.read(call)
    key = rules.get_key(call)
    headers = {"expiration": str(key["expiration"])} if "expiration" in key else {}
    return Raw(value, "application/octet-stream", headers=headers)


@api.operation("DELETE", _NAMESPACE + "/values/{key_name}", needs=WRITE)
def delete_value(call: Call) -> Result:
    """Delete a key."""
    rules.remove(call, call.params["key_name"])
    return Result({})


@api.operation("GET", _NAMESPACE + "/metadata/{key_name}", needs=READ)
def read_metadata(call: Call) -> Result:
    """Read a key's metadata."""
    return Result(rules.get_key(call).get("metadata"))
