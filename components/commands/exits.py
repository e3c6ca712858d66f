"""How every command ends: the one home of exit codes. `docs/commands.md` has the table, made from here."""

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from types import FrameType
from typing import Final


class Exit(IntEnum):
    """What a command says to the shell."""

    DONE = 0
    NO = 1
    REFUSED = 2
    INTERRUPTED = 130
    UNREAD = 141


MEANINGS: Final[Mapping[Exit, str]] = {
    Exit.DONE: "it was done, and nothing speaks against what was asked about",
    Exit.NO: "it was done, and the answer is no: a mandatory finding, a step that failed",
    Exit.REFUSED: "the command cannot be understood, or what it needs is not there: one message says what",
    Exit.INTERRUPTED: "it was interrupted, by Ctrl-C for instance",
    Exit.UNREAD: "nobody reads on what it prints, as where `head` has seen enough",
}


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM, by which pipelines end a job, interrupt as Ctrl-C does: what was begun is taken back then too."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
