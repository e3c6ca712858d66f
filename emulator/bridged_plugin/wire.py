"""Property values between protobuf structs and Python.

Whole numbers become ints and unknown values `UNKNOWN`. Secrets are read as what is inside: this plugin tells the engine
that it does not take them, and the engine marks what goes out by what went in. `Secret` marks what only comes out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.struct_pb2 import ListValue, Struct, Value

_SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
_SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - marks secrets on Pulumi's wire
_OUTPUT: Final = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_UNKNOWN: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


class Unknown:
    """A value that only a deployment will tell."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()


@dataclass(frozen=True)
class Secret:
    """A value that is to be encrypted wherever it is kept."""

    value: Any

    def __repr__(self) -> str:
        return "Secret(…)"


def decode(struct: Struct) -> dict[str, Any]:
    """Read properties; those without a value are left out."""
    found = {key: _decode(value) for key, value in struct.fields.items()}
    return {key: value for key, value in found.items() if value is not None}


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
    if fields.get(_SIGNATURE) == _SECRET:
        return fields.get("value")
    if fields.get(_SIGNATURE) == _OUTPUT:
        return fields.get("value", UNKNOWN)
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
            kind = {"struct_value": encode(value)}
    return Value(**kind)


def has_unknown(value: Any) -> bool:
    """Tell whether a value is unknown or holds one that is."""
    if isinstance(value, dict | list):
        return any(has_unknown(each) for each in (value.values() if isinstance(value, dict) else value))
    return isinstance(value, Unknown)
