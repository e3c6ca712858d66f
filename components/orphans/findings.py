"""The judge: from what an account has, and what stacks there are, to what is orphaned and why. Pure.

An item is in use when a living stack's state has it, when it cannot be said whose it is, or when something in use
refers to it. What is left is orphaned if a stack can be named that made it: by the state of an interrupted run, by the
tag of a script, or by its name. What leads nowhere although nobody can be named is listed too, as of an unknown owner.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from ..account.items import Inventory, Item, Key, Kind
from ..naming import MARK, stack_of_tag
from ..platform import previews
from .costs import Cost, monthly
from .stacks import Stack, called


class Evidence(StrEnum):
    """How it is known whose an item is."""

    STATE = "state"
    """An operation of the stack was cut off that was about to make it."""
    TAG = "tag"
    """The script says so, or the one that it belongs to."""
    NAME = "name"
    """It is called as that stack calls its own."""
    NONE = "none"


@dataclass(frozen=True)
class Owner:
    """Whose an item is."""

    project: str = ""
    stack: str = ""
    lives: bool = False
    ours: bool = False
    """Whether the project is one that was asked about."""
    said_gone: bool = False
    evidence: Evidence = Evidence.NONE

    def __str__(self) -> str:
        return f"{self.project}/{self.stack}" if self.project else "unknown owner"


UNKNOWN: Final = Owner()


@dataclass(frozen=True)
class Finding:
    """An item that nothing needs any more."""

    item: Item
    reason: str
    owner: Owner
    cost: Cost | None = None

    @property
    def deletable(self) -> bool:
        """Whether it may be deleted without being named by its id."""
        known = self.owner.ours and (self.owner.lives or self.owner.said_gone)
        return known and self.item.kind is not Kind.NAMESPACE

    @property
    def foreign(self) -> bool:
        """Whether it is known to be of a project that was not asked about: then it is never deleted."""
        return bool(self.owner.project) and not self.owner.ours

    def document(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "id": str(self.item.key),
            "kind": str(self.item.kind),
            "name": self.item.name,
            "reason": self.reason,
            "owner": str(self.owner) if self.owner.project else None,
            "evidence": str(self.owner.evidence),
            "deletable": self.deletable,
            "month": self.cost.month if self.cost else None,
            "cost": self.cost.text if self.cost else None,
        }


def find(inventory: Inventory, stacks: Sequence[Stack]) -> list[Finding]:
    """Return what is orphaned, of known owners first."""
    judge = _Judge(inventory, tuple(stacks))
    found = [finding for item in inventory.items if (finding := judge.finding(item))]
    return sorted(found, key=lambda each: (not each.deletable, str(each.owner), each.item.key))


@dataclass(frozen=True)
class _Judge:
    """Judges the items of one account."""

    inventory: Inventory
    stacks: tuple[Stack, ...]

    def finding(self, item: Item) -> Finding | None:
        """Return why an item is orphaned; None where it is not."""
        if item.key in self.in_use:
            return None
        owner = self.owners[item.key]
        broken = _BROKEN[item.kind](self, item) if item.kind in _BROKEN else ""
        if owner.ours:
            if self._serves(item, owner) or self._is_kept(item, owner) or self._goes_along(item):
                return None
            return Finding(item, ". ".join(filter(None, [_why(owner), broken])), owner, monthly(item))
        return Finding(item, broken, owner, monthly(item)) if broken else None

    @cached_property
    def owners(self) -> Mapping[Key, Owner]:
        """Who made each item, as far as that can be told."""
        direct = {each.key: self._owner(each) for each in self.inventory.items}
        return direct | {
            each.key: self._through(each, direct)
            for each in self.inventory.items
            if direct[each.key] is UNKNOWN and each.kind in _BELONGING
        }

    @cached_property
    def held(self) -> frozenset[Key]:
        """What the states of living stacks have."""
        known = frozenset(key for stack in self.stacks if stack.lives for key in stack.holds)
        return frozenset(each.key for each in self.inventory.items if self._called[each.key] & known)

    @cached_property
    def in_use(self) -> frozenset[Key]:
        """What is held, what is somebody's who is not asked about, and what either refers to."""
        others = (
            each.key
            for each in self.inventory.items
            if not self.owners[each.key].ours and not (each.kind in _BROKEN and _BROKEN[each.kind](self, each))
        )
        return self.inventory.reached_from({*self.held, *others})

    @cached_property
    def _called(self) -> Mapping[Key, frozenset[Key]]:
        return {each.key: called(each, self.inventory) for each in self.inventory.items}

    def _owner(self, item: Item) -> Owner:
        if item.kind is Kind.SCRIPT and not any(mark.startswith(MARK) for mark in item.marks):
            return UNKNOWN  # whatever it is called, our plugin did not upload it
        names = self._called[item.key]
        for mark in item.marks:
            if said := stack_of_tag(mark):
                return self._said(*said)
        for evidence, those in (
            (Evidence.STATE, [each for each in self.stacks if names & (each.holds | each.began)]),
            (Evidence.NAME, [each for each in self.stacks if names & each.makes]),
        ):
            # A living stack has the better claim: it may still need what is called as its own.
            for stack in sorted(those, key=lambda each: (not each.lives, each.ours)):
                return _made_by(stack, evidence)
        return UNKNOWN

    def _said(self, project: str, name: str) -> Owner:
        for stack in self.stacks:
            if (stack.project, stack.name) == (project, name):
                return _made_by(stack, Evidence.TAG)
        return Owner(project, name, evidence=Evidence.TAG)

    def _through(self, item: Item, known: Mapping[Key, Owner]) -> Owner:
        """Return the owner of the script that an item belongs to."""
        for key in item.refers:
            through = self.inventory.by_key.get(key)
            if key.kind is Kind.SCRIPT:
                return known.get(key) or self._named(key)
            if key.kind is Kind.NAMESPACE and through:
                return self._through(through, known)
        return UNKNOWN

    def _named(self, script: Key) -> Owner:
        """Return the owner of a script that is gone, by its name."""
        for stack in self.stacks:
            if script in stack.makes and stack.ours:
                return _made_by(stack, Evidence.NAME)
        return UNKNOWN

    def _serves(self, item: Item, owner: Owner) -> bool:
        """Whether something belongs to what is in use, and nothing but that says that the stack made it."""
        if owner.evidence is Evidence.STATE or item.kind not in _BELONGING:
            return False
        whose = {key for near in item.refers if (found := self.inventory.by_key.get(near)) for key in found.refers}
        return bool((item.refers | whose) & self.in_use)

    def _is_kept(self, item: Item, owner: Owner) -> bool:
        if item.kind is not Kind.IMAGE or not owner.lives:
            return False
        return any(item.details["repository"] in stack.keeps for stack in self.stacks if stack.lives)

    def _goes_along(self, item: Item) -> bool:
        """Whether an item is deleted with another one."""
        return item.kind is Kind.NAMESPACE and self._there(item.refers)

    def _there(self, keys: Iterable[Key]) -> bool:
        return any(key in self.inventory.by_key for key in keys)

    def application_leads_nowhere(self, item: Item) -> str:
        """Say whether an application's class is gone."""
        if not {Kind.SCRIPT, Kind.NAMESPACE} <= self.inventory.kinds:
            return ""
        namespace = self.inventory.by_key.get(Key(Kind.NAMESPACE, item.details.get("namespace", "")))
        if namespace is None:
            return "the class that it belongs to is gone"
        return "" if self._there(namespace.refers) else f"script {namespace.details['script']} is gone"

    def namespace_is_left(self, item: Item) -> str:
        """Say whether a namespace's script is gone."""
        if Kind.SCRIPT not in self.inventory.kinds or self._there(item.refers):
            return ""
        return f"script {item.details['script']} is gone" if item.refers else "it belongs to no script"

    def nothing_runs(self, item: Item) -> str:
        """Say whether no application runs an image."""
        if Kind.APPLICATION not in self.inventory.kinds or self.inventory.referring.get(item.key):
            return ""
        return "no application runs it"

    def route_leads_nowhere(self, item: Item) -> str:
        """Say whether the script of a route or custom domain is gone; one without keeps other routes' Workers away."""
        if Kind.SCRIPT not in self.inventory.kinds or self._there(item.refers):
            return ""
        if item.refers:
            return f"it leads to the script {item.details['script']}, which is gone"
        if self._is_answered(item.name.partition("/")[0], Kind.ROUTE):
            return ""
        return "it keeps Workers away from where none would answer"

    def nobody_answers(self, item: Item) -> str:
        """Say whether a record stands for a Worker to which no route leads."""
        details = item.details
        if (details.get("content"), bool(details.get("proxied"))) != (previews.NOWHERE, True):
            return ""
        if not {Kind.SCRIPT, Kind.ROUTE, Kind.CUSTOM_DOMAIN} <= self.inventory.kinds:
            return ""
        if self._is_answered(item.name, Kind.ROUTE, Kind.CUSTOM_DOMAIN):
            return ""
        return f"it leads to {previews.NOWHERE}, and no route leads from there to a script"

    def nothing_shows_it(self, item: Item) -> str:
        """Say whether a certificate is for hosts that lead nowhere."""
        if not {Kind.SCRIPT, Kind.RECORD, Kind.ROUTE, Kind.CUSTOM_DOMAIN} <= self.inventory.kinds:
            return ""
        # The zone's own name is in every certificate of it.
        hosts = [host for host in item.details["hosts"] if host != item.details["zone"]]
        leading = [each.name for each in self.inventory.of(Kind.RECORD) if not self.nobody_answers(each)]
        shown = any(self._is_answered(host, Kind.ROUTE, Kind.CUSTOM_DOMAIN) for host in hosts)
        if not hosts or shown or any(meets(name, host) for name in leading for host in hosts):
            return ""
        return "nothing is left at the hosts that it is for"

    def _is_answered(self, host: str, *kinds: Kind) -> bool:
        """Whether a route or custom domain leads from a host, or a part of what it covers, to a script."""
        return any(self._there(each.refers) and meets(each.name, host) for each in self.inventory.of(*kinds))


_BELONGING: Final = frozenset({Kind.APPLICATION, Kind.NAMESPACE, Kind.ROUTE, Kind.CUSTOM_DOMAIN})
"""What is of whoever has the script."""
_BROKEN: Final = {
    Kind.APPLICATION: _Judge.application_leads_nowhere,
    Kind.NAMESPACE: _Judge.namespace_is_left,
    Kind.IMAGE: _Judge.nothing_runs,
    Kind.ROUTE: _Judge.route_leads_nowhere,
    Kind.CUSTOM_DOMAIN: _Judge.route_leads_nowhere,
    Kind.RECORD: _Judge.nobody_answers,
    Kind.CERTIFICATE: _Judge.nothing_shows_it,
}
"""What can be seen to be of no use, whoever made it."""


def _made_by(stack: Stack, evidence: Evidence) -> Owner:
    return Owner(stack.project, stack.name, stack.lives, stack.ours, stack.said_gone, evidence)


def _why(owner: Owner) -> str:
    if owner.said_gone:
        return f"its stack {owner} is gone"
    if not owner.lives:
        return f"its stack {owner} is not in the backend; if it is gone, say so by --gone {owner.stack}"
    if owner.evidence is Evidence.STATE:
        return f"a run of {owner} that was cut off made it, and the state does not have it"
    return f"the state of {owner} does not have it"


def meets(pattern: str, host: str) -> bool:
    """Whether a route's pattern, or a custom domain, is for a host of a record; each may begin with a wildcard."""
    asked = pattern.partition("/")[0].partition(":")[0].removeprefix("https").lower()
    wanted = host.lower()
    return any(
        _covers(one, other) for one, other in ((asked, wanted), (wanted, asked)) if one.startswith("*") or one == other
    )


def _covers(wide: str, host: str) -> bool:
    """Whether a name, perhaps with a wildcard, covers another one, or a part of those that the other covers."""
    if not wide.startswith("*"):
        return wide == host
    return host.lstrip("*").endswith(wide[1:])


def costs(findings: Iterable[Finding]) -> float:
    """Return the US dollars a month of all that have a price."""
    return sum(_prices(findings))


def _prices(findings: Iterable[Finding]) -> Iterator[float]:
    return (each.cost.month for each in findings if each.cost and each.cost.month is not None)
