"""Documents with positions: a value, and for every path in it the span of the text that says it.

JSONC is read here, because no parser of the standard library keeps positions; TOML is read by the standard library and
its positions are found line by line.
"""

import re
import tomllib
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

Path = tuple[str | int, ...]
_DEEPEST: Final = 100


class BrokenDocumentError(ValueError):
    """A document that cannot be read, and the line where that shows."""

    def __init__(self, what: str, line: int = 1) -> None:
        super().__init__(what)
        self.line = line


class Span(NamedTuple):
    """Where a value stands in the text."""

    start: int
    end: int


@dataclass(frozen=True)
class Document:
    """A document that was read."""

    name: str
    """How findings call it."""
    text: str
    value: Any
    spans: dict[Path, Span] = field(default_factory=dict)
    twice: tuple[Path, ...] = ()
    """Paths that are said more than once, of which the last counts."""

    def where(self, *path: str | int) -> str:
        """Return `name:line` of a path, or of the nearest part of it that has a position."""
        while path not in self.spans and path:
            path = path[:-1]
        span = self.spans.get(path)
        return f"{self.name}:{line_of(self.text, span.start) if span else 1}"


def line_of(text: str, offset: int) -> int:
    """Return the line of an offset, counted from 1."""
    return text.count("\n", 0, offset) + 1


_SPACE: Final = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_STRING: Final = re.compile(r'"((?:[^"\\\x00-\x1f]|\\.)*)"')
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_WORDS: Final = {"true": True, "false": False, "null": None}


class _Jsonc:
    """One reading of a JSONC text: comments and commas at the end are allowed, as wrangler allows them."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.spans: dict[Path, Span] = {}
        self.twice: list[Path] = []

    def whole(self) -> Any:
        value = self.value(())
        self.space()
        if self.at < len(self.text):
            self.fail("there is text behind the end")
        return value

    def fail(self, what: str) -> None:
        raise BrokenDocumentError(what, line_of(self.text, self.at))

    def space(self) -> str:
        """Skip to the next token and give its first character."""
        if match := _SPACE.match(self.text, self.at):
            self.at = match.end()
        return self.text[self.at : self.at + 1]

    def value(self, path: Path) -> Any:
        first = self.space()
        start = self.at
        if first in ("{", "["):
            self.depth += 1
            if self.depth > _DEEPEST:
                self.fail(f"it is nested more than {_DEEPEST} levels deep")
            value: Any = self.members(path) if first == "{" else self.items(path)
            self.depth -= 1
        elif first == '"':
            value = self.string()
        else:
            value = self.plain()
        self.spans[path] = Span(start, self.at)
        return value

    def members(self, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.at += 1
        while (first := self.space()) != "}":
            if first != '"':
                self.fail("a name in double quotes is expected" if first else "the end is missing: a } is not there")
            name = self.string()
            if self.space() != ":":
                self.fail(f"a colon is expected behind {name[:40]!r}")
            self.at += 1
            if name in found:
                self.twice.append((*path, name))
            found[name] = self.value((*path, name))
            self.comma("}")
        self.at += 1
        return found

    def items(self, path: Path) -> list[Any]:
        found: list[Any] = []
        self.at += 1
        while (first := self.space()) != "]":
            if not first:
                self.fail("the end is missing: a ] is not there")
            found.append(self.value((*path, len(found))))
            self.comma("]")
        self.at += 1
        return found

    def comma(self, end: str) -> None:
        first = self.space()
        if first == ",":
            self.at += 1
        elif first != end:
            self.fail(f"a comma or {end} is expected")

    def string(self) -> str:
        match = _STRING.match(self.text, self.at)
        if not match:
            self.fail("a string does not end on its line")
            raise AssertionError
        self.at = match.end()
        text = _ESCAPE.sub(lambda each: chr(int(each[1], 16)) if each[1] else _ESCAPES.get(each[2], each[2]), match[1])
        try:  # a character beyond the first 65,536 is escaped as two halves
            return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError:
            self.fail("half of a character is escaped; write the character, or both halves")
            raise AssertionError from None

    def plain(self) -> Any:
        for word, value in _WORDS.items():
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return value
        match = _NUMBER.match(self.text, self.at)
        if not match:
            self.fail("a value is expected")
            raise AssertionError
        self.at = match.end()
        return float(match[0]) if set(match[0]) & set(".eE") else int(match[0])


def read_jsonc(name: str, text: str) -> Document:
    """Read JSON with comments."""
    reading = _Jsonc(text)
    return Document(name, text, reading.whole(), reading.spans, tuple(reading.twice))


_KEY: Final = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_TABLE: Final = re.compile(rf"\s*(\[\[?)\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*\]")
_PAIR: Final = re.compile(rf"\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*=\s*")
_TOML_STRING: Final = r"""\"(?!\"\")(?:[^"\\\n]|\\.)*"|'(?!'')[^'\n]*'"""
_TOML_VALUE: Final = re.compile(rf"""{_TOML_STRING}|\[(?:[^\[\]"'#\n]|{_TOML_STRING})*\]|[^\s#\[\]{{}}"',]+""")


def read_toml(name: str, text: str) -> Document:
    """Read TOML."""
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        raise BrokenDocumentError(str(error), int(found[1]) if found else 1) from None
    except RecursionError:
        raise BrokenDocumentError("it is nested too deep") from None
    if _is_deep(value):  # by keys with many dots
        raise BrokenDocumentError(f"it is nested more than {_DEEPEST} levels deep")
    return Document(name, text, value, _toml_spans(text))


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST + 1):
        inner = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        level = [each for values in inner for each in values]
    return bool(level)


def _toml_spans(text: str) -> dict[Path, Span]:
    spans: dict[Path, Span] = {(): Span(0, 0)}
    counts: dict[Path, int] = {}
    table: Path = ()
    offset = 0
    for line in text.splitlines(keepends=True):
        if header := _TABLE.match(line):
            table = _numbered(_parts(header[2]), counts)
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            spans[table] = Span(offset, offset + len(line.rstrip()))
        elif pair := _PAIR.match(line):
            # A comment behind the value is not part of it; a value of several lines ends with its first one here.
            value = _TOML_VALUE.match(line, pair.end())
            end = value.end() if value else len(line.rstrip())
            spans[(*table, *_parts(pair[1]))] = Span(offset + pair.end(), offset + end)
        offset += len(line)
    return spans


def _parts(key: str) -> Path:
    return tuple(part.strip("\"'") for part in re.findall(_KEY, key))


def _numbered(key: Path, counts: dict[Path, int]) -> Path:
    """Put the number of the last table into a path that goes through an array of tables."""
    path: Path = ()
    for index, part in enumerate(key):
        path = (*path, part)
        if path in counts and index < len(key) - 1:
            path = (*path, counts[path])
    return path
