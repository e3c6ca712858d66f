"""What became of each tenant, as a table for people and a document for programs."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Final


class Status(StrEnum):
    """How it went."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    GONE = "gone"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    NOT_BEGUN = "not begun"


_WELL: Final = frozenset({Status.CHANGED, Status.UNCHANGED, Status.GONE})


@dataclass(frozen=True)
class Outcome:
    """What became of one tenant."""

    tenant: str
    status: Status
    seconds: float = 0.0
    changes: Mapping[str, int] = field(default_factory=dict)
    """How many resources were created, changed, replaced or deleted."""
    outputs: Mapping[str, Any] = field(default_factory=dict)
    """Outputs of the stack that are no secrets."""
    why: str = ""
    """Why it did not go well, on one line."""

    @property
    def good(self) -> bool:
        """Whether the tenant is as it should be."""
        return self.status in _WELL


@dataclass(frozen=True)
class Outcomes:
    """What became of all tenants of one call."""

    each: tuple[Outcome, ...]

    @property
    def good(self) -> bool:
        """Whether all went well."""
        return all(outcome.good for outcome in self.each)

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """Those that did not go well, with those that were not begun."""
        return tuple(outcome for outcome in self.each if not outcome.good)

    def __getitem__(self, tenant: str) -> Outcome:
        """Return what became of one tenant."""
        return next(outcome for outcome in self.each if outcome.tenant == tenant)

    def document(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        return {
            "good": self.good,
            "tenants": [{**asdict(outcome), "status": str(outcome.status)} for outcome in self.each],
        }

    def table(self) -> str:
        """Return a line for each tenant and one for all."""
        rows = [("TENANT", "STATUS", "SECONDS", "CHANGES AND WHY")]
        rows += [(each.tenant, str(each.status), _seconds(each), each.why or told(each.changes)) for each in self.each]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        lines = [
            f"{name:<{widths[0]}}  {status:<{widths[1]}}  {seconds:>{widths[2]}}  {text}".rstrip()
            for name, status, seconds, text in rows
        ]
        counts = Counter(str(each.status) for each in self.each)
        return "\n".join([*lines, ", ".join(f"{count} {status}" for status, count in counts.items()) or "no tenants"])


def _seconds(outcome: Outcome) -> str:
    return "" if outcome.status == Status.NOT_BEGUN else f"{outcome.seconds:.1f}"


def told(changes: Mapping[str, int]) -> str:
    """Return counts of changes in words."""
    return ", ".join(f"{count} {what}" for what, count in changes.items() if count)
