"""A resource as the engine shows it to a policy pack, and how its properties become facts.

What a preview does not know yet and what is secret gives no fact, so that rules are silent about it. The names of
things inside a secret (a binding's type, a class) may be told: the mark of a secret leaf spreads over what holds it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from ..facts.stack import Fact
from ..pulumi_protocol.values import UNKNOWN, Secret, revealed

T = TypeVar("T")
Places = dict[str, str]
"""URN of the resource that each place of a fact belongs to."""

_UNKNOWN_BY_TYPE: Final = frozenset(
    {
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)
"""Besides the one for text, the engine has a sign for an unknown value of each type."""


@dataclass(frozen=True)
class Resource:
    """One resource of a program."""

    type: str
    name: str
    urn: str
    properties: Mapping[str, Any]
    """As decoded from the wire: inputs while a resource is registered, outputs when all are."""
    protected: bool = False
    parent: str = ""
    dependencies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By property: URNs of the resources whose values are in it."""

    def value(self, key: str) -> Any:
        """Return a property, `UNKNOWN` where it cannot be told, None where it is not set."""
        return known(self.properties.get(key))

    def inside(self, type_: str) -> bool:
        """Say whether a resource of this type is among its parents; the URN names their types."""
        return type_ in self.urn.split("::")[2].split("$")[:-1]


def known(value: Any) -> Any:
    """Return a value, or `UNKNOWN` if it is secret or not known yet."""
    if isinstance(value, Secret) or (isinstance(value, str) and value in _UNKNOWN_BY_TYPE):
        return UNKNOWN
    return value


def name_in(value: Any) -> Any:
    """Return a value that names something, and so may be told even where the whole that holds it is secret."""
    return known(revealed(value))


def mapping(value: Any) -> Mapping[str, Any] | None:
    """Return an object whose keys are known; their values may not be."""
    inner = value.value if isinstance(value, Secret) else value
    return inner if isinstance(inner, dict) else None


class Reader:
    """Makes facts of a resource and remembers where they came from."""

    def __init__(self, resource: Resource, places: Places) -> None:
        self.resource, self.places = resource, places

    def at(self, *path: str) -> str:
        """Name a place in the resource."""
        where = ".".join((self.resource.name, *path))
        self.places[where] = self.resource.urn
        return where

    def fact(self, key: str, kind: type[T]) -> Fact[T] | None:
        """Return a property as a fact if it is set and known."""
        return self.told(self.resource.value(key), kind, key)

    def told(self, value: Any, kind: type[T], *path: str) -> Fact[T] | None:
        """Return a value as a fact if it is set, known and of this kind."""
        return Fact(value, self.at(*path)) if isinstance(value, kind) else None

    def optional(self, key: str, kind: type[T]) -> Fact[T | None] | None:
        """Return a property as a fact, also that it is not set."""
        value = self.resource.value(key)
        return Fact(None, self.at(key)) if value is None else self.told(value, kind, key)

    def texts(self, key: str) -> Fact[tuple[str, ...]] | None:
        """Return a list of texts if all of it is known; one that is not set is empty."""
        value = self.resource.value(key)
        items = [] if value is None else value
        if not isinstance(items, list) or not all(isinstance(known(each), str) for each in items):
            return None
        return Fact(tuple(items), self.at(key))


def first(resources: Iterable[Resource]) -> Resource | None:
    """Return the first of some resources."""
    return next(iter(resources), None)
