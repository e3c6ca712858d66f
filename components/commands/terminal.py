"""What is done for people at a terminal alone: colours, a line that tells how far a command has come, a question."""

import os
import re
import sys
from collections.abc import Mapping
from typing import Final, TextIO

_RED, _GREEN, _YELLOW = 31, 32, 33
_COLOURS: Final[Mapping[str, int]] = {
    "mandatory": _RED,
    "failed": _RED,
    "advisory": _YELLOW,
    "not run": _YELLOW,
    "passed": _GREEN,
    "missing": _RED,
    "advice": _YELLOW,
    "unseen": _YELLOW,
    "ok": _GREEN,
}


def is_terminal(stream: TextIO) -> bool:
    """Say whether a person reads a stream, and what steers a terminal does something there."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def coloured(text: str, words: re.Pattern[str], stream: TextIO) -> str:
    """Colour the words of verdicts that a pattern finds, unless no terminal shows them or NO_COLOR is set."""
    if not is_terminal(stream) or os.environ.get("NO_COLOR"):
        return text
    return words.sub(
        lambda word: f"\x1b[{_COLOURS[word[0]]}m{word[0]}\x1b[0m" if word[0] in _COLOURS else word[0], text
    )


def progress(text: str, stream: TextIO) -> None:
    """Put a line in the place of the one before; an empty one takes it away."""
    if is_terminal(stream):
        stream.write(f"\r\x1b[K{text}")
        stream.flush()


def agrees(question: str) -> bool:
    """Ask a person, beside what the command gives out; only a yes is one."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
