"""Checks of request bodies, built from small functions.

A check takes a value and its path and reports what is wrong; nothing reported means the value is fine. Services compose
them into one check per body, which `routes.py` names, and the service's failure says what is answered to another body.
A `Report` is the language in which problems are told: most services share one, Containers has its own.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any


class Report:
    """What is wrong with a body, in the order in which it was found."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def tell(self, path: str, problem: str) -> None:
        """Add what is wrong with what lies at a path."""
        self.told.append((path, problem))

    def wrong_type(self, path: str, wanted: str, _value: Any) -> None:
        """The value has another JSON type."""
        self.tell(path, f"must be {'an' if wanted[0] in 'ao' else 'a'} {wanted}")

    def not_whole(self, path: str) -> None:
        """The number has a fraction."""
        self.tell(path, "must be a whole number")

    def not_among(self, path: str, choices: Sequence[object]) -> None:
        """The value is none of a set."""
        self.tell(path, f"must be one of {', '.join(map(str, choices))}")

    def out_of_range(self, path: str, _value: float, least: float | None, most: float | None) -> None:
        """The number is too small or too large."""
        self.tell(path, f"must be between {least} and {most}")

    def wrong_length(self, path: str, _length: int, least: int, most: int | None) -> None:
        """The text is too short or too long."""
        self.tell(path, f"must be {_limits(least, most)} characters long")

    def wrong_count(self, path: str, least: int, most: int | None) -> None:
        """The array has too few or too many items."""
        self.tell(path, f"must have {_limits(least, most)} items")

    def missing(self, path: str, _check: "Check") -> None:
        """A field is required and not there."""
        self.tell(path, "is required")

    def unknown(self, path: str, name: str) -> None:
        """An object has a field that nobody knows."""
        # A field without a name would look like the body itself.
        self.tell(_join(path, name or '""'), "is not a known field")


Check = Callable[[Any, str, Report], None]


def _limits(least: int, most: int | None) -> str:
    return f"{least} to {most}" if most is not None else f"at least {least}"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def problems(check: Check, value: object) -> list[str]:
    """Every reason why the value is not what the check asks for."""
    report = Report()
    check(value, "", report)
    return [f"{path or 'body'} {problem}" for path, problem in report.told]


def without_nulls(body: Mapping[str, Any] | None) -> dict[str, Any]:
    """What is set: in most bodies null means the same as leaving a field out."""
    return {name: value for name, value in (body or {}).items() if value is not None}


def text(
    *, least: int = 0, most: int | None = None, pattern: str | None = None, choices: Sequence[str] | None = None
) -> Check:
    """A string, with limits of length, a full-match pattern, or a set of values."""
    compiled = re.compile(pattern) if pattern else None

    def check(value: Any, path: str, report: Report) -> None:
        if not isinstance(value, str):
            report.wrong_type(path, "string", value)
        elif choices is not None and value not in choices:
            report.not_among(path, choices)
        elif len(value) < least or (most is not None and len(value) > most):
            report.wrong_length(path, len(value), least, most)
        elif compiled and not compiled.fullmatch(value):
            report.tell(path, "has an invalid format")

    return check


def flag() -> Check:
    """A boolean."""

    def check(value: Any, path: str, report: Report) -> None:
        if not isinstance(value, bool):
            report.wrong_type(path, "boolean", value)

    return check


def number(
    *, least: float | None = None, most: float | None = None, whole: bool = False, choices: Sequence[int] | None = None
) -> Check:
    """A number; `whole` also takes 30.0, as JSON knows no integers."""

    def check(value: Any, path: str, report: Report) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            report.wrong_type(path, "number", value)
        elif whole and value != int(value):
            report.not_whole(path)
        elif choices is not None and value not in choices:
            report.not_among(path, choices)
        elif (least is not None and value < least) or (most is not None and value > most):
            report.out_of_range(path, value, least, most)

    return check


def items(check_item: Check, *, least: int = 0, most: int | None = None) -> Check:
    """An array of equal things."""

    def check(value: Any, path: str, report: Report) -> None:
        if not isinstance(value, list):
            report.wrong_type(path, "array", value)
            return
        if len(value) < least or (most is not None and len(value) > most):
            report.wrong_count(path, least, most)
        for index, item in enumerate(value):
            check_item(item, f"{path}[{index}]", report)

    return check


def fields(
    required: Mapping[str, Check] | None = None, optional: Mapping[str, Check] | None = None, *, closed: bool = True
) -> Check:
    """An object; `closed` refuses fields it does not know."""
    needed = dict(required or {})
    known = {**needed, **(optional or {})}

    def check(value: Any, path: str, report: Report) -> None:
        if not isinstance(value, dict):
            report.wrong_type(path, "object", value)
            return
        for name, inner in needed.items():
            if name not in value:
                report.missing(_join(path, name), inner)
        for name, item in value.items():
            if name in known:
                known[name](item, _join(path, name), report)
            elif closed:
                report.unknown(path, name)

    return check


def options(**optional: Check) -> Check:
    """An object whose fields may all be left out."""
    return fields({}, optional)


def open_options(**optional: Check) -> Check:
    """As `options`, with any other fields beside them."""
    return fields({}, optional, closed=False)


def mapping(check_value: Check, check_name: Check | None = None) -> Check:
    """An object with free or equally checked names and equal values."""

    def check(value: Any, path: str, report: Report) -> None:
        if not isinstance(value, dict):
            report.wrong_type(path, "object", value)
            return
        for name, item in value.items():
            inner = _join(path, name)
            if check_name is not None:
                check_name(name, f"the name {inner!r}", report)
            check_value(item, inner, report)

    return check


def nullable(inner: Check) -> Check:
    """The inner value or null, which is how the provider removes a field."""

    def check(value: Any, path: str, report: Report) -> None:
        if value is not None:
            inner(value, path, report)

    return check


def either(*checks: Check) -> Check:
    """The first check that is content wins; otherwise the problems of the last one are told."""

    def check(value: Any, path: str, report: Report) -> None:
        attempt = type(report)()
        for candidate in checks:
            attempt = type(report)()
            candidate(value, path, attempt)
            if not attempt.told:
                return
        for each in attempt.told:
            report.tell(*each)

    return check


def anything() -> Check:
    """Any JSON."""
    return lambda _value, _path, _report: None
