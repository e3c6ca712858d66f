"""What a month costs by list prices in three columns: idle, typical, every instance busy. Pure.

Each column is quantities by meter; the plan's included amounts are taken off once for all of them, as Cloudflare takes
them off an account's bill.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Final

from ..errors import UserError
from ..platform.prices import MONTH_HOURS, OBJECT_GB, PRICES, Meter, month_at_full_load
from .billed import Billed, Instances

IDLE, TYPICAL, BUSY = "idle", "typical", "every instance busy"
COLUMNS: Final = (IDLE, TYPICAL, BUSY)

Quantities = Mapping[Meter, float]


@dataclass(frozen=True)
class Assumptions:
    """What an estimate takes for granted; settings do not say it."""

    awake_hours: float = 160
    """Hours of a month that each instance is awake in the column `typical`: 8 hours on 20 days."""
    processor: float = 0.2
    """Share of its processor that an awake instance uses in the column `typical`."""
    requests: float = 60
    """Requests to the Worker in each hour that an instance is awake."""
    object_requests: float = 3
    """Requests to Durable Objects for each request to the Worker."""
    alarms: float = 20
    """Alarms of a Durable Object in each hour that its instance is awake."""
    worker_ms: float = 5
    """Milliseconds of the Worker's processor for each request."""
    egress_gb: float = 0.05
    """GB that leave an instance in each hour that it is awake."""
    stored_gb: float = 10
    """GB that each bucket holds, whoever is awake."""
    writes: float = 20
    """Class A operations on buckets in each hour that an instance is awake."""
    reads: float = 60
    """Class B operations on buckets in each hour that an instance is awake."""
    key_reads: float = 1
    """Keys read from KV for each request to the Worker."""
    key_writes: float = 0.1
    """Keys written to KV for each request to the Worker."""
    events: float = 1
    """Events queued for each request to the Worker; each is three operations."""


@dataclass(frozen=True)
class Line:
    """One meter in one column."""

    meter: Meter
    quantity: float
    dollars: float
    """After what the plan includes."""


def total(lines: Iterable[Line]) -> float:
    """Return the sum of lines in whole cents, so that a table's last row is the sum of those above it."""
    return round(sum(round(line.dollars, 2) for line in lines), 2)


@dataclass(frozen=True)
class Estimate:
    """What a stack costs a month."""

    billed: Billed
    assumptions: Assumptions
    alone: bool
    """Whether the plan is counted and what it includes taken off: as if the account had no other stack."""
    columns: Mapping[str, tuple[Line, ...]]

    def total(self, column: str) -> float:
        """Return the US dollars of a column."""
        return total(self.columns[column])

    @property
    def ceiling(self) -> float:
        """What all instances cost at full load with nothing included: what `container/budget` judges."""
        return sum(each.most * month_at_full_load(each.size) for each in self.billed.instances)


def estimate(billed: Billed, assumptions: Assumptions | None = None, *, alone: bool = True) -> Estimate:
    """Return what a stack costs a month."""
    said = assumptions or Assumptions()
    used = {
        IDLE: _month(billed, said, hours=0, processor=0),
        TYPICAL: _month(billed, said, hours=said.awake_hours, processor=said.processor),
        BUSY: _month(billed, said, hours=MONTH_HOURS, processor=1),
    }
    return Estimate(billed, said, alone, {name: lines(each, alone=alone) for name, each in used.items()})


def lines(quantities: Quantities, *, alone: bool = True) -> tuple[Line, ...]:
    """Price quantities; with other stacks beside it nothing is included any more, and the plan is paid already."""
    return tuple(
        Line(meter, quantity, PRICES[meter].of(quantity, included=alone))
        for meter, quantity in quantities.items()
        if alone or meter != Meter.PLAN
    )


def _month(billed: Billed, said: Assumptions, *, hours: float, processor: float) -> Quantities:
    """Return what is used in a month in which each instance is awake for some hours."""
    awake = [(each, hours * each.most) for each in billed.instances]
    used = of_instances([(each, time, time * processor) for each, time in awake], said)
    return {**used, **around(billed, said, sum(time for _, time in awake))}


def of_instances(used: Iterable[tuple[Instances, float, float]], said: Assumptions) -> dict[Meter, float]:
    """Return what instances use, which are awake for some hours together, and keep their processors busy for some."""
    found = {Meter.PLAN: 1.0, Meter.MEMORY: 0.0, Meter.PROCESSOR: 0.0, Meter.DISK: 0.0}
    for each, awake, busy in used:
        found[Meter.MEMORY] += awake * 3600 * each.size.memory_mib / 1024
        found[Meter.PROCESSOR] += busy * 3600 * each.size.vcpu
        found[Meter.DISK] += awake * 3600 * each.size.disk_mb / 1000
        found[each.egress] = found.get(each.egress, 0.0) + awake * said.egress_gb
    return found


def around(billed: Billed, said: Assumptions, awake: float) -> dict[Meter, float]:
    """Return what is used beside the instances, which are awake for some hours together."""
    requests = awake * said.requests
    calls = requests + billed.scheduled_calls
    used = {
        Meter.OBJECT_REQUESTS: requests * said.object_requests + awake * said.alarms,
        Meter.OBJECT_DURATION: awake * 3600 * OBJECT_GB,
        Meter.REQUESTS: calls,
        Meter.WORKER_TIME: calls * said.worker_ms,
    }
    if billed.buckets:
        used[Meter.STORED] = billed.buckets * said.stored_gb
        used[Meter.CLASS_A], used[Meter.CLASS_B] = awake * said.writes, awake * said.reads
    if billed.namespaces:
        used[Meter.KEY_READS], used[Meter.KEY_WRITES] = requests * said.key_reads, requests * said.key_writes
    if billed.queues:
        used[Meter.QUEUE_OPERATIONS] = requests * said.events * 3
    if billed.certificates:
        used[Meter.CERTIFICATES] = billed.certificates
    return used


def assume(texts: list[str]) -> Assumptions:
    """Return the assumptions with what `NAME=NUMBER` says otherwise."""
    known = [each.name for each in fields(Assumptions)]
    said = {}
    for text in texts:
        name, _, number = text.partition("=")
        if name not in known:
            raise UserError(f"--assume {text}: there is no such assumption; known are {', '.join(known)}")
        said[name] = _number(text, number, most=_MOST.get(name))
    return Assumptions(**said)


_MOST: Final = {"awake_hours": MONTH_HOURS, "processor": 1}
_LARGEST: Final = 1e12


def _number(text: str, number: str, most: float | None) -> float:
    try:
        value = float(number)
    except ValueError:
        value = -1
    if not 0 <= value <= (most or _LARGEST):
        raise UserError(f"--assume {text}: expected a number from 0 to {most or _LARGEST:g}; write NAME=NUMBER")
    return value
