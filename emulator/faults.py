"""Failures on demand.

A rule picks calls (method, path pattern or operation, from the n-th match on, so many times) and says what happens:
an error status, a delay, a dropped connection, before the work is done or after it. Every rule counts its matches;
of those that are due the first acts.
"""

import fnmatch
from dataclasses import dataclass
from typing import Any

from .schema import anything, flag, mapping, number, options, text

# What cannot be sent would break the emulator's own answer; its length and framing are the server's to say.
_HEADER_NAME = text(pattern=r"(?i:(?!(content-length|transfer-encoding)$)[!#$%&'*+.^_`|~0-9a-z-]+)")
_HEADER_VALUE = text(pattern=r"[\t\x20-\x7e\x80-\xff]*")

CHECK = options(
    method=text(pattern="[A-Z]+"),
    path=text(least=1),
    operation=text(least=1),
    nth=number(least=1, most=10**9, whole=True),
    times=number(least=0, most=10**9, whole=True),
    status=number(least=200, most=599, whole=True),
    code=number(whole=True),
    message=text(),
    body=anything(),
    headers=mapping(_HEADER_VALUE, _HEADER_NAME),
    retry_after=number(least=0, most=86400),
    delay_ms=number(least=0, most=600_000),
    drop=flag(),
    after=flag(),
)


@dataclass
class Fault:
    """One rule and how often it matched and acted."""

    id: int
    rule: dict[str, Any]
    seen: int = 0
    acted: int = 0

    def describe(self) -> dict[str, Any]:
        """For the control route."""
        return {"id": self.id, **self.rule, "seen": self.seen, "acted": self.acted}

    def matches(self, method: str, path: str, operation: str) -> bool:
        """Whether the rule is about such a call."""
        rule = self.rule
        return (
            rule.get("method", method) == method
            and fnmatch.fnmatchcase(path, rule.get("path", "*"))
            and fnmatch.fnmatchcase(operation, rule.get("operation", "*"))
        )

    @property
    def due(self) -> bool:
        """Whether it is this rule's turn."""
        times = self.rule.get("times", 1)
        return self.seen >= self.rule.get("nth", 1) and (not times or self.acted < times)

    @property
    def after(self) -> bool:
        """Whether the work is done first."""
        return bool(self.rule.get("after"))

    @property
    def drop(self) -> bool:
        """Whether the connection is cut."""
        return bool(self.rule.get("drop"))

    @property
    def delay(self) -> float:
        """Seconds to wait."""
        return float(self.rule.get("delay_ms", 0)) / 1000

    @property
    def status(self) -> int | None:
        """Status to answer with, if the rule answers."""
        status = self.rule.get("status")
        if status is None and "retry_after" in self.rule:
            return 429
        return None if status is None else int(status)

    def answer(self, status: int) -> tuple[Any, dict[str, str]]:
        """Body and headers of the failure."""
        headers = dict(self.rule.get("headers", {}))
        if "retry_after" in self.rule:
            headers["retry-after"] = f"{self.rule['retry_after']:g}"
            headers["retry-after-ms"] = f"{self.rule['retry_after'] * 1000:g}"
        if "body" in self.rule:
            return self.rule["body"], headers
        throttled = status == 429
        code = self.rule.get("code", 971 if throttled else 10000)
        default = "Please wait and consider throttling your request speed" if throttled else "A fault was asked for"
        error = {"code": int(code), "message": self.rule.get("message", default)}
        return {"success": False, "errors": [error], "messages": [], "result": None}, headers


class Faults:
    """The rules in force."""

    def __init__(self) -> None:
        self._rules: list[Fault] = []
        self._last_id = 0

    def __bool__(self) -> bool:
        return bool(self._rules)

    def add(self, rule: dict[str, Any]) -> Fault:
        """Put a rule in force."""
        self._last_id += 1
        fault = Fault(self._last_id, rule)
        self._rules.append(fault)
        return fault

    def take(self, method: str, path: str, operation: str) -> Fault | None:
        """The rule that acts on this call, if any."""
        matching = [fault for fault in self._rules if fault.matches(method, path, operation)]
        for fault in matching:
            fault.seen += 1
        acting = next((fault for fault in matching if fault.due), None)
        if acting is not None:
            acting.acted += 1
        return acting

    def all(self) -> list[Fault]:
        """The rules in force."""
        return list(self._rules)

    def remove(self, fault_id: int) -> bool:
        """Lift one rule; whether there was one."""
        before = len(self._rules)
        self._rules = [fault for fault in self._rules if fault.id != fault_id]
        return len(self._rules) < before

    def clear(self) -> None:
        """Lift all rules."""
        self._rules.clear()
