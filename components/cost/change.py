"""What a change does to the price of a stack: before, after and the difference in each column. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .estimate import COLUMNS, Assumptions, Estimate, estimate
from .preview_file import Change
from .tables import Row, money, signed
from .tables import small_print as assumptions


@dataclass(frozen=True)
class PricedChange:
    """Estimates of both sides."""

    before: Estimate
    after: Estimate
    left_out: int

    def difference(self, column: str) -> float:
        """Return the US dollars a month by which a column changes."""
        return round(self.after.total(column) - self.before.total(column), 2)


def priced(change: Change, said: Assumptions, *, alone: bool) -> PricedChange:
    """Price both sides of a change."""
    before, after = (estimate(each, said, alone=alone) for each in (change.before, change.after))
    return PricedChange(before, after, change.left_out)


def rows(found: PricedChange) -> list[Row]:
    """Return the change as a table: instances of both sides, what each column costs, the difference last."""
    differences = (signed(found.difference(column)) for column in COLUMNS)
    return [("US dollars a month", *COLUMNS), *_sides(found), ("Difference", *differences)]


def _sides(found: PricedChange) -> Iterator[Row]:
    for word, side in (("Before", found.before), ("After", found.after)):
        instances = ", ".join(f"{each.name} {each.words}" for each in side.billed.instances) or "no instances"
        yield (f"{word}: {instances}", *(money(side.total(column)) for column in COLUMNS))


def small_print(found: PricedChange) -> list[str]:
    """Return what is taken for granted."""
    noun = "resource that stays as it is is" if found.left_out == 1 else "resources that stay as they are are"
    missing = f"{found.left_out} {noun} not in the file: totals lack them; write it with `--show-sames`."
    return [*([missing] if found.left_out else []), *assumptions(found.after)]


def as_document(found: PricedChange) -> dict[str, Any]:
    """Return the change for programs."""
    sides = {"before": found.before, "after": found.after}
    totals = {name: {each: round(side.total(each), 2) for each in COLUMNS} for name, side in sides.items()}
    return {**totals, "difference": {each: round(found.difference(each), 2) for each in COLUMNS}, "currency": "USD"}
