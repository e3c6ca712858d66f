"""Locks between set-ups. A lock lives as long as its holder or a program the holder has started is running."""

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tools import interrupt
from tools.errors import FinalError
from tools.progress import Board

_POLL_SECONDS: Final = 0.1
_of_this_thread = threading.local()


def held() -> tuple[int, ...]:
    """Return the descriptors of this thread's locks. Programs inherit them: a killed set-up's build keeps its lock."""
    return tuple(getattr(_of_this_thread, "descriptors", ()))


@contextmanager
def locked(path: Path, *, board: Board, waiting_for: str) -> Iterator[None]:
    """Hold the lock at `path`; say so once if somebody else holds it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = path.open("w")
    except OSError as error:
        remedy = "Make the folder writable, or point XDG_CACHE_HOME elsewhere"
        raise FinalError(f"cannot write to {path.parent}", error.strerror or str(error), remedy) from error
    with handle:
        if not _take(handle.fileno()):
            board.say(f"  wait   {waiting_for} is being worked on already")
            while not _take(handle.fileno()):
                interrupt.check()
                time.sleep(_POLL_SECONDS)
        before = held()
        _of_this_thread.descriptors = (*before, handle.fileno())
        try:
            yield
        finally:
            _of_this_thread.descriptors = before


def claim(folder: Path) -> int | None:
    """Lock a folder of this user's for as long as what is given is open; None when it is gone or another has it."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    if os.fstat(handle).st_uid == os.getuid() and _take(handle):
        return handle
    os.close(handle)
    return None


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
