"""Checks of request bodies in the words of the Containers API: a map from the path of a field to what is wrong.

The service reports every problem at once, so unlike `emulator.schema` these checks collect by path.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from emulator.calls import Call

from . import errors

Problems = dict[str, str]
Check = Callable[[Any, str, Problems], None]
ROOT = "."


def checked(call: Call, check: Check) -> Any:
    """The body, when it passes."""
    body = call.json()
    found: Problems = {}
    check(body, "", found)
    if found:
        raise errors.INVALID.about(found)
    return body


def typed(name: str, matches: Callable[[Any], bool]) -> Check:
    """A value of one JSON type."""

    def check(value: Any, path: str, found: Problems) -> None:
        if not matches(value):
            found[path or ROOT] = f"expected {name}, received {type_name(value)}"

    return check


def boolean() -> Check:
    """True or false."""
    return typed("boolean", lambda value: isinstance(value, bool))


def anything() -> Check:
    """Whatever it is, it is kept."""
    return lambda _value, _path, _found: None


def string(*, least: int = 0, most: int | None = None, choices: Sequence[str] = ()) -> Check:
    """A text, perhaps of a set."""

    def check(value: Any, path: str, found: Problems) -> None:
        if not isinstance(value, str):
            found[path or ROOT] = f"expected string, received {type_name(value)}"
        elif choices and value not in choices:
            wanted = "|".join(f'"{choice}"' for choice in choices)
            found[path or ROOT] = f"expected one of {wanted}" if len(choices) > 1 else f"expected {wanted}"
        elif len(value) < least:
            found[path or ROOT] = f"expected string to have >={least} characters"
        elif most is not None and len(value) > most:
            found[path or ROOT] = f"expected string to have <={most} characters"

    return check


def number(
    *, least: float | None = None, most: float | None = None, whole: bool = True, choices: Sequence[int] = ()
) -> Check:
    """A number, whole unless said otherwise."""

    def check(value: Any, path: str, found: Problems) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            found[path or ROOT] = f"expected number, received {type_name(value)}"
        elif whole and value != int(value):
            found[path or ROOT] = "expected int, received number"
        elif choices and value not in choices:
            found[path or ROOT] = f"expected one of {'|'.join(str(choice) for choice in choices)}"
        elif least is not None and value < least:
            found[path or ROOT] = f"expected number to be >={least}"
        elif most is not None and value > most:
            found[path or ROOT] = f"expected number to be <={most}"

    return check


def array(item: Check, *, least: int = 0, most: int | None = None) -> Check:
    """A list of equal things."""

    def check(value: Any, path: str, found: Problems) -> None:
        if not isinstance(value, list):
            found[path or ROOT] = f"expected array, received {type_name(value)}"
            return
        if len(value) < least or (most is not None and len(value) > most):
            found[path or ROOT] = f"expected array to have {least} to {'any' if most is None else most} items"
        for index, entry in enumerate(value):
            item(entry, f"{path}[{index}]", found)

    return check


def record(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """An object without fields of other names."""
    known = {**required, **(optional or {})}

    def check(value: Any, path: str, found: Problems) -> None:
        if not isinstance(value, dict):
            found[path or ROOT] = f"expected object, received {type_name(value)}"
            return
        prefix = f"{path}." if path else ""
        for name, inner in known.items():
            if name in value or name in required:
                inner(value.get(name, MISSING), prefix + name, found)
        strange = [f'"{name}"' for name in value if name not in known]
        if strange:
            found[path or ROOT] = f"unrecognized key{'s' if len(strange) > 1 else ''}: {', '.join(strange)}"

    return check


def nullable(inner: Check) -> Check:
    """The value, or null to take it away."""

    def check(value: Any, path: str, found: Problems) -> None:
        if value is not None:
            inner(value, path, found)

    return check


def either(first: Check, second: Check, which: Callable[[Any], bool]) -> Check:
    """One of two shapes; the value itself shows which it is meant to be."""

    def check(value: Any, path: str, found: Problems) -> None:
        (first if which(value) else second)(value, path, found)

    return check


class _Missing:
    """Stands for a field that is not there."""


MISSING = _Missing()


def type_name(value: Any) -> str:
    """The type as JavaScript calls it."""
    if value is None:
        return "null"
    names = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "undefined")
