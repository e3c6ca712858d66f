"""Types of properties, and what a resource declares with them: schema, checks, reference and Python classes follow.

A check reports everything that is wrong, each with its path; what a preview does not know yet passes.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..platform import durable_objects
from ..pulumi_protocol.names import camel
from ..pulumi_protocol.values import UNKNOWN, Path

PLUGIN: Final = "cloudflare-sandbox"

Schema = dict[str, Any]
Problem = tuple[Path, str]


@dataclass(frozen=True)
class PropertyType:
    """What a value may be."""

    def schema(self) -> Schema:
        """Return the type as Pulumi's schema says it."""
        return {"$ref": "pulumi.json#/Any"}

    def problems(self, value: Any, path: Path) -> Iterator[Problem]:
        """Say what is wrong with a known value."""
        yield from ()

    def records(self) -> Iterator["Record"]:
        """Return the record types inside."""
        yield from ()

    def filled(self, value: Any) -> Any:
        """Fill in defaults."""
        return value

    def camel_cased(self, value: Any) -> Any:
        """Translate names of a Python program; values inside `Output`s are left to `translated`."""
        return value


@dataclass(frozen=True)
class Anything(PropertyType):
    """Any JSON."""


@dataclass(frozen=True)
class Text(PropertyType):
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
class Number(PropertyType):
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
class Flag(PropertyType):
    """True or false."""

    def schema(self) -> Schema:
        return {"type": "boolean"}

    def problems(self, value: Any, path: Path) -> Iterator[Problem]:
        if not isinstance(value, bool):
            yield path, f"expected true or false, got {_kind(value)}"


@dataclass(frozen=True)
class Items(PropertyType):
    """A list."""

    item: PropertyType

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

    def camel_cased(self, value: Any) -> Any:
        return [translated(self.item, each) for each in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class Table(PropertyType):
    """A map whose keys are the user's own."""

    item: PropertyType
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

    def camel_cased(self, value: Any) -> Any:
        return {key: translated(self.item, each) for key, each in value.items()} if isinstance(value, dict) else value


@dataclass(frozen=True)
class Property:
    """One property of a record or a resource."""

    type: PropertyType
    doc: str
    required: bool = False
    default: Any = None
    """Filled in when the program leaves it out; in the schema only as part of the description."""
    secret: bool = False

    def schema(self) -> Schema:
        """Return the property as Pulumi's schema says it."""
        return {**self.type.schema(), "description": self.doc, **({"secret": True} if self.secret else {})}


@dataclass(frozen=True)
class Record(PropertyType):
    """An object with fixed properties; it becomes a type of the schema."""

    name: str
    properties: Mapping[str, Property] = field(hash=False)
    doc: str = ""

    def schema(self) -> Schema:
        return {"type": "object", "$ref": f"#/types/{PLUGIN}:index:{self.name}"}

    def problems(self, value: Any, path: Path) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield path, f"expected an object, got {_kind(value)}"
            return
        for name in value.keys() - self.properties.keys():
            yield (*path, name), f"no such property; known are {', '.join(sorted(self.properties))}"
        for name, each in self.properties.items():
            if name in value:
                yield from checked(each.type, value[name], (*path, name))
            elif each.required:
                yield (*path, name), "is required"

    def records(self) -> Iterator["Record"]:
        yield self
        for each in self.properties.values():
            yield from each.type.records()

    def filled(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        given = {key: each for key, each in value.items() if each is not None}
        defaults = {key: each.default for key, each in self.properties.items() if each.default is not None}
        return {
            key: self.properties[key].type.filled(each) if key in self.properties else each
            for key, each in {**defaults, **given}.items()
        }

    def camel_cased(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        named = {camel(key): each for key, each in value.items() if each is not None}
        return {
            key: translated(self.properties[key].type, each) if key in self.properties else each
            for key, each in named.items()
        }


Properties = Mapping[str, Property]


@dataclass(frozen=True)
class Declaration:
    """A resource or a function: all that is said about its properties."""

    name: str
    doc: str
    inputs: Properties
    outputs: Properties
    import_id: str = ""
    """How an import names it."""

    @property
    def token(self) -> str:
        """Return the token by which the engine knows it."""
        return f"{PLUGIN}:index:{self.name}"

    @property
    def arguments(self) -> Record:
        """Return the inputs as one type."""
        return Record(self.token, self.inputs)


def checked(kind: PropertyType, value: Any, path: Path) -> Iterator[Problem]:
    """Check a value that may be unknown."""
    if value is not UNKNOWN:
        yield from kind.problems(value, path)


def translated(kind: PropertyType, value: Any) -> Any:
    """Translate names of a value that may be an `Output` of one."""
    later: Callable[..., Any] | None = getattr(value, "apply", None)
    return kind.camel_cased(value) if later is None else later(kind.camel_cased)


def _kind(value: Any) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}
    return names.get(type(value), "null" if value is None else f"a {type(value).__name__}")


ACCOUNT_ID: Final = Text(pattern="[0-9a-f]{32}", rule="an account id of 32 hexadecimal digits")
SCRIPT_NAME: Final = Text(
    pattern="[a-z0-9_][a-z0-9_-]{0,62}", rule="1 to 63 lower-case letters, digits, hyphens and underscores"
)
CLASS_NAME: Final = Text(pattern=durable_objects.CLASS_NAME, rule="the name of a class")
IMAGE_BY_DIGEST: Final = Text(
    pattern=r"[^\s@]+/[^\s@]+@sha256:[0-9a-f]{64}",
    rule="an image with its registry and digest (host/repository@sha256:…), as a tag can change under a deployment",
)
