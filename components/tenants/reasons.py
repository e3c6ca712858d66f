"""Why a run of the engine failed, on one line: of all that it said, what names the cause."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

_COLOUR: Final = re.compile(r"<\{%[^%]*%\}>|\x1b\[[0-9;]*m")
_SUMMARY: Final = (
    "update failed",
    "destroy failed",
    "an unhandled error occurred",
    "python inline source runtime error",
)
_CANCELLED: Final = ("update canceled", "destroy canceled", "update cancelled", "destroy cancelled")
_LONGEST: Final = 400
HIDDEN: Final = "[secret]"
_TRACEBACK: Final = "Traceback (most recent call last)"


@dataclass(frozen=True)
class Complaint:
    """An error as the engine tells it."""

    urn: str
    text: str


def reason(complaints: Sequence[Complaint], said: str, secrets: Iterable[str]) -> str:
    """Return the cause: the first complaint that is none of the engine's summaries, else what else it said."""
    lines = [(each.urn, plain(each.text)) for each in complaints]
    causes = [(urn, text) for urn, text in lines if text and not text.startswith((*_SUMMARY, *_CANCELLED))]
    if causes:
        urn, text = causes[0]
        name = urn.rpartition("::")[2]
        found = text if not name or "pulumi:pulumi:Stack" in urn else f"{name}: {text}"
    else:
        found = _error_in(said) or next((text for _, text in lines if text), "the engine did not say why")
    return hidden(found, secrets)


def is_cancelled(complaints: Iterable[Complaint], said: str) -> bool:
    """Whether the engine was told to stop."""
    texts = [plain(each.text) for each in complaints]
    return any(words in text for words in _CANCELLED for text in (*texts, said))


def hidden(text: str, secrets: Iterable[str]) -> str:
    """Return a text on one line, of a length that fits a table, without any of the secrets."""
    line = _on_one_line(text)
    for secret in sorted(filter(None, map(_on_one_line, secrets)), key=len, reverse=True):
        line = line.replace(secret, HIDDEN)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _on_one_line(text: str) -> str:
    """Secrets have lines too, a private key for one."""
    return " ".join(text.split())


def plain(text: str) -> str:
    """Return a text without colours, its mark and any traceback."""
    bare = _COLOUR.sub("", text).strip().removeprefix("error:").strip()
    head, mark, trace = bare.partition(_TRACEBACK)
    return head.strip() or (trace.strip().splitlines()[-1] if mark and trace.strip() else "")


def _error_in(said: str) -> str:
    """Find the engine's own error where it failed before it could send events."""
    lines = _COLOUR.sub("", said).splitlines()
    return next((line.partition("error:")[2].strip() for line in lines if "error:" in line), "")
