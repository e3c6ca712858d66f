"""Failures on demand: which calls of the API fail, when, and how."""

from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from .emulator import Emulator


class Calls(TypedDict, total=False):
    """Which calls a failure is for; without any of it, all of them."""

    method: str
    path: str
    """A pattern such as `*/workers/scripts/*`."""
    operation: str
    """A pattern for the names that `control("GET", "/operations")` of the emulator lists, such as `r2.*`."""
    nth: int
    """The first call of these that fails; 1."""
    times: int
    """How many fail, 0 for all that follow; 1."""
    after: bool
    """Whether the work is done first: the caller is told that it failed, and it did not."""


@dataclass(frozen=True)
class Fault:
    """A failure that was asked for."""

    id: int
    _emulator: Emulator

    @property
    def acted(self) -> int:
        """How many calls have failed by it."""
        known = self._emulator.control("GET", "/faults")
        return next((int(each["acted"]) for each in known if each["id"] == self.id), 0)

    def lift(self) -> None:
        """End it before the test does."""
        self._emulator.control("DELETE", f"/faults/{self.id}")


@dataclass(frozen=True)
class Faults:
    """Failures of calls to the API, for the time of a test."""

    _emulator: Emulator

    def fail(self, status: int = 503, *, message: str = "", **calls: Unpack[Calls]) -> Fault:
        """Answer calls with an error, in place of the work or after it."""
        return self._add({"status": status, **({"message": message} if message else {})}, calls)

    def throttle(self, retry_after: float, **calls: Unpack[Calls]) -> Fault:
        """Answer calls with 429, and with how many seconds to wait."""
        return self._add({"retry_after": retry_after}, calls)

    def delay(self, seconds: float, **calls: Unpack[Calls]) -> Fault:
        """Answer calls late."""
        return self._add({"delay_ms": seconds * 1000}, calls)

    def drop(self, **calls: Unpack[Calls]) -> Fault:
        """Cut the connection in place of an answer."""
        return self._add({"drop": True}, calls)

    def lag(self, seconds: float) -> None:
        """Slow every call down, until the test ends."""
        self._emulator.control("PUT", "/latency", {"ms": seconds * 1000})

    def clear(self) -> None:
        """Lift everything."""
        self._emulator.control("DELETE", "/faults")
        self._emulator.control("PUT", "/latency", {"ms": 0})

    def _add(self, effect: dict[str, Any], calls: Calls) -> Fault:
        made = self._emulator.control("POST", "/faults", {**effect, **calls})
        return Fault(made["id"], self._emulator)
