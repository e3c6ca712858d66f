"""Many keys in one call: all of them or, when one is not in order, none."""

import base64
import binascii
import json

from emulator.calls import Call
from emulator.store import Document

from . import errors, rules


def write_many(call: Call, pairs: list[Document]) -> Document:
    """Write keys."""
    for pair in pairs:
        expirations = {name: int(pair[name]) for name in ("expiration_ttl", "expiration") if pair.get(name)}
        rules.put_value(call, pair["key"], _value(pair), pair.get("metadata"), expirations)
    return {"successful_key_count": len(pairs), "unsuccessful_keys": []}


def _value(pair: Document) -> bytes:
    if not pair.get("base64"):
        return str(pair["value"]).encode()
    try:
        return base64.b64decode(pair["value"], validate=True)
    except binascii.Error as error:
        raise errors.BAD_BULK(problem=f"the value of {pair['key']} is not base64") from error


def delete_many(call: Call, names: list[str]) -> Document:
    """Delete keys."""
    for name in names:
        rules.remove(call, name)
    return {"successful_key_count": len(names), "unsuccessful_keys": []}


def read_many(call: Call, body: Document) -> Document:
    """Read the values of up to a hundred keys; of those that are not there the metadata says null, values nothing."""
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
    return {"values": values}


def _decoded(call: Call, key: Document, *, as_json: bool) -> object:
    try:
        value = rules.value_of(call, key).decode()
        return json.loads(value) if as_json else value
    except ValueError as error:
        raise errors.BAD_BULK(problem=f"the value of {key['name']} is not {'JSON' if as_json else 'text'}") from error
