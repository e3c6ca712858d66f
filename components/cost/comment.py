"""What settings cost a month as Markdown, for comments on pull requests. Pure."""

from collections.abc import Sequence

from ..settings import SandboxSettings
from .estimate import Assumptions, Estimate, estimate
from .of_settings import of_settings
from .tables import as_markdown, rows, small_print


def cost_comment(settings: SandboxSettings, assumptions: Assumptions | None = None, *, alone: bool = True) -> str:
    """Return a Markdown table of what a stack costs a month by list prices, with its assumptions folded away."""
    return markdown(estimate(of_settings(settings), assumptions, alone=alone))


def markdown(found: Estimate) -> str:
    """Return an estimate as Markdown."""
    return folded(as_markdown(rows(found)), small_print(found))


def folded(table: str, notes: Sequence[str]) -> str:
    """Return a table with what it takes for granted folded away."""
    said = "\n".join(f"- {each}" for each in notes)
    return f"{table}\n<details><summary>Assumptions</summary>\n\n{said}\n\n</details>\n"
