"""The figures as people read them: tables in Markdown and two pictures, made from docs/bench.json alone."""

import json
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from bench.deployments import charts, targets, waterfall
from bench.deployments.cases import OURS, TIMES, Case, Name, ratio, summary
from bench.deployments.many import UNSAVED
from tools.paths import ROOT

DOCS: Final = ROOT / "docs"
FIGURES: Final = DOCS / "bench.json"
_PAGE: Final = "performance.md"
_BEGIN: Final = "<!-- made from docs/bench.json, which `make bench` writes; `make docs` brings it up to date -->\n"
_END: Final = "<!-- end of what is made from docs/bench.json -->\n"

_LONGEST: Final = 4

Figures = dict[str, Any]


def wanted() -> dict[Path, str]:
    """Return the page and the pictures as they should be."""
    found = json.loads(FIGURES.read_text())
    page = DOCS / _PAGE
    return {
        page: between(page.read_text(), text(found)),
        DOCS / "bench.svg": charts.cases(
            found["cases"], f"Seconds, {found['about']['latency_ms']} ms added to every call"
        ),
        DOCS / "waterfall.svg": charts.waterfall(_bars(found, Name.WHOLE, Case.NOTHING)),
    }


def between(page: str, made: str) -> str:
    """Put what is made between its marks."""
    head, begun, rest = page.partition(_BEGIN)
    _, ended, tail = rest.partition(_END)
    if not (begun and ended):
        raise ValueError(f"{_PAGE} has lost a line that marks what is made from {FIGURES.name}")
    return f"{head}{_BEGIN}{made}{_END}{tail}"


def text(figures: Figures) -> str:
    """Write all tables."""
    parts = [
        _about(figures["about"]),
        _targets(figures),
        "![Bars: the seconds of each case, pulumi and wrangler](bench.svg)\n",
        _cases(figures["cases"]),
        f"The same without latency, one round, memory watched meanwhile:\n\n{_cases(figures['cases_without_latency'])}",
        f"Calls of the API (reads + writes) and most memory of all processes:\n\n{_costs(figures)}",
        f"Many sandboxes in one program, against as many projects deployed one after another:\n\n{_many(figures)}",
        _waterfall(figures),
    ]
    return "\n".join(parts)


def _about(about: Figures) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    return (
        f"{about['date']}, commit {about['commit']}, {about['cores']} cores, {versions}. Median (least to most) of "
        f"{about['rounds']} rounds, {about['latency_ms']} ms added to every call of the API; the run took "
        f"{about['minutes']:g} minutes.\n"
    )


def _targets(figures: Figures) -> str:
    """Write every target with its verdict, and where one is missed what takes longest."""
    rows = targets.rows(figures)
    table = _table(("Target", "Measured", ""), ((row.target, row.measured, row.verdict) for row in rows))
    if all(row.verdict == "met" for row in rows):
        return table
    longest = sorted(_bars(figures, Name.WHOLE, Case.NOTHING), key=lambda bar: -bar.seconds)[:_LONGEST]
    named = ", ".join(f"{bar.name} ({bar.seconds:.2f} s)" for bar in longest)
    return f"{table}\nWhat takes longest in a no-op of the whole stack: {named}; the waterfall below has all of it.\n"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cases(cases: Figures) -> str:
    def line(case: str, cells: Figures) -> list[str]:
        theirs = cells[Name.WRANGLER]["seconds"]
        ours = [
            text
            for name in OURS
            for text in (str(summary(cells[name]["seconds"])), f"{ratio(cells[name]['seconds'], theirs):.2f} {TIMES}")
        ]
        return [case, *ours, str(summary(theirs))]

    head = ("", Name.LIKE, "of wrangler", Name.WHOLE, "of wrangler", Name.WRANGLER)
    return _table(head, (line(case, cells) for case, cells in cases.items()))


def _costs(figures: Figures) -> str:
    def cell(case: str, name: str) -> str:
        calls, memory = figures["cases"][case][name], figures["cases_without_latency"][case][name]
        return f"{calls['reads']} + {calls['writes']}, {memory['peak_mib']} MiB"

    return _table(("", *Name), ([case, *(cell(case, name) for name in Name)] for case in Case))


def _many(figures: Figures) -> str:
    def line(count: str, case: str, sides: Figures) -> list[str]:
        ours, theirs = summary(sides["pulumi"]), summary(sides["wrangler"])
        times = 1 / ratio(sides["pulumi"], sides["wrangler"])
        return [count, case, str(ours), f"{ours.median / int(count):.2f} s", str(theirs), f"{times:.1f} {TIMES}"]

    head = ("Sandboxes", "", "pulumi", "per sandbox", "wrangler", "pulumi is faster")
    found = figures["sandboxes"].items()
    table = _table(head, (line(count, case, sides) for count, cases in found for case, sides in cases.items()))
    count, seconds = figures["unsaved"]["sandboxes"], figures["unsaved"]["seconds"]
    times = statistics.median(figures["sandboxes"][str(count)][Case.FIRST]["wrangler"]) / seconds
    return (
        f"{table}\nWith `{UNSAVED}=true`, where the engine saves its state only at the end, the first deploy of "
        f"{count} takes {seconds:.2f} s, {times:.1f} {TIMES} as fast as wrangler.\n"
    )


def _waterfall(figures: Figures) -> str:
    columns = [(name, case) for case in (Case.NOTHING, Case.CODE) for name in OURS]
    made = [{bar.name: bar.seconds for bar in _bars(figures, name, case)} for name, case in columns]
    names = [name for name in waterfall.NAMES if any(name in each for each in made)]
    head = ("", *(f"{case}, {name.removeprefix('pulumi, ')}" for name, case in columns))
    lines = ([name, *(f"{each[name]:.2f} s" if name in each else "" for each in made)] for name in names)
    return (
        "Where the time of `pulumi up` goes, seen from outside; what overlaps counts in each line:\n\n"
        "![Waterfall of a no-op of the whole stack](waterfall.svg)\n\n" + _table(head, lines)
    )


def _bars(figures: Figures, name: str, case: str) -> list[waterfall.Bar]:
    return waterfall.from_document(figures["looked_into"][name]["waterfalls"][case])
