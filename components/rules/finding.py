"""What a rule is and what it finds. Rules register themselves; the catalogue is read in `components.rules`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from ..facts.stack import Stack

Severity = Literal["mandatory", "advisory", "note"]
MANDATORY: Final[Severity] = "mandatory"
ADVISORY: Final[Severity] = "advisory"
NOTE: Final[Severity] = "note"
"""Of what could not be judged; no rule has it."""
SEVERITIES: Final[tuple[Severity, ...]] = (MANDATORY, ADVISORY)
OFF: Final = "off"


@dataclass(frozen=True)
class Finding:
    """One mistake: what is wrong and where, why it matters, how to fix it."""

    rule: str
    severity: Severity
    where: str
    what: str
    why: str
    remedy: str
    link: str
    since: str

    def text(self) -> str:
        """Say everything in one message."""
        return (
            f"{self.where}: {self.what} [{self.rule}]\n  why: {self.why}\n  remedy: {self.remedy}\n  see: {self.link}"
        )

    def line(self) -> str:
        """Say place, mistake and remedy on one line, as settings say theirs."""
        return f"{self.where}: {self.what}; {self.remedy[:1].lower()}{self.remedy[1:].rstrip('.')}"


@dataclass(frozen=True)
class Hit:
    """What a rule's function gives; `values` fill the rule's remedy."""

    where: str
    what: str
    values: tuple[tuple[str, str], ...] = ()


def hit(where: str, what: str, **values: object) -> Hit:
    """Make a hit."""
    return Hit(where, what, tuple((name, str(value)) for name, value in values.items()))


Check = Callable[[Stack], Iterable[Hit]]


@dataclass(frozen=True)
class Rule:
    """A rule, its documentation and its examples."""

    id: str
    title: str
    severity: Severity
    why: str
    remedy: str
    link: str
    since: str
    """The day, or the version of the SDK, from which on it holds."""
    check: Check
    good: tuple[Stack, ...]
    """Stacks on which this rule is silent; the boundaries of its condition are among them."""
    bad: tuple[Stack, ...]
    """Stacks on which it gives exactly one finding."""
    also: frozenset[str]
    """Rules that some of the bad examples break too."""

    def findings(self, stack: Stack, severity: Severity) -> Iterator[Finding]:
        """Judge a stack."""
        for each in self.check(stack):
            remedy = self.remedy.format_map(dict(each.values))
            yield Finding(self.id, severity, each.where, each.what, self.why, remedy, self.link, self.since)

    @property
    def topic(self) -> str:
        """The part of the id before the slash."""
        return self.id.partition("/")[0]


CATALOGUE: Final[dict[str, Rule]] = {}
DOCS: Final = "https://developers.cloudflare.com"


_LAUNCH: Final = "2025-06-24"
"""The day on which Containers and the Sandbox SDK were there for everybody."""


def _rule(
    id_: str,
    title: str,
    *,
    severity: Severity,
    why: str,
    remedy: str,
    link: str,
    good: Iterable[Stack],
    bad: Iterable[Stack],
    since: str = _LAUNCH,
    also: Iterable[str] = (),
) -> Callable[[Check], Check]:
    """Declare a rule: the function returns hits for what it knows to be wrong, and nothing for what is unknown."""

    def declare(check: Check) -> Check:
        if id_ in CATALOGUE:
            raise ValueError(f"two rules have the id {id_}")
        address = f"{DOCS}{link}" if link.startswith("/") else link
        examples = tuple(good), tuple(bad), frozenset(also)
        CATALOGUE[id_] = Rule(id_, title, severity, why, remedy, address, since, check, *examples)
        return check

    return declare


mandatory = partial(_rule, severity=MANDATORY)
advisory = partial(_rule, severity=ADVISORY)
