"""Deletes what was found, one by one; each is looked at once more right before, as the account goes on living.

An interrupted run is safe to repeat: what it deleted is not found again, and nothing is begun that needs an end.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from ..account.inventory import read_inventory
from ..account.items import Inventory, Key, Kind, resolved
from ..account.removal import Removal, RemovalError, in_order
from ..provider.api_client import Client
from .backend import Backend
from .findings import Finding, find

_ALWAYS: Final = frozenset({Kind.SCRIPT, Kind.NAMESPACE, Kind.APPLICATION})
"""What may have come to need something since."""
_NEEDED: Final = {
    Kind.RECORD: frozenset({Kind.RECORD, Kind.ROUTE, Kind.CUSTOM_DOMAIN}),
    Kind.SERVICE_TOKEN: frozenset({Kind.SERVICE_TOKEN, Kind.ACCESS_POLICY, Kind.ACCESS_APPLICATION}),
    Kind.ACCESS_POLICY: frozenset({Kind.ACCESS_POLICY, Kind.ACCESS_APPLICATION}),
    Kind.BUCKET: frozenset({Kind.BUCKET, Kind.TOKEN}),
    Kind.SCRIPT: frozenset({Kind.ROUTE, Kind.CUSTOM_DOMAIN}),
    Kind.IMAGE: frozenset[Kind](),  # an image is known by its content, and does not change
}
GONE: Final = "it is gone already"


@dataclass(frozen=True)
class Outcome:
    """What became of a finding."""

    finding: Finding
    deleted: bool
    why: str = ""
    """Why it was kept, or that it was gone already."""


@dataclass
class Cleaning:
    """Deletes findings of one account."""

    client: Client
    inventory: Inventory
    backend: Backend
    with_data: bool = False
    say: Callable[[str], None] = field(default=lambda _: None)

    def delete(self, findings: Iterable[Finding]) -> Iterator[Outcome]:
        """Delete findings in the order that they need, and tell what became of each."""
        by_key = {each.item.key: each for each in findings}
        for item in in_order(each.item for each in by_key.values()):
            yield self.one(by_key[item.key])

    def one(self, finding: Finding) -> Outcome:
        """Look again, then delete."""
        item = finding.item
        if why := self._speaks_against(finding):
            return Outcome(finding, deleted=False, why=why)
        try:
            there = Removal(self.client, self.inventory.account_id, with_data=self.with_data, say=self.say).remove(item)
        except RemovalError as error:
            return Outcome(finding, deleted=False, why=str(error))
        self._forget(item.key)
        return Outcome(finding, deleted=there, why="" if there else GONE)

    def _speaks_against(self, finding: Finding) -> str:
        """Return what speaks against deleting it, by what account and backend say now."""
        if finding.foreign:
            return f"it is of {finding.owner}, whose project was not named"
        if str(finding.owner) in self.backend.busy:
            return f"an update of {finding.owner} is under way"
        self._look_again(finding)
        if str(finding.owner) in self.backend.busy:
            return f"an update of {finding.owner} has begun"
        key = finding.item.key
        now = {each.item.key: each for each in find(self.inventory, self.backend.known(self.inventory))}
        if key not in now:
            return "it is needed by now" if key in self.inventory.by_key else GONE
        if now[key].foreign or (finding.deletable and not now[key].deletable):
            return f"it was judged otherwise by now: {now[key].reason}"
        return ""

    def _look_again(self, finding: Finding) -> None:
        kind = finding.item.kind
        kinds = (_ALWAYS | _NEEDED.get(kind, frozenset({kind}))) & self.inventory.kinds
        fresh = read_inventory(self.client, self.inventory.account_id, kinds)
        kept = tuple(each for each in self.inventory.items if each.kind not in kinds)
        self.inventory = replace(self.inventory, items=resolved((*kept, *fresh.items)))
        if finding.owner.project:
            self.backend = self.backend.again(finding.owner.project, finding.owner.stack)

    def _forget(self, key: Key) -> None:
        self.inventory = replace(self.inventory, items=tuple(one for one in self.inventory.items if one.key != key))
