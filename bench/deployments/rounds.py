"""Rounds of a stack's life on all sides, in turn: each case on one side, then on the next, then the next case.

What else the machine does meanwhile so falls on all sides alike.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.deployments import processes, stage
from bench.deployments.cases import Case
from bench.deployments.commands import run
from bench.deployments.sides import Side
from bench.deployments.stage import Calls, Stage

MIB = 1024 * 1024


@dataclass(frozen=True)
class Seen:
    """One case on one side."""

    seconds: float
    calls: Calls
    peak_mib: float


Table = dict[str, dict[str, dict[str, Any]]]
"""By case and side."""


def warm_up(sides: Mapping[str, Side]) -> None:
    """Run every side once without a change: Python compiles, the disk is read."""
    for name, side in sides.items():
        side.prepare(Case.FIRST, 0)
        for command in side.commands(Case.PREVIEW):
            say(f"warm-up, {name}", run(command).seconds)


def timed(on: Stage, sides: Mapping[str, Side], rounds: int, title: str, *, watched: bool = False) -> Table:
    """Time every case; calls and, where it is watched, memory are those of the last round."""
    table: Table = {case: {side: {"seconds": []} for side in sides} for case in Case}
    for number in range(1, rounds + 1):
        for case in Case:
            for name, side in sides.items():
                seen = one(on, side, case, number, watched=watched)
                say(f"{title}, round {number} of {rounds}, {case}, {name}", seen.seconds)
                cell = table[case][name]
                cell["seconds"].append(round(seen.seconds, 3))
                cell |= {"reads": seen.calls.reads, "writes": seen.calls.writes}
                if watched:
                    cell["peak_mib"] = round(seen.peak_mib)
    return table


def one(on: Stage, side: Side, case: Case, number: int, *, watched: bool = False) -> Seen:
    """Run one case on one side; where it takes several commands, they add up."""
    side.prepare(case, number)
    commands = side.commands(case)
    on.cloud.clear_journal()
    memory = processes.Memory() if watched else None
    seconds = sum(run(command, memory).seconds for command in commands)
    return Seen(seconds, stage.count(on.journal()), memory.peak_bytes / MIB if memory else 0)


def say(what: str, seconds: float | None = None) -> None:
    """Show that the run goes on."""
    print(f"{what}{'' if seconds is None else f': {seconds:.2f} s'}", file=sys.stderr, flush=True)


def commands_of(sides: Iterable[Side], case: Case) -> float:
    """Run one case of many projects, one after another; the seconds in all."""
    return sum(run(command).seconds for side in sides for command in side.commands(case))
