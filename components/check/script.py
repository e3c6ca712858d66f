"""A light look at JavaScript and TypeScript: comments and text are masked, calls and exports are found by their form.

It is no parser. What it cannot tell it leaves out, so that rules stay silent rather than wrong.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

_TOKEN: Final = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)"
    r"|'(?:\\.|[^'\\\n])*+'?|\"(?:\\.|[^\"\\\n])*+\"?|[`{}]"
    r"|(?<=[(,=:\[!&|?;])[ \t]{0,9}/(?![*/])(?:\\[^\n]|\[(?:\\[^\n]|[^\]\\\n]){0,200}+\]|[^/\\\n\[]){1,500}+/[a-z]*",
    re.DOTALL | re.MULTILINE,
)
_NOT_NEWLINE: Final = re.compile(r"[^\n]")
_OPEN: Final = "([{"
_LONGEST: Final = 20_000
"""Arguments that are longer are data, not a call one can judge."""
_WINDOW: Final = 2_000
"""How far back the beginning of a call is looked for."""
_ENDS: Final = re.compile(r"[\w$)\]'\"`]$")
_WANTS_MORE: Final = re.compile(r"\b(?:return|yield|of|in|await|typeof|void|case|else|do|extends)$")
_OF_ENV: Final = re.compile(r"(?:[\w$]+\s*\.\s*)?env\s*\.")
_NAME_BEFORE: Final = re.compile(r"(?:\bthis\s*\.\s*)?([A-Za-z_$][\w$]*)\s*\??\s*$")


@dataclass(frozen=True)
class Argument:
    """An argument of a call: as it is written, and masked."""

    text: str
    masked: str

    @property
    def keys(self) -> Iterator[str]:
        """Names in an object literal, at its first level."""
        if not self.masked.startswith("{"):
            return
        for part in _split(self.masked[1:-1]):
            if found := re.match(r"\s*(?:async\s+)?([A-Za-z_$][\w$]*)\s*(?:[:(]|$)", part):
                yield found[1]

    @property
    def put_together(self) -> bool:
        """Whether it is text with values spliced in, other than ones that a quoting function made safe."""
        if self.masked.startswith("`"):
            holes = re.findall(r"\$\{([^{}]*)\}", self.text)
            return bool(holes) and not all(
                re.match(r"\s*\w*(?:quote|escape)\w*\(", hole, re.IGNORECASE) for hole in holes
            )
        return bool(re.search(r"['\"`]\s*\+|\+\s*['\"`]", self.masked))


@dataclass(frozen=True)
class Invocation:
    """A call as it was found."""

    receiver: str
    """Last name before the dot; the called function's name if the receiver is itself a call; empty without one."""
    name: str
    offset: int
    arguments: tuple[Argument, ...]
    dropped: bool


class Script:
    """One module."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def masked(self) -> str:
        """The text with comments and the content of strings blanked; quotes and line ends stay."""
        return "".join(_masked(self.text))

    def calls(self, names: tuple[str, ...]) -> Iterator[Invocation]:
        """Give every call of these names."""
        for match in _pattern(names).finditer(self.masked) if names else ():
            end = self._brackets.get(match.end() - 1)
            before = self.masked[max(0, match.start() - 40) : match.start()].rstrip()
            if end is None or end - match.end() > _LONGEST or before.endswith(("function", "$")):
                continue
            dot = self.masked.rfind(".", 0, match.start())
            receiver, start = self._receiver(dot) if before.endswith(".") else ("", match.start())
            if _OF_ENV.match(self.masked, start):
                continue  # a binding, such as another Worker's
            arguments = tuple(self._arguments(match.end(), end))
            yield Invocation(receiver, match[1], match.start(), arguments, self._dropped(start, end))

    def _receiver(self, dot: int) -> tuple[str, int]:
        left = max(0, dot - _WINDOW)
        before = self.masked[left:dot].rstrip()
        if before.endswith(")"):
            opening = self._brackets.get(left + len(before) - 1, 0) - left
            before = before[: max(0, opening)]
        found = _NAME_BEFORE.search(before, max(0, len(before) - 200))
        if not found:
            return "", dot
        start = left + found.start()
        # `a.b.exec()`: the expression begins with the first name.
        while (
            more := re.search(r"[A-Za-z_$][\w$]*\s*\??\s*\.\s*$", self.masked[max(0, start - 100) : start])
        ) is not None:
            start -= len(more[0])
        return found[1], start

    def _arguments(self, start: int, end: int) -> Iterator[Argument]:
        offset = start
        for part in _split(self.masked[start:end]):
            text, masked = self.text[offset : offset + len(part)], part
            offset += len(part) + 1
            if masked.strip():
                lead = len(masked) - len(masked.lstrip())
                yield Argument(text.strip(), masked[lead:].rstrip())

    def _dropped(self, start: int, end: int) -> bool:
        before = self.masked[max(0, start - 200) : start].rstrip()
        bare = re.sub(r"\bawait$", "", before).rstrip()
        after = self.masked[end + 1 : end + 40].lstrip(" \t")
        if not (after.startswith((";", "\n", "}")) or not after) or re.match(r"\s*[.?]", after):
            return False
        if not bare or bare.endswith((";", "{", "}")):
            return True
        # Without semicolons a statement ends with its line, unless what comes before wants more.
        gap = self.masked[max(0, start - 200) + len(bare) : start]
        return "\n" in gap and bool(_ENDS.search(bare)) and not _WANTS_MORE.search(bare)

    @cached_property
    def _brackets(self) -> dict[int, int]:
        """Offsets of brackets and of those that close or open them."""
        found: dict[int, int] = {}
        waiting: list[int] = []
        for match in re.finditer(r"[()\[\]{}]", self.masked):
            if match[0] in _OPEN:
                waiting.append(match.start())
            elif waiting:
                start = waiting.pop()
                found[start], found[match.start()] = match.start(), start
        return found

    def line(self, offset: int) -> int:
        """Give the line of an offset, counted from 1."""
        return bisect_left(self._line_ends, offset) + 1

    @cached_property
    def _line_ends(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]


@lru_cache(maxsize=256)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\b({'|'.join(names)})\s*(?:<[^<>()]*>\s*)?\(")


def _masked(text: str) -> Iterator[str]:
    """Blank comments and text; the code in the holes of a template stays."""
    at = depth = 0
    holes: list[int] = []
    while match := _TOKEN.search(text, at):
        yield text[at : match.start()]
        piece, at = match[0], match.end()
        closes_hole = piece == "}" and bool(holes) and holes[-1] == depth
        if piece == "`" or closes_hole:
            if closes_hole:
                holes.pop()
            blank, at, opened = _template(text, at)
            holes += [depth] if opened else []
            yield piece + blank
        elif piece in "{}":
            depth += 1 if piece == "{" else -1
            yield piece
        elif piece[0] in "'\"" and len(piece) > 1:
            yield piece[0] + _NOT_NEWLINE.sub(" ", piece[1:-1]) + piece[-1]
        else:
            yield _NOT_NEWLINE.sub(" ", piece)
    yield text[at:]


_TEMPLATE_END: Final = re.compile(r"(?:\\.|[^`\\$]++|\$(?!\{))*", re.DOTALL)


def _template(text: str, at: int) -> tuple[str, int, bool]:
    """Blank the text of a template up to its end or its next hole; say whether a hole was opened."""
    match = _TEMPLATE_END.match(text, at)
    end = match.end() if match else at
    blank = _NOT_NEWLINE.sub(" ", text[at:end])
    if text.startswith("${", end):
        return blank + "${", end + 2, True
    if text.startswith("`", end):
        return blank + "`", end + 1, False
    return blank + text[end : end + 1], min(end + 1, len(text)), False


def _split(masked: str) -> Iterator[str]:
    """Divide at commas of the first level."""
    depth = start = 0
    for match in re.finditer(r"[()\[\]{},]", masked):
        if match[0] == "," and depth == 0:
            yield masked[start : match.start()]
            start = match.end()
        elif match[0] != ",":
            depth += 1 if match[0] in _OPEN else -1
    yield masked[start:]


_EXPORT_LIST: Final = re.compile(r"\bexport\s*(?:type\s*)?\{([^}]*)\}")
_EXPORT: Final = re.compile(
    r"\bexport\s+(?:(default)\b|(?:declare\s+|abstract\s+|async\s+)*(?:class|function\*?|const|let|var)\s+([A-Za-z_$][\w$]*)|(\*))"
)


def exports(script: Script) -> frozenset[str]:
    """Give the names a module exports; `*` stands for what it takes over from another."""
    found: set[str] = set()
    for names in _EXPORT_LIST.finditer(script.masked):
        for each in names[1].split(","):
            words = each.split()
            if words and words[0] != "type":
                found.add(words[-1])
    found |= {name for each in _EXPORT.finditer(script.masked) for name in each.groups() if name}
    return frozenset(found)


_IMPORT: Final = re.compile(r"""(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(['"])([^'"\n]{1,300})\1""")


def imported(text: str) -> list[str]:
    """Give the modules that a text imports."""
    return [match[2] for match in _IMPORT.finditer(text)]
