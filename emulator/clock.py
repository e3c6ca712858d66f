"""The emulator's time: the machine's clock plus an offset that tests advance.

Everything that depends on time (expiry, rollouts, timestamps) asks here, so that no test ever sleeps.
The offset is part of the state and survives a restart.
"""

import secrets
import time
import uuid
from datetime import UTC, datetime, timedelta

from .store import Store

_OFFSET = "clock.offset"
_FURTHEST = 200 * 365 * 86400.0  # keeps every timestamp inside what datetime can express


class Clock:
    """Time as the emulated account sees it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.offset = float(store.setting(_OFFSET) or 0)

    def time(self) -> float:
        """Seconds since 1970."""
        return time.time() + self.offset

    def now(self) -> datetime:
        """The moment, in UTC."""
        return datetime.now(UTC) + timedelta(seconds=self.offset)

    def stamp(self) -> str:
        """The moment as the API writes it: RFC 3339, UTC, microseconds."""
        return stamp(self.now())

    def advance(self, seconds: float) -> None:
        """Move the clock on; never back, since state holds timestamps."""
        self.offset = min(self.offset + seconds, _FURTHEST)
        self._store.set_setting(_OFFSET, repr(self.offset))

    def restart(self) -> None:
        """Forget the offset (the state is being cleared)."""
        self.offset = 0.0


def stamp(moment: datetime) -> str:
    """RFC 3339 in UTC with a Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def stamp_of(seconds: float) -> str:
    """The same for seconds since 1970."""
    return stamp(datetime.fromtimestamp(seconds, UTC))


def parse_stamp(text: str) -> datetime | None:
    """Read RFC 3339; None when it is not (or has no zone)."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if moment.tzinfo is None else moment


def hex_id() -> str:
    """A new 32-hex identifier."""
    return secrets.token_hex(16)


def uuid_id() -> str:
    """A new UUID v4."""
    return str(uuid.uuid4())
