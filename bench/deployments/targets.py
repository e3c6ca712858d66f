"""What the comparison must show, each target with what was measured and by how much it is met or missed."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from bench.deployments.cases import OURS, TIMES, Case, Name, ratio, summary

_DEPLOYS = {Case.NOTHING: 1.0, Case.CODE: 1.0, Case.FIRST: 1.2}
_MANY, _TIMES_FASTER = "50", 10.0
_PROGRAM_SECONDS, _PLUGIN_SECONDS = 0.6, 0.5
PLUGIN = "cloudflare-sandbox"

Figures = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """A target and what became of it."""

    target: str
    measured: str
    verdict: str


def rows(figures: Figures) -> list[Row]:
    """Judge every target that was measured."""
    return [*_deploys(figures), *_many(figures), *_calls(figures), *_starts(figures)]


def at_most(value: float, limit: float, show: Callable[[float], str]) -> str:
    """Say whether a value keeps its limit, judged as exactly as it is shown."""
    beyond = float(f"{value:.2f}") - limit
    return "met" if beyond <= 0 else f"missed by {show(beyond)}"


def _times(value: float) -> str:
    return f"{value:.2f} {TIMES}"


def _seconds(value: float) -> str:
    return f"{value:.2f} s"


def _deploys(figures: Figures) -> list[Row]:
    found = []
    for case, limit in _DEPLOYS.items():
        for name in OURS:
            cells = figures["cases"][case]
            value = ratio(cells[name]["seconds"], cells[Name.WRANGLER]["seconds"])
            target = f"{case}, {name}: at most {limit:.1f} {TIMES} wrangler"
            found.append(Row(target, _times(value), at_most(value, limit, _times)))
    return found


def _many(figures: Figures) -> list[Row]:
    counts = figures["sandboxes"]
    found = []
    if _MANY in counts:
        for case, sides in counts[_MANY].items():
            value = 1 / ratio(sides["pulumi"], sides["wrangler"])
            verdict = "met" if value >= _TIMES_FASTER else f"missed by {_times(_TIMES_FASTER - value)}"
            target = f"{case} of {_MANY} sandboxes: {_TIMES_FASTER:.0f} {TIMES} as fast as {_MANY} wrangler deploys"
            found.append(Row(target, f"{value:.1f} {TIMES}", verdict))
    if len(counts) > 1:
        for case in next(iter(counts.values())):
            each = [statistics.median(counts[count][case]["pulumi"]) / int(count) for count in counts]
            falling = all(later < earlier for earlier, later in pairwise(each))
            shown = ", ".join(_seconds(value) for value in each)
            target = f"{case}: time per sandbox falls as the number grows ({', '.join(counts)})"
            found.append(Row(target, shown, "met" if falling else "missed"))
    return found


def _calls(figures: Figures) -> list[Row]:
    found = []
    for name in OURS:
        reads, resources = figures["cases"][Case.NOTHING][name]["reads"], figures["looked_into"][name]["resources"]
        verdict = "met" if reads <= resources else f"missed by {reads - resources}"
        target = f"no-op, {name}: at most one read of the API per resource"
        found.append(Row(target, f"{reads} for {resources} resources", verdict))
    for name in OURS:
        writes = figures["cases"][Case.PREVIEW][name]["writes"]
        verdict = "missed" if writes else "met"
        found.append(Row(f"preview, {name}: no write", f"{writes}", verdict))
    return found


def _starts(figures: Figures) -> list[Row]:
    found = []
    for name in OURS:
        seen = summary(figures["looked_into"][name]["program_start"])
        target = f"program, {name}: first resource registered within {_PROGRAM_SECONDS} s"
        found.append(Row(target, str(seen), at_most(seen.median, _PROGRAM_SECONDS, _seconds)))
    for name in OURS:
        seen = summary(figures["looked_into"][name]["plugins"][PLUGIN])
        target = f"our plugin, {name}: ready within {_PLUGIN_SECONDS} s"
        found.append(Row(target, str(seen), at_most(seen.median, _PLUGIN_SECONDS, _seconds)))
    return found
