"""How everything that waits learns that it should stop: a step has failed, or the run was interrupted."""

import signal
import threading
from types import FrameType
from typing import Final

from tools.errors import FinalError

stopping: Final = threading.Event()


def check() -> None:
    """Raise if the work should end; called wherever something waits."""
    if stopping.is_set():
        raise FinalError("stopped", "another step failed or the run was interrupted", "Run the same command again")


def treat_termination_as_interrupt() -> None:
    """Let SIGTERM and SIGHUP (a cancelled pipeline, a closed terminal) end a run as orderly as Ctrl-C does."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
