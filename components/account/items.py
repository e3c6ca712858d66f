"""What an account can have of a Sandbox stack, as plain data: items, what each refers to, and all together. Pure.

An item is known by kind and id: that is how states, lists of a user's and removals speak of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from ..platform.r2 import DEFAULT_JURISDICTION


class Kind(StrEnum):
    """What an item is."""

    SCRIPT = "script"
    NAMESPACE = "namespace"
    """A Durable Object namespace."""
    APPLICATION = "application"
    """A container application."""
    IMAGE = "image"
    BUCKET = "bucket"
    KV = "kv"
    """A KV namespace."""
    QUEUE = "queue"
    RECORD = "record"
    ROUTE = "route"
    CUSTOM_DOMAIN = "custom-domain"
    CERTIFICATE = "certificate"
    TOKEN = "token"  # noqa: S105 - a kind
    """A token of the account."""
    ACCESS_APPLICATION = "access-application"
    ACCESS_POLICY = "access-policy"
    SERVICE_TOKEN = "service-token"  # noqa: S105 - a kind


WORDS: Final[Mapping[Kind, str]] = {
    Kind.SCRIPT: "Worker script",
    Kind.NAMESPACE: "Durable Object namespace",
    Kind.APPLICATION: "container application",
    Kind.IMAGE: "image",
    Kind.BUCKET: "R2 bucket",
    Kind.KV: "KV namespace",
    Kind.QUEUE: "queue",
    Kind.RECORD: "DNS record",
    Kind.ROUTE: "Workers route",
    Kind.CUSTOM_DOMAIN: "custom domain",
    Kind.CERTIFICATE: "certificate pack",
    Kind.TOKEN: "account token",
    Kind.ACCESS_APPLICATION: "Access application",
    Kind.ACCESS_POLICY: "Access policy",
    Kind.SERVICE_TOKEN: "service token",
}
"""Kinds as people call them."""


@dataclass(frozen=True, order=True)
class Key:
    """What an item is known by. What lies in a zone has the zone's id before its own."""

    kind: Kind
    id: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"


@dataclass(frozen=True)
class Item:
    """One thing in the account."""

    key: Key
    name: str
    """As people know it: name, title, host or pattern."""
    refers: frozenset[Key] = frozenset()
    """What it does not work without. A key need not exist: then it leads nowhere."""
    marks: tuple[str, ...] = ()
    """Tags of a script, the comment of a record."""
    details: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """More of what the API says of it; never a secret."""

    @property
    def kind(self) -> Kind:
        """What it is."""
        return self.key.kind

    def __str__(self) -> str:
        return f"{WORDS[self.kind]} {self.name}"


@dataclass(frozen=True)
class Inventory:
    """What an account has."""

    account_id: str
    items: tuple[Item, ...] = ()
    kinds: frozenset[Kind] = frozenset(Kind)
    """What was looked for; of other kinds nothing is known."""

    def of(self, *kinds: Kind) -> Iterator[Item]:
        """Return the items of some kinds."""
        return (each for each in self.items if each.kind in kinds)

    @cached_property
    def by_key(self) -> Mapping[Key, Item]:
        """The items by what they are known by."""
        return {each.key: each for each in self.items}

    @cached_property
    def referring(self) -> Mapping[Key, tuple[Item, ...]]:
        """Who refers to what."""
        found: dict[Key, list[Item]] = {}
        for each in self.items:
            for key in each.refers:
                found.setdefault(key, []).append(each)
        return {key: tuple(items) for key, items in found.items()}

    def reached_from(self, keys: Iterable[Key]) -> frozenset[Key]:
        """Return the keys with all that they refer to, at any distance."""
        seen: set[Key] = set()
        left = list(keys)
        while left:
            key = left.pop()
            if key not in seen:
                seen.add(key)
                found = self.by_key.get(key)
                left += found.refers if found else ()
        return frozenset(seen)


def bucket_key(name: str, jurisdiction: str | None = None) -> Key:
    """Return the key of a bucket; buckets of different jurisdictions may have one name."""
    plain = jurisdiction in (None, "", DEFAULT_JURISDICTION)
    return Key(Kind.BUCKET, name if plain else f"{jurisdiction}/{name}")


def image_key(repository: str, digest: str) -> Key:
    """Return the key of an image; the repository is without registry and account."""
    return Key(Kind.IMAGE, f"{repository}@{digest}")


def resolved(items: Iterable[Item]) -> tuple[Item, ...]:
    """Put ids in the place of names, by which bindings know queues and objects of others, and of tags of images."""
    known = tuple(items)
    ids = {Key(each.kind, each.name): each.key for each in known if each.kind in (Kind.QUEUE, Kind.NAMESPACE)}
    ids |= {
        image_key(each.details["repository"], tag): each.key
        for each in known
        if each.kind is Kind.IMAGE
        for tag in each.details["tags"]
    }
    return tuple(replace(each, refers=frozenset(ids.get(key, key) for key in each.refers)) for each in known)


def read_key(text: str) -> Key | None:
    """Read a key as it is printed; None when it is not one."""
    kind, colon, name = text.partition(":")
    return Key(Kind(kind), name) if colon and name and kind in set(Kind) else None
