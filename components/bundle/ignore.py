"""`.dockerignore` as BuildKit reads it: which paths of a context are left out.

The last pattern that matches decides; one that matches a folder decides for what is in it; `!` takes paths back in.
Source: the documentation of Docker's build context and moby/patternmatcher 0.6. 2026-11-16.
"""

import re
from collections.abc import Iterator
from posixpath import normpath


class Ignored:
    """Says which paths, relative to the context, are left out."""

    def __init__(self, text: str) -> None:
        self._rules = [(_compiled(pattern), taken) for pattern, taken in _patterns(text)]
        self._takes_back = any(taken for _, taken in self._rules)

    def __call__(self, path: str) -> bool:
        """Whether a path is left out."""
        parts = path.split("/")
        above = ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]
        found = False
        for pattern, taken in self._rules:
            if taken == found and any(pattern.fullmatch(each) for each in above):
                found = not taken
        return found

    def whole(self, folder: str) -> bool:
        """Whether a folder is left out with everything in it, so that nobody need look inside."""
        return not self._takes_back and self(folder)


def _patterns(text: str) -> Iterator[tuple[str, bool]]:
    """Return the patterns in order, and whether each takes paths back in."""
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
