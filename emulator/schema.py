"""Checks of request bodies, built from small functions.

A check takes a value and its path and adds sentences to a list of problems; none means the value is fine.
Services compose them into one check per body and let `Call.body` raise the service's own error for the first problem.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Check = Callable[[Any, str, list[str]], None]


def problems(check: Check, value: object) -> list[str]:
    """Every reason why the value is not what the check asks for."""
    found: list[str] = []
    check(value, "", found)
    return found


def without_nulls(body: Mapping[str, Any] | None) -> dict[str, Any]:
    """What is set: in most bodies null means the same as leaving a field out."""
    return {name: value for name, value in (body or {}).items() if value is not None}


def text(
    *, least: int = 0, most: int | None = None, pattern: str | None = None, choices: Sequence[str] | None = None
) -> Check:
    """A string, with limits of length, a full-match pattern, or a set of values."""
    compiled = re.compile(pattern) if pattern else None

    def check(value: Any, path: str, found: list[str]) -> None:
        if not isinstance(value, str):
            found.append(f"{path or 'body'} must be a string")
        elif choices is not None and value not in choices:
            found.append(f"{path or 'body'} must be one of {', '.join(choices)}")
        elif len(value) < least or (most is not None and len(value) > most):
            limit = f"{least} to {most}" if most is not None else f"at least {least}"
            found.append(f"{path or 'body'} must be {limit} characters long")
        elif compiled and not compiled.fullmatch(value):
            found.append(f"{path or 'body'} has an invalid format")

    return check


def flag() -> Check:
    """A boolean."""

    def check(value: Any, path: str, found: list[str]) -> None:
        if not isinstance(value, bool):
            found.append(f"{path or 'body'} must be a boolean")

    return check


def number(*, least: float | None = None, most: float | None = None, whole: bool = False) -> Check:
    """A number; `whole` also takes 30.0, as JSON knows no integers."""

    def check(value: Any, path: str, found: list[str]) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            found.append(f"{path or 'body'} must be a number")
        elif whole and value != int(value):
            found.append(f"{path or 'body'} must be a whole number")
        elif (least is not None and value < least) or (most is not None and value > most):
            found.append(f"{path or 'body'} must be between {least} and {most}")

    return check


def items(check_item: Check, *, least: int = 0, most: int | None = None) -> Check:
    """An array of equal things."""

    def check(value: Any, path: str, found: list[str]) -> None:
        if not isinstance(value, list):
            found.append(f"{path or 'body'} must be an array")
            return
        if len(value) < least or (most is not None and len(value) > most):
            limit = f"{least} to {most}" if most is not None else f"at least {least}"
            found.append(f"{path or 'body'} must have {limit} items")
        for index, item in enumerate(value):
            check_item(item, f"{path}[{index}]", found)

    return check


def fields(
    required: Mapping[str, Check] | None = None, optional: Mapping[str, Check] | None = None, *, closed: bool = True
) -> Check:
    """An object; `closed` refuses fields it does not know."""
    needed = dict(required or {})
    known = {**needed, **(optional or {})}

    def check(value: Any, path: str, found: list[str]) -> None:
        if not isinstance(value, dict):
            found.append(f"{path or 'body'} must be an object")
            return
        prefix = f"{path}." if path else ""
        found.extend(f"{prefix}{name} is required" for name in needed if name not in value)
        for name, item in value.items():
            if name in known:
                known[name](item, prefix + name, found)
            elif closed:
                found.append(f"{prefix}{name} is not a known field")

    return check


def mapping(check_value: Check, check_name: Check | None = None) -> Check:
    """An object with free or equally checked names and equal values."""

    def check(value: Any, path: str, found: list[str]) -> None:
        if not isinstance(value, dict):
            found.append(f"{path or 'body'} must be an object")
            return
        for name, item in value.items():
            inner = f"{path}.{name}" if path else name
            if check_name is not None:
                check_name(name, f"the name {inner!r}", found)
            check_value(item, inner, found)

    return check


def nullable(inner: Check) -> Check:
    """The inner value or null, which is how the provider removes a field."""

    def check(value: Any, path: str, found: list[str]) -> None:
        if value is not None:
            inner(value, path, found)

    return check


def either(*checks: Check) -> Check:
    """The first check that is content wins; otherwise the problems of the last one are told."""

    def check(value: Any, path: str, found: list[str]) -> None:
        attempt: list[str] = []
        for candidate in checks:
            attempt = []
            candidate(value, path, attempt)
            if not attempt:
                return
        found.extend(attempt)

    return check


def anything() -> Check:
    """Any JSON."""

    def check(_value: Any, _path: str, _found: list[str]) -> None:
        return

    return check
