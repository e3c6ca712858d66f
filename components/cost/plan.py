"""What a simulated workload means for a kind of sandbox: instances, cold starts, refusals, limits, dollars. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..platform.containers import most_instances
from ..platform.prices import AS_OF
from .billed import Billed, Instances
from .estimate import Assumptions, Line, around, lines, of_instances, total
from .tables import TOTAL, Row, money
from .workload import Simulated, Workload, simulate


@dataclass(frozen=True)
class Plan:
    """A workload on the instances of a stack."""

    workload: Workload
    seed: int
    instances: Instances
    needed: Simulated
    """With as many instances as it takes."""
    kept: Simulated
    """With as many as the settings allow."""
    lines: tuple[Line, ...]

    @property
    def total(self) -> float:
        """US dollars a month."""
        return total(self.lines)

    @property
    def limit(self) -> int:
        """How many instances of the size an account may run at once."""
        return most_instances(self.instances.size)


def plan(workload: Workload, seed: int, billed: Billed, said: Assumptions, *, alone: bool) -> Plan:
    """Simulate a workload on the first kind of sandbox and price it; instances of other kinds sleep."""
    one = billed.instances[0]
    needed, kept = simulate(workload, seed), simulate(workload, seed, one.most)
    awake, used = kept.a_month(kept.awake_hours), kept.a_month(kept.used_hours)
    quantities = {**of_instances([(one, awake, used * said.processor)], said), **around(billed, said, awake)}
    return Plan(workload, seed, one, needed, kept, lines(quantities, alone=alone))


def rows(found: Plan) -> list[Row]:
    """Return a plan as a table of two columns."""
    needed, kept = found.needed, found.kept
    half, nearly = needed.shares.values()
    return [
        ("Of this workload", ""),
        ("Instances enough for 50% of the time", f"{half:,}"),
        ("Instances enough for 99% of the time", f"{nearly:,}"),
        ("Most instances at once", f"{needed.peak:,}"),
        ("Awake on average", f"{kept.awake_hours / kept.hours:,.1f}"),
        ("Arrivals that wait for a cold start", _share(kept.cold, kept.arrivals)),
        (f"Refused at max_instances {found.instances.most:,}", _share(kept.refused, kept.arrivals)),
        ("99% of the time, of the account's limit", f"{nearly / found.limit:.1%} of {found.limit:,}"),
        *((f"US dollars a month: {line.meter}", money(line.dollars)) for line in found.lines if round(line.dollars, 2)),
        (TOTAL, money(found.total)),
    ]


def _share(part: int, whole: int) -> str:
    return f"{part / whole if whole else 0:.1%}"


def heading(found: Plan) -> str:
    """Return what was simulated, in a sentence."""
    load, sandboxes = found.workload, found.workload.sandboxes
    where = f"{sandboxes:,} sandboxes" if sandboxes else "a new sandbox each"
    return (
        f"{load.arrivals:g} arrivals an hour to {where}, {load.minutes:g} minutes each, asleep after "
        f"{load.idle_hours * 60:g} minutes, on {found.instances.words}; {found.kept.hours:g} hours simulated, "
        f"seed {found.seed}"
    )


def small_print(found: Plan, said: Assumptions, *, alone: bool) -> list[str]:
    """Return what a plan takes for granted."""
    included = "is taken off" if alone else "is taken to be used up by other stacks"
    return [
        f"List prices of {AS_OF}, before taxes; a month has 30 days. What the Workers Paid plan includes {included}.",
        f"A sandbox uses {said.processor:.0%} of its processor while it is in use, and none while it idles.",
        "Arrivals come at random at the same rate all month; times of use are exponentially distributed.",
        *_refusals(found),
    ]


def _refusals(found: Plan) -> Iterator[str]:
    if found.kept.refused:
        yield (
            f"Who is refused does not come again here; the SDK tries for about 150 seconds. {found.needed.peak:,} "
            "instances refuse nobody."
        )


def as_document(found: Plan) -> dict[str, Any]:
    """Return a plan for programs."""
    kept = replace(found.kept, steps=())
    return {
        "seed": found.seed,
        "hours": kept.hours,
        "instances_50": found.needed.shares[0.5],
        "instances_99": found.needed.shares[0.99],
        "instances_peak": found.needed.peak,
        "max_instances": found.instances.most,
        "account_limit": found.limit,
        "arrivals": kept.arrivals,
        "cold": kept.cold,
        "refused": kept.refused,
        "awake_hours": round(kept.awake_hours, 4),
        "used_hours": round(kept.used_hours, 4),
        "dollars": round(found.total, 2),
    }
