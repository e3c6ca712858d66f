"""`.dockerignore` as BuildKit reads it: which paths of a context are left out.

The last pattern that matches decides; one that matches a folder decides for what is in it; `!` takes paths back in.
Source: the documentation of Docker's build context and moby/patternmatcher 0.6. 2026-11-16.
"""

import re
from collections.abc import Callable, Iterator
from posixpath import normpath

Ignored = Callable[[str], bool]


def reader(text: str) -> Ignored:
    """Read patterns; give a function that says whether a path, relative to the context, is left out."""
    rules = [(_compiled(pattern), taken) for pattern, taken in _patterns(text)]

    def ignored(path: str) -> bool:
        parts = path.split("/")
        above = ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]
        found = False
        for pattern, taken in rules:
            if taken == found and any(pattern.fullmatch(each) for each in above):
                found = not taken
        return found

    return ignored


def _patterns(text: str) -> Iterator[tuple[str, bool]]:
    """Give the patterns in order, and whether each takes paths back in."""
    for line in text.removeprefix("\ufeff").split("\n"):
        if line.startswith("#") or not line.strip():
            continue
        pattern = line.strip()
        taken = pattern.startswith("!")
        pattern = normpath(pattern.removeprefix("!").strip()).lstrip("/")
        if pattern not in ("", "."):
            yield pattern, taken


def _compiled(pattern: str) -> re.Pattern[str]:
    found, rest = "", pattern
    while rest:
        if rest.startswith("**/"):
            found, rest = f"{found}(?:.*/)?", rest[3:]
        elif rest.startswith("**"):
            found, rest = f"{found}.*", rest[2:]
        elif rest[0] == "*":
            found, rest = f"{found}[^/]*", rest[1:]
        elif rest[0] == "?":
            found, rest = f"{found}[^/]", rest[1:]
        elif bracket := re.match(r"\[(\^?)((?:\\.|[^\]\\])+)\]", rest):
            found, rest = f"{found}[{bracket[1]}{bracket[2]}]", rest[bracket.end() :]
        elif rest[0] == "\\" and len(rest) > 1:
            found, rest = f"{found}{re.escape(rest[1])}", rest[2:]
        else:
            found, rest = f"{found}{re.escape(rest[0])}", rest[1:]
    return re.compile(found, re.DOTALL)
