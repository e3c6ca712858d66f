"""Policy rules: pure functions from facts about a stack to findings.

`check` judges a stack with every rule. The same rules serve while settings are read, at preview, in pytest, on wrangler
projects and in pipelines; docs/rules.md is made from them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import cache
from typing import cast

from ..errors import UserError
from ..facts.stack import Stack
from . import (
    account,
    auth,
    callers,
    classes,
    code,
    commands,
    container,
    drift,
    egress,
    flags,
    image,
    image_parts,
    preview,
    storage,
    supply_chain,
    support,
    versions,
)
from .finding import ADVISORY, CATALOGUE, MANDATORY, NOTE, OFF, SEVERITIES, Finding, Rule, Severity

__all__ = [
    "ADVISORY",
    "CATALOGUE",
    "MANDATORY",
    "NOTE",
    "Finding",
    "Rule",
    "Stack",
    "UnknownRuleError",
    "check",
    "graded",
    "judged",
    "rules",
    "valid_overrides",
]

_MODULES = (
    flags,
    classes,
    versions,
    support,
    image,
    image_parts,
    container,
    preview,
    auth,
    callers,
    egress,
    storage,
    supply_chain,
    code,
    commands,
    drift,
    account,
)


class UnknownRuleError(UserError):
    """An override names a rule or a severity that does not exist."""


@cache
def rules() -> tuple[Rule, ...]:
    """Return every rule, in the order of the documentation."""
    names = [module.__name__ for module in _MODULES]
    return tuple(sorted(CATALOGUE.values(), key=lambda each: (names.index(each.check.__module__), each.id)))


def check(stack: Stack, *, today: date, overrides: Mapping[str, str] | None = None) -> list[Finding]:
    """Judge a stack on a day; `overrides` gives rules another severity, or `off`."""
    return list(judged(stack, graded(overrides or {}), today=today))


def graded(overrides: Mapping[str, str]) -> tuple[tuple[Rule, Severity], ...]:
    """Return the rules that are not off, each with its severity, for whoever judges many stacks alike."""
    chosen = valid_overrides(overrides)
    severities = ((each, chosen.get(each.id, each.severity)) for each in rules())
    return tuple((each, cast(Severity, severity)) for each, severity in severities if severity != OFF)


def judged(stack: Stack, by: Iterable[tuple[Rule, Severity]], *, today: date) -> Iterator[Finding]:
    """Judge a stack on a day by graded rules."""
    dated = replace(stack, today=today)
    for rule, severity in by:
        yield from rule.findings(dated, severity)


def valid_overrides(overrides: Mapping[str, str]) -> dict[str, str]:
    """Return the overrides; raise UnknownRuleError if one names what does not exist."""
    for name, severity in overrides.items():
        if name not in CATALOGUE:
            raise UnknownRuleError(f"there is no rule {name}; docs/rules.md lists them")
        if severity not in {*SEVERITIES, OFF}:
            raise UnknownRuleError(f"{name}={severity}: a severity is mandatory, advisory or off")
    return dict(overrides)
