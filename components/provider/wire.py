"""Property values between protobuf structs and Python.

Numbers that are whole become ints, unknown values become `UNKNOWN`, secrets are wrapped in `Secret`. `revealed` takes
the wrappers off before any logic runs; `hidden` puts them back at the same places of what goes out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.struct_pb2 import ListValue, Struct, Value

from .lifecycle.values import UNKNOWN, Path, Unknown

_SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
_SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - marks secrets on Pulumi's wire
_OUTPUT: Final = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_SHORTEST: Final = 6
_UNKNOWN: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


@dataclass(frozen=True)
class Secret:
    """A value that is to be encrypted wherever it is kept."""

    value: Any

    def __repr__(self) -> str:
        return "Secret(…)"


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


def revealed(value: Any) -> Any:
    """Take the wrappers off."""
    if isinstance(value, Secret):
        return revealed(value.value)
    if isinstance(value, dict):
        return {key: revealed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [revealed(each) for each in value]
    return value


def hidden(value: Any, like: Any, extra: Iterable[Path] = ()) -> Any:
    """Wrap what is wrapped in `like`, and what the extra paths lead to."""
    return _hide(_hidden(value, like), list(extra))


def _hidden(value: Any, like: Any) -> Any:
    if isinstance(like, Secret):
        return value if isinstance(value, Secret) else Secret(value)
    if isinstance(value, dict) and isinstance(like, dict):
        return {key: _hidden(each, like.get(key)) for key, each in value.items()}
    if isinstance(value, list) and isinstance(like, list) and _holds_secret(like):
        return Secret(value)  # places in a list may have changed, so all of it is hidden
    return value


def discreet(text: str, path: Path, news: Any, olds: Any) -> str:
    """Take secrets out of what a check says: the value it got where that is secret, and secret words anywhere."""
    if _leads_to_secret(news, path):
        text = text.partition(", got ")[0]
    for word in sorted(_secret_words(news) | _secret_words(olds), key=len, reverse=True):
        text = text.replace(word, "[secret]")
    return text


def _leads_to_secret(value: Any, path: Path) -> bool:
    if isinstance(value, Secret) or not path:
        return isinstance(value, Secret)
    inner = dict(enumerate(value)) if isinstance(value, list) else value
    return isinstance(inner, dict) and _leads_to_secret(inner.get(path[0]), path[1:])


def _secret_words(value: Any, *, inside: bool = False) -> set[str]:
    """Give the strings inside secrets; shorter ones hide nothing and occur in every sentence."""
    if isinstance(value, Secret):
        return _secret_words(value.value, inside=True)
    if isinstance(value, dict | list):
        each = value.values() if isinstance(value, dict) else value
        return {word for item in each for word in _secret_words(item, inside=inside)}
    return {value} if inside and isinstance(value, str) and len(value) >= _SHORTEST else set()


def _holds_secret(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds_secret(each) for each in value.values())
    if isinstance(value, list):
        return any(_holds_secret(each) for each in value)
    return isinstance(value, Secret)


def _hide(value: Any, paths: list[Path]) -> Any:
    if () in paths:
        return value if isinstance(value, Secret) or value is UNKNOWN else Secret(value)
    if not paths or not isinstance(value, dict):
        return value
    return {key: _hide(each, [path[1:] for path in paths if path[0] == key]) for key, each in value.items()}
