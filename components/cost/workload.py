"""A month of arrivals, simulated: how many instances are needed, who waits for a cold start, who is refused. Pure.

Arrivals are independent of each other (a Poisson process) and keep a sandbox in use for exponentially distributed
times. A sandbox is an instance of its own, as the SDK has it: who comes back before it sleeps finds it awake. One that
would be an instance too many is refused, and does not come again. The same seed gives the same month.
"""

import heapq
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..errors import UserError
from ..platform.prices import MONTH_HOURS

MOST_ARRIVALS: Final = 200_000
"""More are not simulated: a shorter time stands for the month then."""
MOST_AT_ONCE: Final = 50_000
SETTLING: Final = 5
"""Mean times of use that go by before anything is counted."""
_SLEEP: Final = re.compile(r"([1-9]\d{0,5})([smh])")
_UNITS: Final[Mapping[str, float]] = {"s": 1 / 3600, "m": 1 / 60, "h": 1}
_SHARES: Final = (0.5, 0.99)


@dataclass(frozen=True)
class Workload:
    """Who comes, how often and for how long."""

    arrivals: float
    """Each hour."""
    minutes: float
    """That an arrival keeps its sandbox in use, on average."""
    sandboxes: int = 0
    """How many different ones arrivals go to; each to a new one if 0."""
    idle_hours: float = 1 / 6
    """How long an unused sandbox stays awake."""

    def __post_init__(self) -> None:
        for name, value, most in (
            ("--arrivals", self.arrivals, 1_000_000),
            ("--minutes", self.minutes, 60 * MONTH_HOURS),
        ):
            if not 0 < value <= most:
                raise UserError(f"{name} {value:g}: expected more than 0, and {most:,} at most")
        if not 0 <= self.sandboxes <= 1_000_000:
            raise UserError(f"--sandboxes {self.sandboxes}: expected 0 to 1,000,000")
        at_once = self.arrivals * (self.minutes / 60 + self.idle_hours)
        if at_once > MOST_AT_ONCE:
            raise UserError(
                f"--arrivals {self.arrivals:g} --minutes {self.minutes:g}: about {at_once:,.0f} arrivals would keep "
                f"sandboxes awake at once, and {MOST_AT_ONCE:,} is the most that is simulated; lower one of the two"
            )


@dataclass(frozen=True)
class Simulated:
    """What happened in the hours that were counted."""

    hours: float
    arrivals: int
    cold: int
    """Arrivals that had to wait for an instance to start."""
    refused: int
    """Arrivals for which no instance could start, as the most ran."""
    awake_hours: float
    """Of all instances together."""
    used_hours: float
    """Of them, in use."""
    shares: Mapping[float, int]
    """How many instances were enough for a share of the time."""
    peak: int
    steps: Sequence[tuple[float, int]] = field(repr=False, default=())
    """How many were awake from which hour on."""

    def a_month(self, amount: float) -> float:
        """Return what an amount comes to in a month."""
        return amount * MONTH_HOURS / self.hours


def idle_hours(text: str, where: str) -> float:
    """Return the hours of a time such as `10m`, as the SDK writes it."""
    found = _SLEEP.fullmatch(text)
    if found is None:
        raise UserError(f"{where} {text}: expected a time such as 30s, 10m or 1h")
    return int(found[1]) * _UNITS[found[2]]


def simulate(workload: Workload, seed: int, most: int | None = None, *, hours: float = MONTH_HOURS) -> Simulated:
    """Simulate arrivals with at most so many instances at a time, or as many as it takes."""
    counted = min(hours, MOST_ARRIVALS / workload.arrivals)
    settled = workload.idle_hours + SETTLING * workload.minutes / 60
    return _Month(workload, seed, most, settled, settled + counted).run()


class _Month:
    """The time that is simulated; what lies before `begin` only fills the house."""

    def __init__(self, workload: Workload, seed: int, most: int | None, begin: float, end: float) -> None:
        self._workload, self._most, self._begin, self._end = workload, most, begin, end
        self._random = random.Random(seed)  # noqa: S311 - nothing here is secret
        self._since: dict[int, float] = {}
        self._until: dict[int, float] = {}
        """For each sandbox that is awake, since when, and until when it is in use."""
        self._sleeping: list[tuple[float, int]] = []
        """When which sandbox goes to sleep at the earliest."""
        self._awake: list[tuple[float, float]] = []
        self._used = 0.0
        self._arrived = self._cold = self._refused = 0

    def run(self) -> Simulated:
        clock, number = 0.0, 0
        while True:
            clock += self._random.expovariate(self._workload.arrivals)
            if clock >= self._end:
                break
            number += 1
            # Both are drawn for whoever comes, so that who is refused changes nothing for the others.
            many = self._workload.sandboxes
            sandbox = self._random.randrange(many) if many else number
            self._arrive(clock, sandbox, self._random.expovariate(60 / self._workload.minutes))
        self._fall_asleep(self._end)
        self._awake += [(since, self._end) for since in self._since.values()]
        return self._counted()

    def _arrive(self, now: float, sandbox: int, length: float) -> None:
        self._fall_asleep(now)
        counts = now >= self._begin
        self._arrived += counts
        if sandbox not in self._since:
            if self._most is not None and len(self._since) >= self._most:
                self._refused += counts
                return
            self._cold += counts
            self._since[sandbox] = self._until[sandbox] = now
            heapq.heappush(self._sleeping, (now, sandbox))
        before = max(now, self._until[sandbox])
        self._until[sandbox] = max(before, now + length)
        self._used += self._within(before, self._until[sandbox])

    def _fall_asleep(self, now: float) -> None:
        while self._sleeping and self._sleeping[0][0] <= now:
            _, sandbox = heapq.heappop(self._sleeping)
            asleep = self._until[sandbox] + self._workload.idle_hours
            if asleep > now:
                heapq.heappush(self._sleeping, (asleep, sandbox))
            else:
                self._awake.append((self._since.pop(sandbox), asleep))
                del self._until[sandbox]

    def _within(self, since: float, until: float) -> float:
        return max(0.0, min(until, self._end) - max(since, self._begin))

    def _counted(self) -> Simulated:
        steps = self._steps()
        lasting: dict[int, float] = {}
        for (since, count), until in zip(steps, [*(since for since, _ in steps[1:]), self._end], strict=True):
            lasting[count] = lasting.get(count, 0.0) + until - since
        return Simulated(
            hours=self._end - self._begin,
            arrivals=self._arrived,
            cold=self._cold,
            refused=self._refused,
            awake_hours=sum(self._within(since, until) for since, until in self._awake),
            used_hours=self._used,
            shares={share: _enough(lasting, share) for share in _SHARES},
            peak=max(lasting),
            steps=[(since - self._begin, count) for since, count in steps],
        )

    def _steps(self) -> list[tuple[float, int]]:
        """Return how many are awake from which time on, beginning where counting begins."""
        changes = [(max(since, self._begin), 1) for since, until in self._awake if until > self._begin]
        changes += [(until, -1) for _, until in self._awake if self._begin < until < self._end]
        steps, count = [(self._begin, 0)], 0
        for when, change in sorted(changes):
            count += change
            if steps[-1][0] == when:
                steps.pop()
            steps.append((when, count))
        return steps


def _enough(lasting: Mapping[int, float], share: float) -> int:
    """Return how many instances are enough for a share of the time."""
    wanted, passed = share * sum(lasting.values()), 0.0
    for count in sorted(lasting):
        passed += lasting[count]
        if passed >= wanted:
            break
    return count
