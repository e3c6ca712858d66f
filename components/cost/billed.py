"""What of a stack is billed: instances by size and number, buckets, namespaces, queues, certificates, schedules. Pure.

Settings and previews both end here, so that an estimate is the same wherever it comes from.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ..platform.containers import JURISDICTIONS, REGIONS, Size, instance_type_of
from ..platform.prices import EGRESS, MONTH_HOURS, PRICES, Meter


@dataclass(frozen=True)
class Instances:
    """The instances of one application."""

    name: str
    size: Size
    most: int
    """Most at a time."""
    egress: Meter = Meter.EGRESS_WEST
    """How what leaves them counts."""

    @property
    def words(self) -> str:
        """Number and size, for people."""
        type_ = instance_type_of(self.size)
        size = self.size
        return f"{self.most} x {type_ or f'({size.vcpu:g} vCPU, {size.memory_mib} MiB, {size.disk_mb} MB)'}"


@dataclass(frozen=True)
class Billed:
    """Everything of a stack that costs something."""

    instances: tuple[Instances, ...] = ()
    buckets: int = 0
    namespaces: int = 0
    queues: int = 0
    certificates: int = 0
    """Zones that need Advanced Certificate Manager."""
    scheduled_calls: int = 0
    """Calls of the Worker by its schedules, each month."""
    untold: tuple[str, ...] = ()
    """Applications whose instances the Worker's code sizes and counts, as those of SDK 1.x: they are not among them."""


def egress_of(regions: Iterable[str], jurisdiction: str | None = None) -> Meter:
    """Return how what leaves instances counts: the dearest of the places where they may run.

    If nothing says where, as in North America and Europe: most instances are there.
    """
    places = set(regions) or JURISDICTIONS.get(jurisdiction or "", frozenset())
    possible = [EGRESS[each] for each in REGIONS if each in places] or [Meter.EGRESS_WEST]
    return max(possible, key=lambda meter: PRICES[meter].dollars)


def calls_a_month(schedule: str) -> int:
    """Return how often a schedule comes due in 30 days, at most: one for some days only counts as daily."""
    minute, hour = schedule.split()[:2]
    return _values(minute, 60) * _values(hour, 24) * (MONTH_HOURS // 24)


def _values(field: str, of: int) -> int:
    """Return how many of a range's values a field of a schedule names."""
    count = 0
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        low = int(first) if first.isdigit() else 0
        high = int(last) if last.isdigit() else of - 1 if step or not (first.isdigit() or dash) else low
        count += len(range(low, high + 1, max(1, int(step) if step.isdigit() else 1)))
    return min(count, of)
