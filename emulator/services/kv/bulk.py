"""Many keys in one call: all of them or, when one is not in order, none."""

import base64
import binascii
import json

from emulator.calls import Call, Result
from emulator.registry import MEBIBYTE, Service
from emulator.schema import anything, fields, flag, items, nullable, number, text
from emulator.store import Document

from . import errors, rules

_NAMESPACE = "/accounts/{account_id}/storage/kv/namespaces/{namespace_id}"
_MOST_WRITTEN, _MOST_READ = 10_000, 100
_SECONDS = nullable(number(least=0, most=10**11, whole=True))
_PAIR = fields(
    {"key": text(), "value": text()},
    {"base64": nullable(flag()), "expiration": _SECONDS, "expiration_ttl": _SECONDS, "metadata": anything()},
)
_PAIRS = items(_PAIR, least=1, most=_MOST_WRITTEN)
_NAMES = items(text(least=1), least=1, most=_MOST_WRITTEN)
_ASKED = fields(
    {"keys": items(text(least=1), least=1, most=_MOST_READ)},
    {"type": nullable(text(choices=["text", "json"])), "withMetadata": nullable(flag())},
)


def declare(api: Service) -> None:
    """Add the operations to those of KV."""
    read, write, limit = "Workers KV Storage Read", "Workers KV Storage Write", 101 * MEBIBYTE
    api.operation("PUT", _NAMESPACE + "/bulk", needs=write, body_limit=limit)(write_many)
    api.operation("POST", _NAMESPACE + "/bulk/delete", needs=write, body_limit=limit)(delete_many)
    # The older form, which wrangler still sends.
    api.operation("DELETE", _NAMESPACE + "/bulk", needs=write, body_limit=limit, name="delete_many_older")(delete_many)
    api.operation("POST", _NAMESPACE + "/bulk/get", needs=read)(read_many)


def write_many(call: Call) -> Result:
    """Write keys."""
    pairs = call.body(_PAIRS, errors.BAD_BULK)
    for pair in pairs:
        expirations = {name: int(pair[name]) for name in ("expiration_ttl", "expiration") if pair.get(name)}
        rules.put_value(call, pair["key"], _value(pair), pair.get("metadata"), expirations)
    return Result({"successful_key_count": len(pairs), "unsuccessful_keys": []})


def _value(pair: Document) -> bytes:
    if not pair.get("base64"):
        return str(pair["value"]).encode()
    try:
        return base64.b64decode(pair["value"], validate=True)
    except binascii.Error as error:
        raise errors.BAD_BULK(problem=f"the value of {pair['key']} is not base64") from error


def delete_many(call: Call) -> Result:
    """Delete keys."""
    names = call.body(_NAMES, errors.BAD_BULK)
    for name in names:
        rules.remove(call, name)
    return Result({"successful_key_count": len(names), "unsuccessful_keys": []})


def read_many(call: Call) -> Result:
    """Read the values of up to a hundred keys; of those that are not there the metadata says null, values nothing."""
    body = call.body(_ASKED, errors.BAD_BULK)
    values: Document = {}
    for name in body["keys"]:
        key = rules.find_key(call, name)
        if key is None:
            values |= {name: None} if body.get("withMetadata") else {}
            continue
        values[name] = _decoded(call, key, as_json=body.get("type") == "json")
        if body.get("withMetadata"):
            values[name] = {"value": values[name], "metadata": key.get("metadata")}
            values[name] |= {"expiration": key["expiration"]} if "expiration" in key else {}
    return Result({"values": values})


def _decoded(call: Call, key: Document, *, as_json: bool) -> object:
    try:
        value = rules.value_of(call, key).decode()
        return json.loads(value) if as_json else value
    except ValueError as error:
        raise errors.BAD_BULK(problem=f"the value of {key['name']} is not {'JSON' if as_json else 'text'}") from error
