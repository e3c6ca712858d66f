"""The reference of rules in `docs/rules.md`, made from the rules and their examples."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from components.check.fixes import FIXES
from components.facts.stack import Call, Fact, Stack
from components.rules import rules
from components.rules.finding import Rule

TOPICS = {
    "flags": "Compatibility dates and flags",
    "classes": "Durable Object classes",
    "versions": "Versions",
    "image": "Images",
    "container": "Containers",
    "preview": "Preview URLs",
    "auth": "Access, secrets and tokens",
    "storage": "Storage",
    "supply": "Supply chain",
    "code": "Source of the Worker",
}


def text() -> str:
    """Return the list of all rules, then each with why, remedy and an example."""
    known = rules()
    lines = [f"{len(known)} rules.", "", "| Rule | | |", "|---|---|---|"]
    lines += [f"| [`{each.id}`](#{_anchor(each)}) | {each.title} | {each.severity} |" for each in known]
    for topic, title in TOPICS.items():
        lines += ["", f"## {title}"]
        for each in known:
            if each.topic == topic:
                lines += _section(each)
    return "\n".join(lines) + "\n"


def _anchor(rule: Rule) -> str:
    return rule.id.replace("/", "")


def _section(rule: Rule) -> Iterator[str]:
    fixed = " Fixed by `--fix`." if rule.id in FIXES else ""
    yield from (
        "",
        f"### {rule.id}",
        "",
        f"{rule.title}. *{rule.severity.capitalize()}, since {rule.since}.*{fixed}",
        "",
    )
    yield f"{rule.why} **Remedy:** {_remedy(rule)} [More]({rule.link})"
    yield from ("", f"- passes: {_example(rule.good[0])}", f"- fails: {_example(rule.bad[0])}")


def _remedy(rule: Rule) -> str:
    """Return the remedy of the failing example, so that the page shows what is printed."""
    told = next(iter(rule.findings(rule.bad[0], rule.severity))).remedy
    return told.replace("<", "&lt;").replace("*", "\\*")


def _example(stack: Stack) -> str:
    said = [f"{path} `{shown}`" for path, shown in _facts(stack, "")]
    return ", ".join(said)


def _facts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Return every known fact of a group with its path."""
    if isinstance(value, Fact):
        yield path, _shown(value.value)
    elif isinstance(value, Call):
        call = f"{value.name}({', '.join(value.arguments)})"
        yield path, _shown(call) + (" (result dropped)" if value.dropped else "")
    elif isinstance(value, tuple):
        if not value:
            yield path, "none"
        for each in value:
            named = isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], str)
            yield from _facts(each[1], f"{path} {each[0]}") if named else _facts(each, path)
    elif is_dataclass(value):
        for each in fields(value):
            inner = getattr(value, each.name)
            if each.name != "where" and inner is not None and inner != _default(each):
                yield from _facts(inner, f"{path}.{each.name}".strip("."))
    else:
        yield path, _shown(value)


def _default(each: Any) -> Any:
    return each.default_factory() if callable(each.default_factory) else each.default


def _shown(value: Any) -> str:
    if value is None:
        return "absent"
    if isinstance(value, frozenset | tuple):
        return ", ".join(sorted(map(str, value))) or "none"
    text = str(value).replace("`", "'")
    return f"{text[:57]}…" if len(text) > 60 else text
