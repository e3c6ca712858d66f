"""Shapes of properties: from one declaration come the schema, the checks and the Python spelling.

A check reports everything that is wrong, each with its path; what a preview does not know yet passes.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .lifecycle.names import camel
from .lifecycle.values import UNKNOWN, Path

Schema = dict[str, Any]
Problem = tuple[Path, str]


@dataclass(frozen=True)
class Shape:
    """What a value may be."""

    def schema(self) -> Schema:
        """Give the type as Pulumi's schema says it."""
        return {"$ref": "pulumi.json#/Any"}

    def problems(self, value: Any, path: Path) -> Iterator[Problem]:
        """Say what is wrong with a known value."""
        yield from ()

    def records(self) -> Iterator["Record"]:
        """Give the record types inside."""
        yield from ()

    def filled(self, value: Any) -> Any:
        """Fill in defaults."""
        return value

    def wire(self, value: Any) -> Any:
        """Translate names of a Python program; values inside `Output`s are left to `translated`."""
        return value


@dataclass(frozen=True)
class Anything(Shape):
    """Any JSON."""


@dataclass(frozen=True)
class Text(Shape):
    """A string: of a set, or matching a pattern that `rule` puts into words."""

    choices: tuple[str, ...] = ()
    pattern: str = ""
    rule: str = ""

    def schema(self) -> Schema:
        return {"type": "string"}

    def problems(self, value: Any, path: Path) -> Iterator[Problem]:
        if not isinstance(value, str):
            yield path, f"expected a string, got {_kind(value)}"
        elif self.choices and value not in self.choices:
            yield path, f"expected one of {', '.join(self.choices)}, got {value!r}"
        elif self.pattern and not re.fullmatch(self.pattern, value):
            yield path, f"expected {self.rule}, got {value!r}"


@dataclass(frozen=True)
class Number(Shape):
    """A number, whole unless said otherwise."""

    least: float = 0
    most: float = float("inf")
    whole: bool = True

    def schema(self) -> Schema:
        return {"type": "integer" if self.whole else "number"}

    def problems(self, value: Any, path: Path) -> Iterator[Problem]:
        noun = "a whole number" if self.whole else "a number"
        wrong_type = isinstance(value, bool) or not isinstance(value, int | float)
        if wrong_type or (self.whole and value != int(value)):
            yield path, f"expected {noun}, got {_kind(value) if wrong_type else value}"
        elif not self.least <= value <= self.most:
            upper = f" and at most {self.most:g}" if self.most < float("inf") else ""
            yield path, f"expected {noun} of at least {self.least:g}{upper}, got {value:g}"


@dataclass(frozen=True)
class Flag(Shape):
    """True or false."""

    def schema(self) -> Schema:
        return {"type": "boolean"}

    def problems(self, value: Any, path: Path) -> Iterator[Problem]:
        if not isinstance(value, bool):
            yield path, f"expected true or false, got {_kind(value)}"


@dataclass(frozen=True)
class Items(Shape):
    """A list."""

    item: Shape

    def schema(self) -> Schema:
        return {"type": "array", "items": self.item.schema()}

    def problems(self, value: Any, path: Path) -> Iterator[Problem]:
        if not isinstance(value, list):
            yield path, f"expected a list, got {_kind(value)}"
            return
        for index, each in enumerate(value):
            yield from checked(self.item, each, (*path, index))

    def records(self) -> Iterator["Record"]:
        return self.item.records()

    def filled(self, value: Any) -> Any:
        return [self.item.filled(each) for each in value] if isinstance(value, list) else value

    def wire(self, value: Any) -> Any:
        return [translated(self.item, each) for each in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class Table(Shape):
    """A map whose keys are the user's own."""

    item: Shape
    pattern: str = ""
    rule: str = ""

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": self.item.schema()}

    def problems(self, value: Any, path: Path) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield path, f"expected a map, got {_kind(value)}"
            return
        for key, each in value.items():
            if self.pattern and not re.fullmatch(self.pattern, key):
                yield (*path, key), f"expected {self.rule} as key, got {key!r}"
            yield from checked(self.item, each, (*path, key))

    def records(self) -> Iterator["Record"]:
        return self.item.records()

    def filled(self, value: Any) -> Any:
        return {key: self.item.filled(each) for key, each in value.items()} if isinstance(value, dict) else value

    def wire(self, value: Any) -> Any:
        return {key: translated(self.item, each) for key, each in value.items()} if isinstance(value, dict) else value


@dataclass(frozen=True)
class Property:
    """One property of a record or a resource."""

    shape: Shape
    doc: str
    required: bool = False
    default: Any = None
    """Filled in when the program leaves it out; in the schema only as part of the description."""
    secret: bool = False

    def schema(self) -> Schema:
        """Give the property as Pulumi's schema says it."""
        return {**self.shape.schema(), "description": self.doc, **({"secret": True} if self.secret else {})}


@dataclass(frozen=True)
class Record(Shape):
    """An object with fixed properties; it becomes a type of the schema."""

    name: str
    properties: Mapping[str, Property] = field(hash=False)
    doc: str = ""

    def schema(self) -> Schema:
        return {"type": "object", "$ref": f"#/types/cloudflare-sandbox:index:{self.name}"}

    def problems(self, value: Any, path: Path) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield path, f"expected an object, got {_kind(value)}"
            return
        for name in value.keys() - self.properties.keys():
            yield (*path, name), f"no such property; known are {', '.join(sorted(self.properties))}"
        for name, each in self.properties.items():
            if name in value:
                yield from checked(each.shape, value[name], (*path, name))
            elif each.required:
                yield (*path, name), "is required"

    def records(self) -> Iterator["Record"]:
        yield self
        for each in self.properties.values():
            yield from each.shape.records()

    def filled(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        given = {key: each for key, each in value.items() if each is not None}
        defaults = {key: each.default for key, each in self.properties.items() if each.default is not None}
        return {
            key: self.properties[key].shape.filled(each) if key in self.properties else each
            for key, each in {**defaults, **given}.items()
        }

    def wire(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        named = {camel(key): each for key, each in value.items() if each is not None}
        return {
            key: translated(self.properties[key].shape, each) if key in self.properties else each
            for key, each in named.items()
        }


def checked(shape: Shape, value: Any, path: Path) -> Iterator[Problem]:
    """Check a value that may be unknown."""
    if value is not UNKNOWN:
        yield from shape.problems(value, path)


def translated(shape: Shape, value: Any) -> Any:
    """Translate names of a value that may be an `Output` of one."""
    later: Callable[..., Any] | None = getattr(value, "apply", None)
    return shape.wire(value) if later is None else later(shape.wire)


def _kind(value: Any) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}
    return names.get(type(value), "null" if value is None else f"a {type(value).__name__}")
