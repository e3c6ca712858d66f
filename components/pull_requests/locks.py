"""Whether who holds a stack's lock still runs. Pure, but for a look at this machine's processes.

A run that was killed leaves its lock behind, in which it says where and when it began. Pulumi Cloud lets go of such a
lock by itself, and says no moment.
"""

import os
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

_HOLDER: Final = re.compile(r"created by \S*?@(?P<host>\S+) \(pid (?P<pid>[0-9]+)\) at (?P<since>[0-9T:.Z+-]+)")
_SAID: Final = ("the stack is currently locked by", "Another update is currently in progress")


@dataclass(frozen=True)
class Holder:
    """Who holds a lock."""

    host: str
    pid: int
    since: datetime

    def __str__(self) -> str:
        return f"process {self.pid} of {self.host} since {self.since:%Y-%m-%d %H:%M UTC}"


def is_locked(said: str) -> bool:
    """Whether Pulumi did nothing because of a lock."""
    return any(words in said for words in _SAID)


def holders(said: str) -> list[Holder]:
    """Return who holds the locks that Pulumi told of."""
    return [
        Holder(found["host"], int(found["pid"]), datetime.fromisoformat(found["since"]))
        for found in _HOLDER.finditer(said)
    ]


def living(
    said: str, now: datetime, patience: timedelta, host: str = "", lives: Callable[[int], bool] | None = None
) -> str:
    """Return who of the holders may still run, in words; empty when none of them does."""
    host, lives = host or socket.gethostname(), lives or _lives
    known = holders(said)
    if not known:
        return "somebody whom the backend does not name"
    alive = [each for each in known if (lives(each.pid) if each.host == host else now - each.since < patience)]
    return ", ".join(map(str, alive))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
