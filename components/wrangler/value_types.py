"""The type of value that wrangler wants at each path; checked before anything is read, so that nothing is dropped."""

from collections.abc import Iterator, Mapping
from datetime import date, time
from typing import Any, Final

from .environment import Environment

Path = tuple[str | int, ...]
_ANY: Final = "*"
_WORDS: Final[Mapping[type, str]] = {bool: "true or false", dict: "an object", list: "a list", str: "text"}
_PATHS: Final[Mapping[type, str]] = {
    bool: "logpush no_bundle preview_urls workers_dev",
    dict: "containers.*.constraints containers.*.observability containers.*.observability.logs containers.*.ssh "
    "durable_objects exports limits migrations.*.renamed_classes.* migrations.*.transferred_classes.* observability "
    "observability.logs observability.traces placement queues queues.consumers.* secrets tail_consumers.* "
    "triggers vars",
    list: "compatibility_flags containers containers.*.constraints.regions durable_objects.bindings kv_namespaces "
    "migrations migrations.*.deleted_classes migrations.*.new_classes migrations.*.new_sqlite_classes "
    "migrations.*.renamed_classes migrations.*.transferred_classes queues.consumers queues.producers r2_buckets routes "
    "secrets.required tail_consumers triggers.crons",
    str: "account_id compatibility_date compatibility_flags.* containers.*.class_name "
    "containers.*.constraints.jurisdiction containers.*.constraints.regions.* containers.*.image_build_context "
    "containers.*.images.*.build_context containers.*.name containers.*.scheduling_policy "
    "durable_objects.bindings.*.class_name exports.*.container exports.*.storage main "
    "migrations.*.deleted_classes.* migrations.*.new_classes.* "
    "migrations.*.new_sqlite_classes.* migrations.*.renamed_classes.*.from migrations.*.renamed_classes.*.to "
    "migrations.*.transferred_classes.*.from migrations.*.transferred_classes.*.to secrets.required.* "
    "tail_consumers.*.service triggers.crons.*",
}
"""Paths by the type of value that stands there; a star is every member."""
_TYPES: Final[Mapping[str, type]] = {path: type_ for type_, paths in _PATHS.items() for path in paths.split()}


def expected(path: str, value: Any) -> str | None:
    """Return what wrangler wants at a path, in words, where a value is something else."""
    type_ = _TYPES[path]
    return None if value is None or isinstance(value, type_) else _WORDS[type_]


def mistyped(said: Environment) -> Iterator[tuple[Path, str]]:
    """Return the paths where something else stands than wrangler takes, each with what it should be."""
    for path in _TYPES:
        key, *rest = path.split(".")
        for place, value in _found(said.said(key), tuple(rest), (key,)):
            if wanted := expected(path, value):
                yield place, f"this is not {wanted}, which wrangler wants here"
    for key in said.keys:
        for place in _dates(said.said(key), (key,)):
            yield place, "this is a date of TOML; write it as text, in quotes"


def _found(value: Any, rest: tuple[str, ...], place: Path) -> Iterator[tuple[Path, Any]]:
    """Return everything that a path leads to; where the way is of another kind already, nothing."""
    if not rest:
        yield place, value
        return
    first, *further = rest
    members: Mapping[str | int, Any] = dict(enumerate(value)) if isinstance(value, list) else {}
    members = value if isinstance(value, dict) else members
    for key in members if first == _ANY else [first] if first in members else []:
        yield from _found(members[key], tuple(further), (*place, key))


def _dates(value: Any, place: Path) -> Iterator[Path]:
    """Return the paths of dates and times, which TOML has and a Worker's variables have not."""
    if isinstance(value, date | time):
        yield place
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in members:
        yield from _dates(inner, (*place, key))
