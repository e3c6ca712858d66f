"""Estimates as tables: rows once, shown as text or as Markdown. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from ..platform.prices import AS_OF, MONTH_HOURS, Meter
from .estimate import BUSY, COLUMNS, IDLE, TYPICAL, Assumptions, Estimate

Row = tuple[str, ...]
TOTAL: Final = "Total"


def rows(found: Estimate) -> list[Row]:
    """Return the table of an estimate: hours awake by application, dollars by meter, the total last."""
    hours = {IDLE: 0.0, TYPICAL: found.assumptions.awake_hours, BUSY: MONTH_HOURS}
    awake = [
        (f"Hours awake: {each.name}, {each.words}", *(f"{each.most * hours[column]:,.0f}" for column in COLUMNS))
        for each in found.billed.instances
    ]
    return [("US dollars a month", *COLUMNS), *awake, *_dollars(found)]


def _dollars(found: Estimate) -> Iterator[Row]:
    by_meter = {column: {line.meter: line.dollars for line in found.columns[column]} for column in COLUMNS}
    for meter in _used(found):
        if meter not in free(found):
            yield (meter, *(money(by_meter[column].get(meter, 0.0)) for column in COLUMNS))
    yield (TOTAL, *(money(found.total(column)) for column in COLUMNS))


def _used(found: Estimate) -> list[Meter]:
    return [meter for meter in Meter if any(line.meter == meter for each in found.columns.values() for line in each)]


def free(found: Estimate) -> list[Meter]:
    """Return the meters of an estimate that cost nothing in any column."""
    paid = {line.meter for each in found.columns.values() for line in each if round(line.dollars, 2)}
    return [meter for meter in _used(found) if meter not in paid]


def money(dollars: float) -> str:
    """Return an amount with its cents."""
    return f"{dollars:,.2f}"


def signed(dollars: float) -> str:
    """Return a difference with its sign."""
    return f"{dollars:+,.2f}" if round(dollars, 2) else "0.00"


def small_print(found: Estimate) -> list[str]:
    """Return the assumptions, a sentence each."""
    said = found.assumptions
    plan = (
        "What the Workers Paid plan includes is taken off, as if the account had no other stack."
        if found.alone
        else "Other stacks of the account are taken to use up what its plan includes and to pay for it."
    )
    nothing = free(found)
    return [
        f"List prices of {AS_OF}, before taxes; a month has 30 days. {plan}",
        _columns(said),
        _uses(said),
        f"All instances at full load, with nothing taken off: {money(found.ceiling)}, which `container/budget` judges.",
        *([f"0.00 in every column: {', '.join(nothing)}."] if nothing else []),
        f"Not counted: {_untold(found)}storage of Durable Objects, Workers Logs, seats of Zero Trust.",
    ]


def _untold(found: Estimate) -> str:
    names = ", ".join(found.billed.untold)
    return f"instances of {names}, whose size and number the Worker's code chooses; " if names else ""


def range_line(found: Estimate) -> str:
    """Return what a stack costs in one sentence, for a preview."""
    left_out = " without instances, which the Worker's code chooses" if found.billed.untold else ""
    return (
        f"about ${money(found.total(IDLE))} (idle) to ${money(found.total(BUSY))} (every instance busy) a month by "
        f"list prices of {AS_OF}{left_out}; `sandbox-stack cost` tells more"
    )


def _columns(said: Assumptions) -> str:
    return (
        f"`{TYPICAL}`: each instance awake {said.awake_hours:g} hours a month at {said.processor:.0%} of its "
        f"processor. `{BUSY}`: all of them awake all month at 100%. `{IDLE}`: none awake; what is stored stays."
    )


def _uses(said: Assumptions) -> str:
    return (
        f"In each hour awake: {said.requests:g} requests ({said.object_requests:g} to Durable Objects for each, and "
        f"{said.alarms:g} alarms), {said.worker_ms:g} ms of the Worker each, {said.egress_gb:g} GB out, "
        f"{said.writes:g} class A and {said.reads:g} class B operations. Each bucket holds {said.stored_gb:g} GB."
    )


def as_document(found: Estimate) -> dict[str, Any]:
    """Return an estimate for programs."""
    columns = {
        name: {
            "lines": [
                {"meter": line.meter, "quantity": line.quantity, "dollars": round(line.dollars, 4)}
                for line in found.columns[name]
            ],
            "total": round(found.total(name), 2),
        }
        for name in COLUMNS
    }
    return {
        "prices_of": AS_OF,
        "currency": "USD",
        "assumptions": asdict(found.assumptions),
        "columns": columns,
        "ceiling": round(found.ceiling, 2),
    }


def as_text(table: Sequence[Row]) -> str:
    """Return a table in columns, its last row below a line."""
    widths = [max(len(row[index]) for row in table) for index in range(len(table[0]))]
    shown = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in table
    ]
    return "\n".join([*shown[:-1], "-" * len(shown[0]), shown[-1]]) + "\n"


def as_markdown(table: Sequence[Row]) -> str:
    """Return a table in Markdown, its last row in bold."""
    head, *body = table
    last = tuple(f"**{cell}**" if cell else "" for cell in body[-1])
    marks = ["---", *("---:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, marks, *body[:-1], last]) + "\n"
