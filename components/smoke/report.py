"""A run as a table for people or JSON for programs."""

import json
from collections.abc import Sequence
from typing import Any

from .runner import Result, Run


def _why(result: Result) -> str:
    if result.state == "failed":
        return f"expected {result.expected}; got {result.got}"
    if result.state == "not run":
        return result.missing
    return result.step.proves


def _count(taken: Run, state: str) -> int:
    return sum(result.state == state for result in taken.results.values())


def as_text(taken: Run, url: str, curl: Sequence[str]) -> str:
    """One line a step, the sum, and lines to go on with."""
    rows = [("step", "result", "ms", url)]
    rows += [(name, result.state, str(result.ms or ""), _why(result)) for name, result in taken.results.items()]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d}".rstrip() for a, b, c, d in rows]
    # What is missing is often missing for many: the remedy is said once.
    lacking = {result.missing: result.remedy for result in taken.results.values() if result.remedy}
    remedies = [f"To run the rest: {missing}: {remedy}." for missing, remedy in lacking.items()]
    counts = [f"{_count(taken, state)} {state}" for state in ("passed", "failed", "not run")]
    return "\n".join([*lines, "", ", ".join(counts), *remedies, "", "Try it:", *(f"  {line}" for line in curl), ""])


def as_json(taken: Run, url: str, curl: Sequence[str]) -> str:
    """The same as JSON; a step has only the fields that say something about it."""

    def step(name: str, result: Result) -> dict[str, Any]:
        reasons = {each: getattr(result, each) for each in ("expected", "got", "missing", "remedy")}
        return {
            "step": name,
            "result": result.state,
            "ms": result.ms,
            **{each: value for each, value in reasons.items() if value},
        }

    found = {
        "url": url,
        "sandbox": taken.known["name"],
        "passed": _count(taken, "passed"),
        "failed": _count(taken, "failed"),
        "not_run": _count(taken, "not run"),
        "steps": [step(name, result) for name, result in taken.results.items()],
        "curl": list(curl),
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


FORMATS = {"text": as_text, "json": as_json}
