"""What the tests of rules share: judging examples, and forgetting facts one by one."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import date

from components.rules import Finding, check
from components.rules.facts import Fact, Stack
from components.rules.finding import Check, Rule

TODAY = date(2026, 11, 16)


def judged(stack: Stack) -> list[Finding]:
    return check(stack, today=stack.today or TODAY)


def forgetting(value: object) -> Iterator[object]:
    """Give copies of a stack in each of which one fact is unknown."""
    for each in fields(value):  # type: ignore[arg-type]
        inner = getattr(value, each.name)
        if isinstance(inner, Fact) and "None" in str(each.type):
            yield replace(value, **{each.name: None})  # type: ignore[type-var]
        elif isinstance(inner, tuple) and inner and is_dataclass(inner[0]):
            if "None" in str(each.type):
                yield replace(value, **{each.name: None})  # type: ignore[type-var]
            for index, item in enumerate(inner):
                if is_dataclass(item) and not isinstance(item, Fact):
                    for changed in forgetting(item):
                        yield replace(value, **{each.name: (*inner[:index], changed, *inner[index + 1 :])})  # type: ignore[type-var]
        elif isinstance(inner, date):
            yield replace(value, **{each.name: None})  # type: ignore[type-var]
        elif is_dataclass(inner) and not isinstance(inner, Fact):
            for changed in forgetting(inner):
                yield replace(value, **{each.name: changed})  # type: ignore[type-var]


def holds(rule: Rule, function: Check) -> bool:
    """Say whether a function behaves on the rule's examples as the rule should."""
    try:
        silent = all(not list(function(stack)) for stack in (Stack(), *rule.good))
        loud = all(len(list(function(stack))) == 1 for stack in rule.bad)
        for stack in (*rule.good, *rule.bad):
            for less in forgetting(stack):
                list(function(less))
    except Exception:  # noqa: BLE001 - a broken rule may fail in any way
        return False
    return silent and loud
