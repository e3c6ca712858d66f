"""Takes stacks of requests away whole: what is in their state, what a run that died made beside it, and themselves.

A stack is forgotten last, when the account has nothing of it any more; whatever fails before, the next try finds the
stack and its lease, and goes on from there.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from ..account.address import account_client
from ..account.inventory import InventoryError, read_inventory
from ..account.items import Item, Kind
from ..account.removal import Removal, in_order
from ..errors import UserError
from ..provider.api_client import Client
from .belongings import Whose
from .lease import Lease
from .stacks import LockedError, RequestStack, project_name

_NEEDED: Final = (Kind.SCRIPT, Kind.APPLICATION, Kind.IMAGE, Kind.BUCKET, Kind.KV)
"""Every stack can have these; a token that may not read the others has not made them for a stack either."""
_OF_ZONES: Final = (Kind.RECORD, Kind.ROUTE, Kind.CERTIFICATE)
_PROTECTED: Final = "is protected"


@dataclass
class Doomed:
    """A stack that is to go."""

    stack: RequestStack
    lease: Lease | None
    problem: str = ""
    """Why it is still there; empty for one that is gone."""
    locked: bool = False
    """Whether somebody else works on it."""
    stays: bool = False
    """Whether nothing more may be tried."""
    leftovers: list[Item] = field(default_factory=list)
    """What was not in its state."""

    def require_unchanged(self) -> None:
        """Refuse a stack whose lease was renewed since it was judged: somebody makes it anew."""
        if self.stack.lease() != self.lease:
            raise LockedError(f"{self.stack.name}: was made anew meanwhile; the next sweep judges it again")

    def leave(self, error: LockedError) -> None:
        """Leave it to whoever works on it."""
        self.problem, self.locked, self.stays = str(error), True, True


@dataclass(frozen=True)
class Tools:
    """What it is done with."""

    client: Client
    account_id: str
    parallel: int = 4
    say: Callable[[str], None] = lambda _: None

    @classmethod
    def of(cls, environment: Mapping[str, str], parallel: int, say: Callable[[str], None]) -> "Tools":
        """Return the tools for the account that the environment names."""
        return cls(*account_client(environment), parallel, say)


def take_away(doomed: Sequence[Doomed], tools: Tools) -> list[str]:
    """Take stacks away, each by itself: one that fails keeps its problem. Return what could not be looked for."""
    with ThreadPoolExecutor(tools.parallel) as pool:
        list(pool.map(lambda each: _destroy(each, tools), doomed))
        unread = _leftovers(doomed, tools)
        list(pool.map(lambda each: _finish(each, tools), doomed))
    return unread


def _destroy(each: Doomed, tools: Tools) -> None:
    tools.say(f"{each.stack.name}: destroying")
    try:
        each.require_unchanged()
        each.stack.destroy()
    except LockedError as error:
        each.leave(error)
    except UserError as error:
        each.problem, each.stays = str(error), _PROTECTED in str(error)


def _leftovers(doomed: Sequence[Doomed], tools: Tools) -> list[str]:
    """Find, once for all, what the account still has of the stacks."""
    wanted = [(each, each.lease) for each in doomed if each.lease and not each.stays]
    if not wanted:
        return []
    zones = _OF_ZONES if any(lease.hosts for _, lease in wanted) else ()
    try:
        items, unread = _read(tools, zones)
    except InventoryError as error:
        for each, _ in wanted:
            each.problem, each.stays = str(error), True
        return []
    for each, lease in wanted:
        whose = Whose(project_name(each.stack.pulumi.folder), each.stack.name, lease.name, lease.hosts)
        if rival := whose.rival(items):
            unread.append(f"what is called as of {each.stack.name}: {rival} made the Worker {whose.script}")
        each.leftovers = list(whose.belongings(items))
    return unread


def _read(tools: Tools, zones: Sequence[Kind]) -> tuple[list[Item], list[str]]:
    items: list[Item] = []
    unread = []
    for kind in Kind:
        if kind in (*_OF_ZONES, Kind.NAMESPACE) and kind not in zones:
            continue  # namespaces go with their scripts
        try:
            items += read_inventory(tools.client, tools.account_id, [kind]).items
        except InventoryError as error:
            if kind in (*_NEEDED, *zones):
                raise
            unread.append(str(error))
    return items, unread


def _finish(each: Doomed, tools: Tools) -> None:
    if each.stays:
        return
    removal = Removal(tools.client, tools.account_id, with_data=True, say=tools.say)
    try:
        each.require_unchanged()
        for item in in_order(each.leftovers):
            tools.say(f"{each.stack.name}: deleting {item}")
            removal.remove(item)
        if each.problem:  # what could not be destroyed is gone now, or can be: the state has to learn of it
            each.stack.destroy(refresh=True)
        each.stack.forget()
    except LockedError as error:
        each.leave(error)
    except UserError as error:
        each.problem = str(error)
    else:
        each.problem = ""
