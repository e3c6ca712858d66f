"""Property values as the lifecycle sees them: plain data, with one mark for what a preview does not know yet."""

from collections.abc import Iterator
from typing import Any, Final

Path = tuple[str | int, ...]


class Unknown:
    """A value that will be known when the update runs."""

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __deepcopy__(self, memo: object) -> "Unknown":
        return self


UNKNOWN: Final = Unknown()


def is_known(value: Any) -> bool:
    """Whether nothing in a value is unknown."""
    if isinstance(value, dict):
        return all(is_known(item) for item in value.values())
    if isinstance(value, list):
        return all(is_known(item) for item in value)
    return value is not UNKNOWN


def differences(old: Any, new: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Give the paths at which two values differ, each with `add`, `delete` or `update`; unknown is an update."""
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
