"""List prices of what a Sandbox stack uses, and what the Workers Paid plan includes: for estimates, never for a bill.

Source: Cloudflare's documentation, pages Pricing of Containers, Durable Objects, Workers, KV, Queues and R2, and its
price of Advanced Certificate Manager; read in October 2026. Memory and disk of an instance count as provisioned while
it is awake, processor time while it is busy. A month has 30 days.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from .containers import Region, Size

AS_OF: Final = "2026-10"
MONTH_HOURS: Final = 30 * 24
MONTH_SECONDS: Final = MONTH_HOURS * 3600
MILLION: Final = 1_000_000
GIB_SECOND: Final = 0.000_002_5
VCPU_SECOND: Final = 0.000_020
GB_SECOND: Final = 0.000_000_07
OBJECT_GB: Final = 0.128
"""Memory that a Durable Object is billed for while it is active, whatever it uses."""


class Meter(StrEnum):
    """What is counted, as estimates name it."""

    PLAN = "Workers Paid plan"
    MEMORY = "Containers: memory"
    PROCESSOR = "Containers: processor"
    DISK = "Containers: disk"
    EGRESS_WEST = "Egress: North America, Europe"
    EGRESS_OCEANIA = "Egress: Oceania, Korea, Taiwan"
    EGRESS_ELSEWHERE = "Egress: everywhere else"
    OBJECT_REQUESTS = "Durable Objects: requests"
    OBJECT_DURATION = "Durable Objects: duration"
    REQUESTS = "Workers: requests"
    WORKER_TIME = "Workers: processor"
    STORED = "R2: stored"
    CLASS_A = "R2: class A operations"
    CLASS_B = "R2: class B operations"
    KEYS_STORED = "KV: stored"
    KEY_READS = "KV: reads"
    KEY_WRITES = "KV: writes"
    QUEUE_OPERATIONS = "Queues: operations"
    CERTIFICATES = "Advanced Certificate Manager"


@dataclass(frozen=True)
class Price:
    """What a month's use of one meter costs."""

    dollars: float
    """For `per` units."""
    unit: str
    per: int = 1
    included: float = 0
    """Units of each month that the plan includes, for the whole account."""
    whole: bool = False
    """Whether what is begun of `per` units is billed in full."""

    def of(self, quantity: float, *, included: bool = True) -> float:
        """Return the US dollars of a month's quantity: of a whole account's, or its share beside what else there is."""
        if not included:
            return quantity / self.per * self.dollars
        counted = math.ceil(quantity / self.per) * self.per if self.whole else quantity
        return max(0.0, counted - self.included) / self.per * self.dollars


PRICES: Final[Mapping[Meter, Price]] = {
    Meter.PLAN: Price(5, "account"),
    Meter.MEMORY: Price(GIB_SECOND, "GiB-second", included=25 * 3600),
    Meter.PROCESSOR: Price(VCPU_SECOND, "vCPU-second", included=375 * 60),
    Meter.DISK: Price(GB_SECOND, "GB-second", included=200 * 3600),
    Meter.EGRESS_WEST: Price(0.025, "GB", included=1000),
    Meter.EGRESS_OCEANIA: Price(0.05, "GB", included=500),
    Meter.EGRESS_ELSEWHERE: Price(0.04, "GB", included=500),
    Meter.OBJECT_REQUESTS: Price(0.15, "request", MILLION, included=MILLION),
    Meter.OBJECT_DURATION: Price(12.5, "GB-second", MILLION, included=400_000),
    Meter.REQUESTS: Price(0.3, "request", MILLION, included=10 * MILLION),
    Meter.WORKER_TIME: Price(0.02, "millisecond", MILLION, included=30 * MILLION),
    Meter.STORED: Price(0.015, "GB-month", included=10, whole=True),
    Meter.CLASS_A: Price(4.5, "operation", MILLION, included=MILLION, whole=True),
    Meter.CLASS_B: Price(0.36, "operation", MILLION, included=10 * MILLION, whole=True),
    Meter.KEYS_STORED: Price(0.5, "GB-month", included=1),
    Meter.KEY_READS: Price(0.5, "key", MILLION, included=10 * MILLION),
    Meter.KEY_WRITES: Price(5, "key", MILLION, included=MILLION),
    Meter.QUEUE_OPERATIONS: Price(0.4, "operation", MILLION, included=MILLION),
    Meter.CERTIFICATES: Price(10, "zone"),
}

EGRESS: Final[Mapping[Region, Meter]] = {
    "ENAM": Meter.EGRESS_WEST,
    "WNAM": Meter.EGRESS_WEST,
    "EEUR": Meter.EGRESS_WEST,
    "WEUR": Meter.EGRESS_WEST,
    "OC": Meter.EGRESS_OCEANIA,
    "AFR": Meter.EGRESS_ELSEWHERE,
    "APAC": Meter.EGRESS_ELSEWHERE,
    "ME": Meter.EGRESS_ELSEWHERE,
    "SAM": Meter.EGRESS_ELSEWHERE,
}
"""By which meter what leaves an instance counts; of APAC, Korea and Taiwan count as Oceania does."""


def month_at_full_load(size: Size) -> float:
    """Return the US dollars of one instance that runs and computes for a whole month, with nothing included."""
    second = size.memory_mib / 1024 * GIB_SECOND + size.vcpu * VCPU_SECOND + size.disk_mb / 1000 * GB_SECOND
    return second * MONTH_SECONDS
