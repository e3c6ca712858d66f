"""The policies of the pack: one for each rule, and one for the exceptions to them.

`Pack.on_resource` judges a resource when it is registered, `Pack.on_stack` all of them at the end; what the first has
reported, the second does not repeat. A configuration that says something wrong is refused as a whole.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from ..errors import UserError
from ..facts.stack import Fact, lower
from ..rules import MANDATORY, Finding, Rule, Stack, graded, judged, rules
from ..rules.exceptions import Exemption, exemption
from ..rules.finding import OFF
from . import facts
from .resource import Places, Resource

NAME: Final = "cloudflare-sandbox"
EXCEPTIONS: Final = "exceptions"
BUDGET: Final = "container-budget"
ACCOUNT: Final = "account"
_NOTHING: Final = Stack()
_TITLE: Final = "Exceptions have a reason and have not expired"
_ASKED: Final = "The account answers what the rules ask"
Ask = Callable[[Sequence[Resource]], Callable[[Stack], Stack]]
"""Asks the account about resources; the answer tells a stack what was said. Raises UserError where it cannot."""


class ConfigError(ValueError):
    """A configuration of the pack that says something wrong."""


@dataclass(frozen=True)
class Setting:
    """What the configuration says of one policy."""

    level: str
    """`mandatory`, `advisory` or `off`."""
    properties: Mapping[str, Any]


@dataclass(frozen=True)
class Report:
    """One violation, for the engine."""

    policy: str
    title: str
    level: str
    text: str
    urn: str
    """Empty if it belongs to no resource."""


def policy_name(rule: Rule) -> str:
    """Return the name of a rule's policy: CrossGuard takes no slash."""
    return rule.id.replace("/", "-")


class Pack:
    """The rules as they are configured for one run."""

    def __init__(self, today: date, settings: Mapping[str, Setting] | None = None, ask: Ask | None = None) -> None:
        self.today, self.ask = today, ask
        self._by_rule = {rule.id: policy_name(rule) for rule in rules()}
        self._titles = {rule.id: rule.title for rule in rules()}
        given = settings or {}
        problems = [
            f"there is no policy {name}; docs/policy.md says how they are named"
            for name in sorted(given)
            if name not in {*self._by_rule.values(), EXCEPTIONS, ACCOUNT}
        ]
        self.levels = {rule: given[name].level for rule, name in self._by_rule.items() if name in given}
        self.exceptions_level = given[EXCEPTIONS].level if EXCEPTIONS in given else MANDATORY
        self.exemptions = _exemptions(given, problems)
        self.budget = _budget(given, problems)
        self.asks = _asks(given, problems)
        if problems:
            raise ConfigError("\n".join(problems))
        self._rules = graded(self.levels)
        self._told: set[tuple[str, str, str]] = set()

    def on_resource(self, resource: Resource) -> list[Report]:
        """Judge a resource by itself."""
        if resource.type not in facts.TELLING:
            return []
        stack, places = facts.alone(resource)
        if stack == _NOTHING:
            return []
        found = list(self._judged(stack, places))
        self._told.update(_key(finding) for finding, _ in found)
        return [self._report(finding, urn) for finding, urn in found]

    def on_stack(self, resources: Sequence[Resource]) -> list[Report]:
        """Judge all resources together."""
        try:
            tell = self._asked(resources)
        except UserError as error:
            # What could not be asked was not judged, and must not look as if it had been.
            text = f"the account was to be asked and could not be: {error}"
            return [Report(ACCOUNT, _ASKED, MANDATORY, text, ""), *self._on_stack(resources, lambda stack: stack)]
        return self._on_stack(resources, tell)

    def _asked(self, resources: Sequence[Resource]) -> Callable[[Stack], Stack]:
        return self.ask(resources) if self.asks and self.ask else lambda stack: stack

    def _on_stack(self, resources: Sequence[Resource], tell: Callable[[Stack], Stack]) -> list[Report]:
        found = {
            _key(each[0]): each
            for stack, places in facts.stacks(resources)
            for each in self._judged(tell(replace(stack, budget=lower(stack.budget, self.budget))), places)
            if _key(each[0]) not in self._told
        }
        late = [each.expired() for each in self.exemptions if each.expires < self.today]
        whole = [*found.values(), *((each, "") for each in late if self.exceptions_level != OFF)]
        return [self._report(finding, urn) for finding, urn in whole]

    def _judged(self, stack: Stack, places: Places) -> Iterator[tuple[Finding, str]]:
        valid = [each for each in self.exemptions if each.expires >= self.today]
        for finding in judged(stack, self._rules, today=self.today):
            urn = places.get(finding.where, "")
            names = (finding.where, urn, urn.rpartition("::")[2])
            if not any(each.covers(finding, names) for each in valid):
                yield finding, urn

    def _report(self, finding: Finding, urn: str) -> Report:
        if finding.rule not in self._by_rule:
            return Report(EXCEPTIONS, _TITLE, self.exceptions_level, finding.text(), urn)
        return Report(self._by_rule[finding.rule], self._titles[finding.rule], finding.severity, finding.text(), urn)


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, finding.where, finding.what


def _exemptions(given: Mapping[str, Setting], problems: list[str]) -> list[Exemption]:
    listed = given[EXCEPTIONS].properties.get("accepted", []) if EXCEPTIONS in given else []
    if not isinstance(listed, list):
        problems.append(f"{EXCEPTIONS}.accepted: expected a list of exceptions")
        return []
    found = [
        exemption(each, f"{EXCEPTIONS}.accepted[{index}]", "resource", problems) for index, each in enumerate(listed)
    ]
    return [each for each in found if each]


def _budget(given: Mapping[str, Setting], problems: list[str]) -> Fact[float] | None:
    value = given[BUDGET].properties.get("dollars") if BUDGET in given else None
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        problems.append(f"{BUDGET}.dollars: expected US dollars per month, not {value!r}")
        return None
    return Fact(float(value), f"{BUDGET}.dollars")


def _asks(given: Mapping[str, Setting], problems: list[str]) -> bool:
    said = given.get(ACCOUNT)
    value = said.properties.get("ask", False) if said else False
    if not isinstance(value, bool):
        problems.append(f"{ACCOUNT}.ask: expected true or false, not {value!r}")
    return value is True and said is not None and said.level != OFF


@dataclass(frozen=True)
class Policy:
    """What the engine is told about a policy."""

    name: str
    title: str
    level: str
    text: str
    remedy: str
    link: str
    schema: Mapping[str, Any]


def policies() -> list[Policy]:
    """Describe every policy."""
    described = [
        Policy(
            policy_name(rule),
            rule.title,
            rule.severity,
            rule.why,
            rule.remedy,
            rule.link,
            _SCHEMAS.get(policy_name(rule), {}),
        )
        for rule in rules()
    ]
    why = "An exception that nobody looks at again is a rule that nobody keeps."
    remedy = "Fix the finding, or renew the exception with its reason."
    asked = Policy(
        ACCOUNT,
        _ASKED,
        MANDATORY,
        "What nobody could see was not judged.",
        "Give the pack CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID, or do not have it ask.",
        "",
        _SCHEMAS[ACCOUNT],
    )
    return [*described, asked, Policy(EXCEPTIONS, _TITLE, MANDATORY, why, remedy, "", _SCHEMAS[EXCEPTIONS])]


_TEXT: Final = {"type": "string"}
_SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    ACCOUNT: {"ask": {"type": "boolean"}},
    BUDGET: {"dollars": {"type": "number", "minimum": 0}},
    EXCEPTIONS: {
        "accepted": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"rule": _TEXT, "resource": _TEXT, "reason": _TEXT, "expires": _TEXT},
                "required": ["rule", "resource", "reason", "expires"],
                "additionalProperties": False,
            },
        }
    },
}
