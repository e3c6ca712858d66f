"""The settings of a request's stack, from those of the stack that it is made like. Pure.

Whatever names one thing in the account is left out, so that names follow from the stack: what exists for the other
stack is neither used nor taken over. Hosts get a label of their own.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

from ..naming import physical_name
from ..platform import previews

_OF_A_KIND: Final = (("container", "name"), ("container", "adopt"), ("image", "repository"), ("image", "keep"))
_NAMED: Final = (
    ("worker", "name"),
    ("worker", "adopt"),
    *_OF_A_KIND,
    ("storage", "files", "name"),
    ("storage", "backups", "name"),
    ("storage", "backups", "token_name"),
    ("storage", "artifacts", "name"),
    ("storage", "conversations", "name"),
    ("storage", "events", "name"),
    ("access", "zero_trust", "names"),
)
"""Settings that name what is in the account, take it over, or leave it there."""


@dataclass
class Derived:
    """Settings, and what somebody should know who looks at the stack."""

    document: dict[str, Any]
    notes: list[str] = field(default_factory=list)


def derived(template: Mapping[str, Any], name: str, label: str) -> Derived:
    """Return the settings of a throw-away stack beside another one; `name` begins the names of both."""
    found = Derived(deepcopy(dict(template)))
    document = found.document
    document["environment"] = "throw-away"
    for path in _NAMED:
        _drop(document, *path)
    for each in _section(document, "further_sandboxes").values():
        if isinstance(each, dict):
            for path in _OF_A_KIND:
                _drop(each, *path)
    _renew_storage(found, name, label)
    if _drop(document, "worker", "routes"):
        found.notes.append("`worker.routes` are left out: they would take requests from the other stack")
    if kept := sorted(_section(document, "worker", "bindings")):
        shown = ", ".join(f"`{each}`" for each in kept)
        found.notes.append(f"`worker.bindings` {shown} lead to the same as in the other stack")
    if domain := _section(document, "domain"):
        _relabel(domain, label)
        if _drop(document, "domain", "bypass"):
            found.notes.append("`domain.bypass` is left out: those services are not below this stack's host")
    return found


def _renew_storage(found: Derived, name: str, label: str) -> None:
    if _drop(found.document, "storage", "backups", "lock_days"):
        found.notes.append("`storage.backups.lock_days` is left out: what is locked could not be taken away")
    existing = _section(found.document, "storage", "existing")
    for kind, key in (("buckets", "name"), ("namespaces", "title")):
        for binding, each in _section(existing, kind).items():
            if isinstance(each, dict):
                each[key] = physical_name(name, label, str(binding))
    if existing:
        existing["create"] = True
        found.notes.append("`storage.existing` is made anew and empty")


def _relabel(domain: dict[str, Any], label: str) -> None:
    host, api = domain.get("hostname"), domain.get("api_hostname")
    if not isinstance(host, str):
        return
    domain.setdefault("zone", host)
    domain["hostname"] = f"{label}.{host}"
    if isinstance(api, str):
        domain["api_hostname"] = _api(api, host, str(domain["zone"]), label)


def _api(api: str, host: str, zone: str, label: str) -> str:
    """Keep below the previews' host what was, and on one level what a zone's own certificate covers."""
    if previews.is_or_under(api, host):
        return f"{api.removesuffix(host)}{label}.{host}"
    first, _, rest = api.partition(".")
    return f"{first}-{label}.{rest}" if api != zone else f"{label}.{api}"


def _section(document: Mapping[str, Any], *path: str) -> dict[str, Any]:
    """Return a section to look at or change; an empty one where there is none, which the judge will tell."""
    for part in path:
        inner = document.get(part)
        document = inner if isinstance(inner, dict) else {}
    return document if isinstance(document, dict) else {}


def _drop(document: dict[str, Any], *path: str) -> bool:
    return _section(document, *path[:-1]).pop(path[-1], None) is not None
