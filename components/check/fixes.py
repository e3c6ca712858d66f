"""Remedies that need no decision: edits of the files in which a finding stands, shown as a diff and then made.

Every edit changes one span of text; comments and layout around it stay. What would have to be guessed is left alone.
"""

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..platform.compatibility import NODEJS_FLAG, OWN_PID_NAMESPACE
from ..rules import Finding
from .document import BrokenDocumentError, Document, Span, read_jsonc, read_toml
from .files import LARGEST_CONFIG, UnreadableError, read
from .report import split

Edit = tuple[Span, str]
Mend = Callable[[Document, int, Finding], Iterator[Edit]]


def _line(document: Document, line: int) -> Span:
    lines = document.text.split("\n")
    start = sum(len(each) + 1 for each in lines[: line - 1])
    return Span(start, start + len(lines[line - 1]) if line <= len(lines) else start)


def _in_line(document: Document, line: int, pattern: str, new: str) -> Iterator[Edit]:
    span = _line(document, line)
    match = re.compile(pattern).search(document.text, span.start, span.end)
    if match:
        yield Span(match.start(1), match.end(1)), new


def _flags(document: Document, line: int) -> tuple[Span, list[str]] | None:
    """Find the list of flags that begins on a line."""
    for path, span in document.spans.items():
        if path and path[-1] == "compatibility_flags" and document.where(*path).endswith(f":{line}"):
            value = document.value
            for part in path:
                value = value[part]
            return (span, value) if isinstance(value, list) and all(isinstance(each, str) for each in value) else None
    return None


def _add_nodejs(document: Document, line: int, finding: Finding) -> Iterator[Edit]:
    found = _flags(document, line)
    if found:
        yield found[0], json.dumps([*found[1], NODEJS_FLAG])
    elif ("compatibility_flags",) not in document.spans:
        # No list to add to: put one behind the date.
        span = document.spans.get(("compatibility_date",))
        if span:
            text = f'\ncompatibility_flags = ["{NODEJS_FLAG}"]'
            text = text if _is_toml(document) else _member(document, span, f'"compatibility_flags": ["{NODEJS_FLAG}"]')
            yield Span(span.end, span.end), text


def _member(document: Document, behind: Span, member: str) -> str:
    """Write a member of the object on a line of its own, as far in as the one it follows."""
    start = document.text.rfind("\n", 0, behind.start) + 1
    lead = document.text[start:].partition(document.text[start:].lstrip(" \t"))[0]
    return f",\n{lead}{member}"


def _remove_nodejs(document: Document, line: int, finding: Finding) -> Iterator[Edit]:
    found = _flags(document, line)
    if found:
        unwanted = {NODEJS_FLAG} if finding.rule.endswith("refused") else {f"no_{NODEJS_FLAG}"}
        yield found[0], json.dumps([each for each in found[1] if each not in unwanted])


def _date(document: Document, line: int, finding: Finding) -> Iterator[Edit]:
    yield from _in_line(document, line, r"""["'](\d{4}-\d{2}-\d{2})["']""", OWN_PID_NAMESPACE)


def _qualify(document: Document, line: int, finding: Finding) -> Iterator[Edit]:
    yield from _in_line(document, line, r"""["'](cloudflare/sandbox)[:@"']""", "docker.io/cloudflare/sandbox")


def _tag(document: Document, line: int, finding: Finding) -> Iterator[Edit]:
    wanted = re.search(r"(?:tag |sandbox:)(\d+\.\d+\.\d+(?:-[a-z]+)?)", finding.remedy)
    if wanted:
        yield from _in_line(document, line, r"cloudflare/sandbox:([\w.-]+)(?!\S*@)", wanted[1])


def _version_variable(document: Document, line: int, finding: Finding) -> Iterator[Edit]:
    wanted = re.search(r"SANDBOX_VERSION=(\d+\.\d+\.\d+)", finding.remedy)
    if wanted:
        yield from _in_line(document, line, r"SANDBOX_VERSION[= ]\"?(\d+\.\d+\.\d+)", wanted[1])


def _observe(document: Document, line: int, finding: Finding) -> Iterator[Edit]:
    span = document.spans.get(("observability",))
    if span is None and not _is_toml(document) and ("compatibility_date",) in document.spans:
        date = document.spans["compatibility_date",]
        yield Span(date.end, date.end), _member(document, date, '"observability": {"enabled": true}')
    elif ("observability", "enabled") in document.spans:
        yield document.spans["observability", "enabled"], "true"


MENDS: Final[Mapping[str, Mend]] = {
    "flags/nodejs-compat-required": _add_nodejs,
    "flags/nodejs-compat-refused": _remove_nodejs,
    "flags/nodejs-compat-off": _remove_nodejs,
    "flags/date-floor": _date,
    "image/fully-qualified": _qualify,
    "versions/image-tag": _tag,
    "versions/copy-from": _tag,
    "versions/sandbox-version": _version_variable,
    "container/observability": _observe,
}


@dataclass(frozen=True)
class Mended:
    """A file before and after."""

    path: Path
    name: str
    before: str
    after: str

    def diff(self) -> str:
        """Show what changes."""
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            f"a/{self.name}",
            f"b/{self.name}",
        )
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def mend(findings: Iterable[Finding], folder: Path) -> Iterator[Mended]:
    """Give every file that can be mended; places are relative to `folder`."""
    by_file: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.rule in MENDS:
            by_file.setdefault(split(finding.where)[0], []).append(finding)
    for name, each in sorted(by_file.items()):
        mended = _file(folder / name, name, each)
        if mended:
            yield mended


def _file(path: Path, name: str, findings: list[Finding]) -> Mended | None:
    try:
        text = read(path, LARGEST_CONFIG)
        if path.read_bytes() != text.encode():
            return None  # another encoding or other line ends would not come back as they were
        document = _document(path, name, text)
    except (OSError, UnreadableError, BrokenDocumentError):
        return None
    edits: dict[Span, str] = {}
    for finding in findings:
        for span, new in MENDS[finding.rule](document, split(finding.where)[1], finding):
            edits.setdefault(span, new)
    after = text
    for span, new in sorted(edits.items(), reverse=True):
        after = after[: span.start] + new + after[span.end :]
    return Mended(path, name, text, after) if after != text else None


def _document(path: Path, name: str, text: str) -> Document:
    if path.suffix == ".toml":
        return read_toml(name, text)
    return read_jsonc(name, text) if path.suffix in {".json", ".jsonc"} else Document(name, text, None)


def _is_toml(document: Document) -> bool:
    return document.name.endswith(".toml")
