"""Reads Dockerfiles: instructions with their flags and words, and the stages they make.

As BuildKit does it: directives, comments, continued lines, here-documents, variables of ARG in FROM. What a build
decides (ONBUILD of bases, arguments given from outside) is not here.
Source: the Dockerfile reference and moby/buildkit 0.31. 2026-11-16.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

_DIRECTIVE: Final = re.compile(r"#\s*([A-Za-z][A-Za-z0-9]*)\s*=\s*(.+?)\s*")
_HEREDOC: Final = re.compile(r"(?<!<)<<(-?)(?:\"([^\"\s]+)\"|'([^'\s]+)'|([A-Za-z0-9_.-]+))")
_WITH_HEREDOC: Final = ("ADD", "COPY", "RUN")
_FLAG: Final = re.compile(r"--([a-z-]+)(?:=(\S*))?(?:\s+|$)")
_VARIABLE: Final = re.compile(r"\\(.)|\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?([-+])([^}]*))?\})")


@dataclass(frozen=True)
class Instruction:
    """One instruction."""

    line: int
    """Where it begins, counted from 1."""
    keyword: str
    """In capitals."""
    text: str
    """What follows keyword and flags, on one line."""
    flags: Mapping[str, str] = field(default_factory=dict)

    def words(self) -> list[str]:
        """Return the words, of the list form or of the plain one."""
        if (listed := self.listed()) is not None:
            return listed
        try:
            return shlex.split(self.text)
        except ValueError:
            return self.text.split()

    def listed(self) -> list[str] | None:
        """Return the words of the list form; None when it is the plain one."""
        try:
            found: Any = json.loads(self.text)
        except ValueError:
            return None
        return found if isinstance(found, list) and all(isinstance(each, str) for each in found) else None


@dataclass(frozen=True)
class Stage:
    """What begins with a FROM."""

    base: str
    """Image or earlier stage, with variables replaced; one without a value stays as it is written."""
    written: str
    """The same with its variables."""
    name: str
    line: int
    platform: str
    instructions: tuple[Instruction, ...]


@dataclass(frozen=True)
class Dockerfile:
    """A whole Dockerfile."""

    stages: tuple[Stage, ...]

    def stage(self, name: str, before: int) -> int | None:
        """Find an earlier stage by name or number; None when the name means an image."""
        for index, each in reversed(list(enumerate(self.stages[:before]))):
            if name.lower() == each.name.lower() != "":
                return index
        return int(name) if name.isdecimal() and int(name) < before else None


def read(text: str) -> Dockerfile:
    """Read a Dockerfile."""
    values: dict[str, str] = {}
    stages: list[Stage] = []
    for each in instructions(text):
        if each.keyword == "FROM":
            stages.append(_stage(each, values))
        elif stages:
            last = stages[-1]
            expanded = _with_values(each, last, values) if each.keyword in ("COPY", "ADD") else each
            stages[-1] = replace(last, instructions=(*last.instructions, expanded))
        elif each.keyword == "ARG":
            for word in each.words():
                name, equals, value = word.partition("=")
                if equals:
                    values[name] = substituted(value, values)
    return Dockerfile(tuple(stages))


def _stage(each: Instruction, values: Mapping[str, str]) -> Stage:
    words = each.text.split()
    name = words[2] if len(words) == 3 and words[1].upper() == "AS" else ""
    platform = substituted(each.flags.get("platform", ""), values)
    base = words[0] if words else ""
    return Stage(substituted(base, values), base, name, each.line, platform, ())


def _with_values(each: Instruction, stage: Stage, values: Mapping[str, str]) -> Instruction:
    """Replace variables of a copy; a stage sees what it declares, with the value from above unless it has its own."""
    seen: dict[str, str] = {}
    for earlier in stage.instructions:
        if earlier.keyword == "ARG":
            for word in earlier.words():
                name, equals, value = word.partition("=")
                seen[name] = substituted(value, seen) if equals else values.get(name, f"${name}")
    flags = {name: substituted(value, seen) for name, value in each.flags.items()}
    return Instruction(each.line, each.keyword, each.text, flags)


def substituted(text: str, values: Mapping[str, str]) -> str:
    """Replace variables; one without a value stays as it is written."""

    def value(found: re.Match[str]) -> str:
        if found[1]:
            return found[1]
        name, sign, other = found[2] or found[3], found[4], found[5] or ""
        known = values.get(name, "")
        if sign == "-":
            return known or substituted(other, values)
        if sign == "+":
            return substituted(other, values) if known else ""
        return values.get(name, found[0])

    return _VARIABLE.sub(value, text)


def instructions(text: str) -> Iterator[Instruction]:
    """Return the instructions in order."""
    # Only a line feed ends a line here, unlike for Python: what BuildKit sees as one line must not be two.
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    escape = _directives(lines).get("escape", "\\")
    rest = iter(enumerate(lines, 1))
    for number, line in rest:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        whole = _joined(line, rest, escape)
        keyword, _, tail = whole.strip().partition(" ")
        keyword, _, more = keyword.partition("\t")
        flags, words = _flags(f"{more} {tail}".strip())
        if keyword.upper() in _WITH_HEREDOC:
            for mark in _HEREDOC.finditer(words):
                _skip(rest, mark[2] or mark[3] or mark[4], dashed=bool(mark[1]))
        yield Instruction(number, keyword.upper(), words, flags)


def _directives(lines: Iterable[str]) -> dict[str, str]:
    """Read the directives, which come before everything else."""
    found: dict[str, str] = {}
    for line in lines:
        directive = _DIRECTIVE.fullmatch(line.strip())
        if directive is None or directive[1].lower() in found:
            break
        found[directive[1].lower()] = directive[2]
    return found


def _joined(line: str, rest: Iterator[tuple[int, str]], escape: str) -> str:
    """Join a line with those that continue it; comments and empty lines in between do not count."""
    whole = ""
    while True:
        stripped = line.rstrip()
        if not stripped.endswith(escape):
            return whole + line
        whole += stripped.removesuffix(escape)
        following = (text for _, text in rest if text.strip() and not text.lstrip().startswith("#"))
        found = next(following, None)
        if found is None:
            return whole
        line = found


def _flags(text: str) -> tuple[dict[str, str], str]:
    flags: dict[str, str] = {}
    while flag := _FLAG.match(text):
        flags[flag[1]] = flag[2] or ""
        text = text[flag.end() :]
    return flags, text


def _skip(rest: Iterator[tuple[int, str]], mark: str, *, dashed: bool) -> None:
    for _, line in rest:
        if (line.lstrip("\t") if dashed else line) == mark:
            return
