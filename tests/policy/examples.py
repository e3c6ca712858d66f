"""What the tests of rules share: judging examples, and forgetting facts one by one."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import date
from typing import Any

from components.facts.stack import Fact, Stack
from components.rules import Finding, check
from components.rules.finding import Check, Rule

TODAY = date(2026, 11, 16)


def judged(stack: Stack) -> list[Finding]:
    return check(stack, today=stack.today or TODAY)


def forgetting(known: Any) -> Iterator[Any]:
    """Return copies of a stack in each of which one fact is unknown."""
    for each in fields(known):
        value = getattr(known, each.name)
        if value is not None and each.default is None:
            yield replace(known, **{each.name: None})
        if _is_group(value):
            yield from (replace(known, **{each.name: less}) for less in forgetting(value))
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                for less in forgetting(item) if _is_group(item) else ():
                    yield replace(known, **{each.name: (*value[:index], less, *value[index + 1 :])})


def _is_group(value: object) -> bool:
    return is_dataclass(value) and not isinstance(value, Fact)


def holds(rule: Rule, function: Check) -> bool:
    """Say whether a function behaves on the rule's examples as the rule should."""
    try:
        silent = all(not list(function(stack)) for stack in (Stack(), *rule.good))
        loud = all(list(function(stack)) == list(rule.check(stack)) for stack in rule.bad)
        known = all(
            list(function(less)) == list(rule.check(less))
            for stack in (*rule.good, *rule.bad)
            for less in forgetting(stack)
        )
    except Exception:  # noqa: BLE001 - a broken rule may fail in any way
        return False
    return silent and loud and known
