"""How every command ends: the one home of exit codes. `docs/commands.md` has the table, made from here."""

from collections.abc import Mapping
from enum import IntEnum
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
