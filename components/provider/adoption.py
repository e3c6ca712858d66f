"""What taking over something that exists would change about it, in words for a preview. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..pulumi_protocol.values import UNKNOWN, Path


def changes(live: Mapping[str, Any], wanted: Mapping[str, Any], differing: Iterable[tuple[Path, str]]) -> list[str]:
    """Name what differs, with both values where they are short and no secret can be among them."""
    names = dict.fromkeys(str(path[0]) for path, _ in differing)
    return [text for name in sorted(names) for text in _change(name, live.get(name), wanted.get(name))]


def sentence(what: str, changed: list[str]) -> str:
    """Say it; nothing where nothing changes."""
    return f"{what} exists and is taken over; this changes {'; '.join(changed)}" if changed else ""


def _change(name: str, old: Any, new: Any) -> Iterator[str]:
    if name == "bindings":
        yield from _bindings(old or {}, new or {})
    elif new is UNKNOWN or isinstance(old, dict) or isinstance(new, dict):
        yield name
    else:
        yield f"{name} from {_shown(old)} to {_shown(new)}"


def _bindings(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Bindings by name alone: a value may be a secret."""
    if gone := sorted(old.keys() - new.keys()):
        yield f"bindings without {', '.join(gone)}"
    if added := sorted(new.keys() - old.keys()):
        yield f"bindings with {', '.join(added)}"


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value in (None, "") else str(value).lower() if isinstance(value, bool) else str(value)
