"""Remedies that need no decision: edits of the files in which a finding stands, shown as a diff and then made.

Every edit changes one span of text; comments and layout around it stay. What would have to be guessed is left alone,
and so is a file that could not be read any more afterwards.
"""

import difflib
import os
import re
import tempfile
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..platform.compatibility import NODEJS_FLAG, NODEJS_FLAGS, OWN_PID_NAMESPACE_FLAG
from ..rules import Finding
from ..wrangler.document import BrokenDocumentError, Document, Span, read_jsonc, read_toml
from ..wrangler.document import Path as Keys
from .files import LARGEST_CONFIG, UnreadableError, decoded
from .report import split

Edit = tuple[Span, str]
Fix = Callable[[Document, int, Finding], Iterator[Edit]]
_FLAGS: Final = "compatibility_flags"
_DATE: Final = "compatibility_date"
_NEW_LIST: Final = re.compile(rf'{_FLAGS}"?\s*[:=]\s*\[(.*?)\]')
_REGISTRY: Final = "docker.io/"


_OFFICIAL: Final = re.compile(
    r"(?<![\w./:-])(docker\.io/|index\.docker\.io/)?(cloudflare/sandbox)(?::([\w.-]+))?(?![\w./-]|\S*@)"
)
_VERSION: Final = re.compile(r"SANDBOX_VERSION[= ]\"?(\d+\.\d+\.\d+)")
_REASON: Final = re.compile(
    r"\b(?:pin(?:ned)?|keep|kept|stay|hold|held|do not|don't|until|because|breaks?|broken|bug|regression|bump"
    r"|downgraded?)\b"
    r"|\d+\.\d+|#\d+",
    re.IGNORECASE,
)
_COMMENT: Final = re.compile(r"\s*(?:#|//|/\*|\*)")
_COMMENT_BEHIND: Final = re.compile(r"(?:\s//|\s/\*|\s#)(.*)")


def _line(document: Document, line: int) -> Span:
    lines = document.text.split("\n")
    start = sum(len(each) + 1 for each in lines[: line - 1])
    return Span(start, start + len(lines[line - 1]) if line <= len(lines) else start)


def _only(document: Document, line: int, pattern: re.Pattern[str]) -> re.Match[str] | None:
    """Find what stands on a line once; of several it could be any."""
    matches = list(pattern.finditer(document.text, *_line(document, line)))
    return matches[0] if len(matches) == 1 else None


def _is_explained(document: Document, line: int) -> bool:
    """Say whether a comment on the line, or right above it, gives a reason: then somebody decided."""
    lines = document.text.split("\n")[:line]
    behind = _COMMENT_BEHIND.search(lines[-1]) if lines else None
    said = [behind[1]] if behind else []
    for each in reversed(lines[:-1]):
        if not _COMMENT.match(each):
            break
        said.append(each)
    return any(map(_REASON.search, said))


def _at(document: Document, line: int, key: str) -> Keys | None:
    """Find the one place on a line where a key is said."""
    found = [path for path in document.spans if path[-1:] == (key,) and split(document.where(*path))[1] == line]
    return found[0] if len(found) == 1 else None


def _flags(document: Document, path: Keys) -> list[str] | None:
    value: Any = document.value
    for part in path:
        value = value[part]
    return value if isinstance(value, list) and all(isinstance(each, str) for each in value) else None


def _add(document: Document, path: Keys, flag: str) -> Iterator[Edit]:
    """Put a flag behind the last one of a list."""
    said, span = _flags(document, path), document.spans[path]
    text = document.text[span.start : span.end]
    if said is None or not text.endswith("]") or (_is_toml(document) and "\n" in text):
        return
    if last := document.spans.get((*path, len(said) - 1)):
        yield Span(last.end, last.end), f', "{flag}"'
    elif said or not text[1:-1].strip():
        behind = len(text[:-1].rstrip().removesuffix(",").rstrip())
        yield Span(span.start + behind, span.start + behind), f', "{flag}"' if said else f'"{flag}"'


def _new_list(document: Document, flag: str) -> Iterator[Edit]:
    """Put a list behind the date, where there is none to add to."""
    span = document.spans.get((_DATE,))
    if span is None or (_FLAGS,) in document.spans:
        return
    if _is_toml(document):
        line_end = document.text.find("\n", span.end)
        end = line_end if line_end >= 0 else len(document.text)
        yield Span(end, end), f'\n{_FLAGS} = ["{flag}"]'
    else:
        yield Span(span.end, span.end), _member(document, span, f'"{_FLAGS}": ["{flag}"]')


def _member(document: Document, behind: Span, member: str) -> str:
    """Write a member of the object on a line of its own, as far in as the one it follows."""
    start = document.text.rfind("\n", 0, behind.start) + 1
    lead = document.text[start : behind.start]
    return f",\n{lead[: len(lead) - len(lead.lstrip())]}{member}" if start else f", {member}"


def _add_nodejs(document: Document, line: int, finding: Finding) -> Iterator[Edit]:
    path = _at(document, line, _FLAGS)
    yield from _add(document, path, NODEJS_FLAG) if path else _new_list(document, NODEJS_FLAG)


def _own_namespace(document: Document, line: int, finding: Finding) -> Iterator[Edit]:
    """Set the flag alone: a later date would change more than is asked for."""
    date = _at(document, line, _DATE)
    paths = [(*date[:-1], _FLAGS), (_FLAGS,)] if date else []
    path = next((each for each in paths if each in document.spans), None)
    if path:
        yield from _add(document, path, OWN_PID_NAMESPACE_FLAG)
    elif date == (_DATE,):
        yield from _new_list(document, OWN_PID_NAMESPACE_FLAG)


def _remove_nodejs(document: Document, line: int, finding: Finding) -> Iterator[Edit]:
    path = _at(document, line, _FLAGS)
    said = _flags(document, path) if path else None
    unwanted = NODEJS_FLAGS if finding.rule.endswith("refused") else {f"no_{NODEJS_FLAG}"}
    if path is None or said is None:
        return
    if _is_toml(document):
        yield document.spans[path], "[" + ", ".join(f'"{each}"' for each in said if each not in unwanted) + "]"
        return
    for index, each in enumerate(said):
        if each in unwanted:
            span = _with_comma(document, path, index, len(said))
            # A comment there may be about this flag or about the next one.
            if not re.search(r"//|/\*", document.text[span.start : span.end]):
                yield span, ""


def _with_comma(document: Document, path: Keys, index: int, count: int) -> Span:
    span = document.spans[*path, index]
    if index + 1 < count:
        return Span(span.start, document.spans[*path, index + 1].start)
    return Span(document.spans[*path, index - 1].end, span.end) if index else span


def _qualify(document: Document, line: int, finding: Finding) -> Iterator[Edit]:
    found = _only(document, line, _OFFICIAL)
    if found and not found[1]:
        yield Span(found.start(2), found.start(2)), _REGISTRY


def _tag(document: Document, line: int, finding: Finding) -> Iterator[Edit]:
    """Set the version; a name that is written anew is written in full, as the components want it."""
    wanted = re.search(r"(?:tag |sandbox:)(\d+\.\d+\.\d+(?:-[a-z]+)?)", finding.remedy)
    found = _only(document, line, _OFFICIAL)
    if wanted and found and found[3] and not _is_explained(document, line):
        yield Span(found.start(3), found.end(3)), wanted[1]
        yield from _qualify(document, line, finding)


def _version_variable(document: Document, line: int, finding: Finding) -> Iterator[Edit]:
    wanted = re.search(r"SANDBOX_VERSION=(\d+\.\d+\.\d+)", finding.remedy)
    found = _only(document, line, _VERSION)
    if wanted and found and not _is_explained(document, line):
        yield Span(found.start(1), found.end(1)), wanted[1]


def _observe(document: Document, line: int, finding: Finding) -> Iterator[Edit]:
    """Switch logs on where nothing is said; who switched them off decided."""
    span = document.spans.get((_DATE,))
    if span and ("observability",) not in document.spans and not _is_toml(document):
        yield Span(span.end, span.end), _member(document, span, '"observability": {"enabled": true}')


FIXES: Final[Mapping[str, Fix]] = {
    "flags/nodejs-compat-required": _add_nodejs,
    "flags/nodejs-compat-refused": _remove_nodejs,
    "flags/nodejs-compat-off": _remove_nodejs,
    "flags/date-floor": _own_namespace,
    "image/fully-qualified": _qualify,
    "versions/image-tag": _tag,
    "versions/copy-from": _tag,
    "versions/sandbox-version": _version_variable,
    "container/observability": _observe,
}


@dataclass(frozen=True)
class FixedFile:
    """A file before and after."""

    path: Path
    name: str
    before: str
    after: str
    mark: bytes = b""
    line_end: str = "\n"

    def diff(self) -> str:
        """Show what changes."""
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            f"a/{self.name}",
            f"b/{self.name}",
        )
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def write(self) -> None:
        """Replace the file at once, with the encoding, line ends, rights and owner it had; an OSError says why not."""
        if self.path.read_bytes() != self._bytes(self.before):
            raise OSError(None, "it has changed meanwhile")
        if not os.access(self.path, os.W_OK):
            raise OSError(None, "it may not be written")
        status = self.path.stat()
        descriptor, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(self._bytes(self.after))
                file.flush()
                os.fsync(descriptor)
            with suppress(PermissionError):
                os.chown(temporary, status.st_uid, status.st_gid)
            Path(temporary).chmod(status.st_mode & 0o7777)
            Path(temporary).replace(self.path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def _bytes(self, text: str) -> bytes:
        return self.mark + text.replace("\n", self.line_end).encode()


def fix(findings: Iterable[Finding], folder: Path) -> Iterator[FixedFile]:
    """Return every file that can be fixed; places are relative to `folder`."""
    by_file: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.rule in FIXES:
            by_file.setdefault(split(finding.where)[0], []).append(finding)
    for name, each in sorted(by_file.items()):
        fixed = _file(folder, name, each)
        if fixed:
            yield fixed


def _file(folder: Path, name: str, findings: list[Finding]) -> FixedFile | None:
    path = folder / name
    if path.is_symlink():
        path = path.resolve()
        if not path.is_relative_to(folder.resolve()):
            return None  # it belongs to something else
    try:
        data = path.read_bytes()
        text = decoded(data[: LARGEST_CONFIG + 1])
        document = _document(path, name, text)
        after = _applied(text, _edits(document, findings))
        _document(path, name, after)
    except (OSError, UnreadableError, BrokenDocumentError):
        return None
    forms = ((mark, end) for mark in (b"", BOM_UTF8) for end in ("\n", "\r\n"))
    kept = next((each for each in forms if each[0] + text.replace("\n", each[1]).encode() == data), None)
    # Another encoding, or line ends of several kinds, would not come back as they were.
    return FixedFile(path, name, text, after, *kept) if kept and after != text else None


def _edits(document: Document, findings: list[Finding]) -> dict[Span, str]:
    edits: dict[Span, str] = {}
    for finding in findings:
        for span, new in FIXES[finding.rule](document, split(finding.where)[1], finding):
            said = edits.get(span)
            if said is None:
                edits[span] = new
            elif span.start == span.end and new not in said:
                edits[span] = _merged(said, new)
    return edits


def _merged(said: str, new: str) -> str:
    """Put two texts into one place; two new lists of flags become one."""
    flag = _NEW_LIST.search(new)
    if flag and _NEW_LIST.search(said):
        return _NEW_LIST.sub(lambda found: found[0].replace("]", f", {flag[1]}]"), said, count=1)
    return said + (new if new.startswith((",", "\n")) else f", {new}")


def _applied(text: str, edits: Mapping[Span, str]) -> str:
    for span, new in sorted(edits.items(), reverse=True):
        text = text[: span.start] + new + text[span.end :]
    return text


def _document(path: Path, name: str, text: str) -> Document:
    if path.suffix == ".toml":
        return read_toml(name, text)
    return read_jsonc(name, text) if path.suffix in {".json", ".jsonc"} else Document(name, text, None)


def _is_toml(document: Document) -> bool:
    return document.name.endswith(".toml")
