"""Property values as plain data, with marks for what a preview does not know yet and for what is secret. Pure.

`revealed` takes the marks of secrets off before any logic runs; `hidden` puts them back at the same places of what goes
out.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

_SHORTEST: Final = 6

Path = tuple[str | int, ...]


class Unknown:
    """A value that will be known when the update runs."""

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __deepcopy__(self, memo: object) -> "Unknown":
        return self


UNKNOWN: Final = Unknown()


@dataclass(frozen=True)
class Secret:
    """A value that is to be encrypted wherever it is kept."""

    value: Any

    def __repr__(self) -> str:
        return "Secret(…)"


def is_known(value: Any) -> bool:
    """Whether nothing in a value is unknown."""
    if isinstance(value, dict):
        return all(is_known(item) for item in value.values())
    if isinstance(value, list):
        return all(is_known(item) for item in value)
    return value is not UNKNOWN


def differences(old: Any, new: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Return the paths at which two values differ, each with `add`, `delete` or `update`; unknown is an update."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            if key not in new:
                yield (*path, key), "delete"
            elif key not in old:
                yield (*path, key), "add"
            else:
                yield from differences(old[key], new[key], (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, after, (*path, index))
    elif new is UNKNOWN or old != new or isinstance(old, bool) != isinstance(new, bool):
        yield path, "update"


def revealed(value: Any) -> Any:
    """Take the wrappers off."""
    if isinstance(value, Secret):
        return revealed(value.value)
    if isinstance(value, dict):
        return {key: revealed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [revealed(each) for each in value]
    return value


def without_nulls(value: Any) -> Any:
    """Leave out what has no value, further in as well."""
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


def hidden(value: Any, like: Any, extra: Iterable[Path] = ()) -> Any:
    """Wrap what is wrapped in `like`, and what the extra paths lead to."""
    return _hide(_hidden(value, like), list(extra))


def _hidden(value: Any, like: Any) -> Any:
    if isinstance(like, Secret):
        return value if isinstance(value, Secret) else Secret(value)
    if isinstance(value, dict) and isinstance(like, dict):
        return {key: _hidden(each, like.get(key)) for key, each in value.items()}
    if isinstance(value, list) and isinstance(like, list) and _holds_secret(like):
        return Secret(value)  # places in a list may have changed, so all of it is hidden
    return value


def discreet(text: str, path: Path, news: Any, olds: Any) -> str:
    """Take secrets out of what a check says: the value it got where that is secret, and secret words anywhere."""
    if _leads_to_secret(news, path):
        text = text.partition(", got ")[0]
    for word in sorted(_secret_words(news) | _secret_words(olds), key=len, reverse=True):
        text = text.replace(word, "[secret]")
    return text


def _leads_to_secret(value: Any, path: Path) -> bool:
    if isinstance(value, Secret) or not path:
        return isinstance(value, Secret)
    inner = dict(enumerate(value)) if isinstance(value, list) else value
    return isinstance(inner, dict) and _leads_to_secret(inner.get(path[0]), path[1:])


def _secret_words(value: Any, *, inside: bool = False) -> set[str]:
    """Return the strings inside secrets; shorter ones hide nothing and occur in every sentence."""
    if isinstance(value, Secret):
        return _secret_words(value.value, inside=True)
    if isinstance(value, dict | list):
        each = value.values() if isinstance(value, dict) else value
        return {word for item in each for word in _secret_words(item, inside=inside)}
    return {value} if inside and isinstance(value, str) and len(value) >= _SHORTEST else set()


def _holds_secret(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds_secret(each) for each in value.values())
    if isinstance(value, list):
        return any(_holds_secret(each) for each in value)
    return isinstance(value, Secret)


def _hide(value: Any, paths: list[Path]) -> Any:
    if () in paths:
        return value if isinstance(value, Secret) or value is UNKNOWN else Secret(value)
    if not paths or not isinstance(value, dict):
        return value
    return {key: _hide(each, [path[1:] for path in paths if path[0] == key]) for key, each in value.items()}
