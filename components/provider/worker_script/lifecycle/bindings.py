"""Bindings of a Worker between the form programs write and the form the API speaks.

A program names its bindings in a map, so their order means nothing; the API has a list, adds fields of its own and
never gives a secret's value back.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ....platform.bindings import KINDS, SECRET_KEY, SECRET_KINDS
from ....pulumi_protocol.names import camel, snake

Binding = Mapping[str, Any]


def problems(bindings: Mapping[str, Binding]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Say what is wrong with each binding, by path."""
    for name, binding in bindings.items():
        kind = KINDS.get(binding.get("type", ""))
        if kind is None:
            yield (name, "type"), f"no such kind of binding; known are {', '.join(sorted(KINDS))}"
            continue
        label = binding["type"]
        for field in kind.needs:
            if field not in binding:
                yield (name, field), f"a binding of type {label} needs {field}"
        for field in sorted(set(binding) - kind.fields - {"type"}):
            known = ", ".join(sorted(kind.fields)) or "no other field"
            yield (name, field), f"a binding of type {label} has no field {field}; it has {known}"
        if label == SECRET_KEY and ("keyBase64" in binding) == ("keyJwk" in binding):
            yield (name,), "a binding of type secret_key needs either keyBase64 or keyJwk"


def hidden_paths(bindings: Any) -> Iterator[tuple[str, str]]:
    """Return the paths of the values that are secret whatever the program says; what is unknown has none."""
    known = bindings.items() if isinstance(bindings, dict) else ()
    for name, binding in ((name, each) for name, each in known if isinstance(each, dict)):
        kind = KINDS.get(binding.get("type", ""))
        yield from ((name, field) for field in (kind.hidden if kind else ()) if field in binding)


def to_api(bindings: Mapping[str, Binding]) -> list[dict[str, Any]]:
    """Return the list an upload sends, by name."""
    return [
        {"name": name, **{snake(field): value for field, value in binding.items()}}
        for name, binding in sorted(bindings.items())
    ]


def from_api(found: Iterable[Mapping[str, Any]], known: Mapping[str, Binding], kept: Iterable[str]) -> dict[str, Any]:
    """Return the map a program would have to write for what is live.

    Args:
        found: the live bindings.
        known: the program's own; secret values and inherited bindings are taken from there.
        kept: kinds that others own; they are shown only where the program has them too.
    """
    own: dict[str, Any] = {}
    for each in found:
        name, kind = each["name"], KINDS.get(each["type"])
        mine = known.get(name)
        if kind is None or (each["type"] in kept and mine is None):
            continue
        if mine is not None and mine["type"] == "inherit":
            own[name] = dict(mine)
            continue
        shown = {camel(field): value for field, value in each.items() if camel(field) in kind.fields}
        if mine is not None and mine["type"] == each["type"]:
            shown |= {field: mine[field] for field in kind.hidden if field in mine}
        own[name] = {"type": each["type"], **shown}
    return own


def removed_secrets(old: Mapping[str, Binding], new: Mapping[str, Binding], kept: Iterable[str]) -> list[str]:
    """Return the secrets a program no longer has: an upload leaves them, so they have to be deleted by name."""
    kinds = set(SECRET_KINDS) - set(kept)
    return sorted(name for name, binding in old.items() if binding["type"] in kinds and name not in new)
