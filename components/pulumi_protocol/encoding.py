"""Property values between protobuf structs and Python.

Numbers that are whole become ints, unknown values become `UNKNOWN`, secrets are wrapped in `Secret`.
"""

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.struct_pb2 import ListValue, Struct, Value

from .values import UNKNOWN, Secret, Unknown

_SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
_SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - marks secrets in Pulumi's protocol
_OUTPUT: Final = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_UNKNOWN: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


def decode(struct: Struct) -> dict[str, Any]:
    """Read properties."""
    return {key: _decode(value) for key, value in struct.fields.items()}


def _decode(value: Value) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        return UNKNOWN if value.string_value == _UNKNOWN else value.string_value
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    if kind == "bool_value":
        return value.bool_value
    if kind == "list_value":
        return [_decode(each) for each in value.list_value.values]
    return _decode_object(decode(value.struct_value)) if kind == "struct_value" else None


def _decode_object(fields: dict[str, Any]) -> Any:
    mark = fields.get(_SIGNATURE)
    if mark == _SECRET:
        return Secret(fields.get("value"))
    if mark == _OUTPUT:
        inner = fields.get("value", UNKNOWN)
        return Secret(inner) if fields.get("secret") else inner
    return fields


def encode(properties: Mapping[str, Any]) -> Struct:
    """Write properties; those without a value are left out."""
    return Struct(fields={key: _encode(value) for key, value in properties.items() if value is not None})


def _encode(value: Any) -> Value:
    kind: dict[str, Any] = {"null_value": 0}
    match value:
        case Unknown():
            kind = {"string_value": _UNKNOWN}
        case Secret():
            return _encode({_SIGNATURE: _SECRET, "value": value.value})
        case bool():
            kind = {"bool_value": value}
        case int() | float():
            kind = {"number_value": value}
        case str():
            kind = {"string_value": value}
        case list() | tuple():
            kind = {"list_value": ListValue(values=[_encode(each) for each in value])}
        case dict():
            kind = {"struct_value": Struct(fields={key: _encode(each) for key, each in value.items()})}
    return Value(**kind)
