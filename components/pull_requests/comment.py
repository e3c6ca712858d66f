"""The one comment about a request's stack: where it answers, what changed, what it costs, what the rules found. Pure.

It is for everybody who sees the request, so it has names, counts and addresses alone: no value of a property, and no
message of a run that failed, which the job's log has. What comes from a project is put between backticks.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from ..rules import ADVISORY, MANDATORY, Finding
from .plan import Change, Plan

_MOST: Final = 20
"""Lines of a list, as a comment ends at 65,536 characters."""
_LONGEST: Final = 300
_SHOWN: Final = {"api_url": "API", "preview_hostname": "Previews", "worker_name": "Worker"}
"""Outputs that are shown, of which none is ever secret."""
_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]<>#|~@])")


def marker(project: str) -> str:
    """Return what our comment begins with and nobody sees; each project of a repository has a comment of its own."""
    return f"<!-- sandbox-stack pr: {re.sub(r'[^A-Za-z0-9_.-]', '', project)} -->"


@dataclass(frozen=True)
class Told:
    """What there is to tell of a stack that is up, or was refused or failed."""

    stack: str
    verdict: str
    outputs: Mapping[str, Any] = field(default_factory=dict)
    plan: Plan | None = None
    cost: str = ""
    """A part of its own, in Markdown."""
    findings: Sequence[Finding] = ()
    notes: Sequence[str] = ()
    expires: datetime | None = None
    run: str = ""
    """Address of the job."""


def body(project: str, told: Told) -> str:
    """Return the comment."""
    return "\n".join([marker(project), f"### Sandbox stack {_code(told.stack)}: {told.verdict}", *_parts(told)]) + "\n"


def gone(project: str, stack: str, why: str, moment: datetime) -> str:
    """Return the comment about a stack that was taken away."""
    said = f"Taken away completely on {_moment(moment)}: {why}."
    return f"{marker(project)}\n### Sandbox stack {_code(stack)}: gone\n\n{said}\n"


def _parts(told: Told) -> Iterator[str]:
    rows = [(word, told.outputs[name]) for name, word in _SHOWN.items() if told.outputs.get(name)]
    if rows:
        yield from ("", "| | |", "|---|---|", *(f"| {word} | {_place(value)} |" for word, value in rows))
    if told.plan:
        yield from ("", "**What changed:** " + _counts(told.plan), *_list(map(_changed, told.plan.changes)))
        if told.plan.failed:
            yield from ("", "**What failed:**", *_list(map(_changed, told.plan.failed)))
    yield from ("", f"**Rules:** {_judged(told.findings)}", *_list(map(_finding, told.findings)))
    if told.cost:
        yield from ("", told.cost.strip())
    if told.notes:
        yield from ("", "**Different from the other stack:**", *_list(f"- {each}" for each in told.notes))
    ends = [f"Goes when the request is closed, at the latest on {_moment(told.expires)}."] if told.expires else []
    ends += [f"[The job]({told.run}) has the whole log."] if told.run else []
    if ends:
        yield from ("", f"<sub>{' '.join(ends)}</sub>")


def _counts(plan: Plan) -> str:
    return ", ".join(f"{count} {said}" for said, count in plan.counts.items()) or "nothing"


def _changed(change: Change) -> str:
    differs = f" ({', '.join(map(_code, change.properties))})" if change.properties else ""
    return f"- {change.said} {change.type} {_code(change.name)}{differs}"


def _judged(findings: Sequence[Finding]) -> str:
    counts = {level: sum(each.severity == level for each in findings) for level in (MANDATORY, ADVISORY)}
    return ", ".join(f"{count} {level}" for level, count in counts.items())


def _finding(finding: Finding) -> str:
    said = " ".join(f"{finding.what}. {finding.remedy}".split())
    return f"- {finding.severity} {_code(finding.rule)} at {_code(finding.where)}: {_plain(said)}"


def _list(lines: Iterable[str]) -> list[str]:
    every = list(lines)
    more = [f"- and {len(every) - _MOST} more"] if len(every) > _MOST else []
    return [*(["", *every[:_MOST], *more] if every else [])]


def _place(value: Any) -> str:
    text = str(value)
    return f"<{text}>" if re.fullmatch(r"https?://[!-;=?-~]+", text) else _code(text)


def _code(text: str) -> str:
    plain = re.sub(r"[`|\s]+", " ", text)[:_LONGEST].strip()
    return f"`{plain}`"


def _plain(text: str) -> str:
    """Take away what Markdown, or a name of somebody to call, would make of a text."""
    return _MARKDOWN.sub(r"\\\1", text[:_LONGEST])


def _moment(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
