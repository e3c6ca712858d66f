"""Which requests' stacks go, and which stay, as their leases and the forge say; what goes is taken away at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from ..errors import UserError
from ..pulumi_cli.project import PulumiProject
from .forges.forge import Forge
from .lease import Lease
from .stacks import PATIENCE, RequestStack, request_stacks
from .takeaway import Doomed, Tools, take_away


class Fate(StrEnum):
    """What becomes of a stack."""

    STAYS = "stays"
    GOES = "goes"
    GONE = "gone"
    FAILED = "failed"


@dataclass(frozen=True)
class Row:
    """One stack in the report."""

    number: int
    stack: str
    fate: Fate
    why: str
    leftovers: tuple[str, ...] = ()
    """What was not in its state and is gone, too."""


@dataclass(frozen=True)
class Report:
    """What a sweep found and did."""

    rows: tuple[Row, ...]
    unread: tuple[str, ...] = ()
    """What the token may not read, so that leftovers of that kind were not looked for."""

    @property
    def failed(self) -> bool:
        """Whether something went wrong with a stack."""
        return any(row.fate is Fate.FAILED for row in self.rows)


@dataclass(frozen=True)
class Known:
    """What is known of a stack before it is judged."""

    number: int
    lease: Lease | None
    empty: bool = False
    """Whether nothing was ever made; looked at only where there is no lease."""


def fate(known: Known, request: str, is_open: Callable[[int], bool], now: datetime) -> tuple[Fate, str]:
    """Say what is to become of a stack, and why. The forge is asked only where the lease does not decide."""
    lease = known.lease
    if lease is None and not known.empty:
        return Fate.STAYS, "was not made by `pr up`"
    if lease and lease.request and lease.request != request:
        return Fate.STAYS, f"belongs to {lease.request}"
    if lease and lease.expires <= now:
        return Fate.GOES, f"expired on {lease.expires:%Y-%m-%d %H:%M UTC}"
    if lease and not lease.request:
        return Fate.STAYS, f"made by hand, until {lease.expires:%Y-%m-%d %H:%M UTC}"
    if not is_open(known.number):
        return Fate.GOES, "the request is closed"
    return Fate.STAYS, f"open, until {lease.expires:%Y-%m-%d %H:%M UTC}" if lease else "open, nothing was made yet"


def sweep(  # noqa: PLR0913 - what it asks, and how
    project: PulumiProject,
    forge: Forge,
    tools: Tools,
    *,
    dry_run: bool = False,
    goodbye: Callable[[str, str], str] | None = None,
    patience: timedelta = PATIENCE,
) -> Report:
    """Take away every stack whose request is closed, or whose time is over; `goodbye` makes the comment about it."""
    stacks = [
        RequestStack(number, replace(project, stack=f"pr-{number}"), patience) for number in request_stacks(project)
    ]
    now = datetime.now(UTC)
    with ThreadPoolExecutor(tools.parallel) as pool:
        judged = list(pool.map(lambda stack: _judged(stack, forge, now), stacks))
    going = [
        Doomed(stack, lease) for stack, (fate_, _, lease) in zip(stacks, judged, strict=True) if fate_ is Fate.GOES
    ]
    unread = [] if dry_run else take_away(going, tools)
    done = {} if dry_run else {each.stack.number: each for each in going}
    rows = [
        _row(stack, fate_, why, done.get(stack.number)) for stack, (fate_, why, _) in zip(stacks, judged, strict=True)
    ]
    return Report(tuple(_told(row, forge, goodbye) for row in rows), tuple(unread))


def down(stack: RequestStack, request: str, tools: Tools) -> Report:
    """Take one request's stack away now, whatever became of the request; `request` is its address, where known."""
    if stack.number not in request_stacks(stack.pulumi):
        return Report((Row(stack.number, stack.name, Fate.GONE, "there is no such stack"),))
    doomed = Doomed(stack, stack.require_ours(request))
    unread = take_away([doomed], tools)
    return Report((_row(stack, Fate.GOES, "as was asked", doomed),), tuple(unread))


def _judged(stack: RequestStack, forge: Forge, now: datetime) -> tuple[Fate, str, Lease | None]:
    try:
        lease = stack.lease()
        known = Known(stack.number, lease, empty=lease is None and not stack.pulumi.state().resources)
        return *fate(known, forge.address(stack.number), forge.is_open, now), lease
    except UserError as error:
        return Fate.FAILED, str(error), None


def _row(stack: RequestStack, fate_: Fate, why: str, done: Doomed | None) -> Row:
    if done is None:
        return Row(stack.number, stack.name, fate_, why)
    leftovers = tuple(str(item) for item in done.leftovers)
    if done.locked:
        return Row(stack.number, stack.name, Fate.STAYS, f"{why}; {done.problem}")
    if done.problem:
        return Row(stack.number, stack.name, Fate.FAILED, f"{why}; {done.problem}", leftovers)
    return Row(stack.number, stack.name, Fate.GONE, why, leftovers)


def _told(row: Row, forge: Forge, goodbye: Callable[[str, str], str] | None) -> Row:
    """Say goodbye in the comment that there is."""
    if goodbye is None or row.fate is not Fate.GONE:
        return row
    try:
        forge.tell(row.number, goodbye(row.stack, row.why), anew=False)
    except UserError as error:
        return replace(row, fate=Fate.FAILED, why=f"{row.why}; gone, but could not be told: {error}")
    return row
