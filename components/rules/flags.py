"""Rules about compatibility dates and flags."""

from collections.abc import Iterator
from datetime import date, timedelta

from ..facts.stack import Fact, Source, Stack, Worker
from ..platform.compatibility import (
    CTX_EXPORTS_DEFAULT,
    CTX_EXPORTS_FLAG,
    NODEJS_DEFAULT,
    NODEJS_FLAGS,
    OWN_PID_NAMESPACE,
    OWN_PID_NAMESPACE_FLAG,
)
from .features import MOUNT, interception_uses
from .finding import Hit, advisory, hit, mandatory

_FLAGS = "/workers/configuration/compatibility-flags/"


def _worker(date_: str | None, *flags: str) -> Stack:
    return Stack(worker=Worker.of(compatibility_date=Fact(date_, "worker.date"), compatibility_flags=flags))


@mandatory(
    "flags/date-missing",
    "A compatibility date is set",
    why="Without a date the Worker runs with the behaviour of 2021, where the Sandbox SDK cannot start.",
    remedy='Set the compatibility date to {floor} or later, written as "{floor}".',
    link="/workers/configuration/compatibility-dates/",
    good=[_worker("2026-08-04")],
    bad=[_worker(None), _worker("yesterday"), _worker("2026-13-01")],
)
def date_missing(stack: Stack) -> Iterator[Hit]:
    said = stack.worker.compatibility_date
    if said and said.value is None:
        yield hit(said.where, "no compatibility date is set", floor=OWN_PID_NAMESPACE)
    elif said and not _is_date(said.value or ""):
        yield hit(said.where, f"the compatibility date {said.value!r} is not a date", floor=OWN_PID_NAMESPACE)


@advisory(
    "flags/date-floor",
    "The compatibility date gives containers a process namespace of their own",
    why="With an older date the container sees the processes of the virtual machine around it, and its entry point is "
    "not process 1.",
    remedy='Set the compatibility date to {floor} or later, or add the flag "{flag}".',
    link=_FLAGS,
    since="2026-04-01",
    good=[
        _worker("2026-04-01", "nodejs_compat"),
        _worker("2026-03-31", "nodejs_compat", OWN_PID_NAMESPACE_FLAG),
        _worker("2026-08-04"),
        _worker(None),
        _worker("1 May"),
    ],
    bad=[_worker("2026-03-31", "nodejs_compat")],
)
def date_floor(stack: Stack) -> Iterator[Hit]:
    said, flags = stack.worker.compatibility_date, stack.worker.compatibility_flags
    if said is None or flags is None or not said.value or OWN_PID_NAMESPACE_FLAG in flags.value:
        return
    if _is_date(said.value) and said.value < OWN_PID_NAMESPACE:
        yield hit(
            said.where,
            f"the compatibility date {said.value} is before {OWN_PID_NAMESPACE}",
            floor=OWN_PID_NAMESPACE,
            flag=OWN_PID_NAMESPACE_FLAG,
        )


_TODAY = date(2026, 11, 16)


@mandatory(
    "flags/date-future",
    "The compatibility date is not in the future",
    why="The API refuses an upload whose date has not come yet.",
    remedy="Set the compatibility date to {today} or earlier.",
    link="/workers/configuration/compatibility-dates/",
    good=[
        Stack(today=_TODAY, worker=Worker.of(compatibility_date="2026-11-17")),
        Stack(today=_TODAY, worker=Worker.of(compatibility_date="tomorrow")),
        Stack(today=_TODAY, worker=Worker.of(compatibility_date=Fact(None, "worker.date"))),
    ],
    bad=[
        Stack(today=_TODAY, worker=Worker.of(compatibility_date="2026-11-18")),
        Stack(today=_TODAY, worker=Worker.of(compatibility_date="2999-01-01")),
    ],
)
def date_future(stack: Stack) -> Iterator[Hit]:
    said = stack.worker.compatibility_date
    # One day of grace: it is tomorrow somewhere.
    if said and said.value and stack.today and _is_date(said.value):
        latest = (stack.today + timedelta(days=1)).isoformat()
        if said.value > latest:
            yield hit(said.where, f"the compatibility date {said.value} is in the future", today=stack.today)


@mandatory(
    "flags/nodejs-compat-required",
    "Node.js compatibility is on",
    why="The Sandbox SDK uses `Buffer` and a Node module; before 2026-08-04 they exist only with the flag.",
    remedy='Add "nodejs_compat" to the compatibility flags, or move the date to {default} or later.',
    link="/workers/runtime-apis/nodejs/",
    good=[
        _worker("2026-08-03", "nodejs_compat"),
        _worker("2026-08-03", "nodejs_compat_v2"),
        _worker("2026-08-04"),
        _worker(None),
    ],
    bad=[_worker("2026-08-03"), _worker("2026-04-01", "other")],
)
def nodejs_compat_required(stack: Stack) -> Iterator[Hit]:
    said, flags = stack.worker.compatibility_date, stack.worker.compatibility_flags
    if said and flags and said.value and said.value < NODEJS_DEFAULT and not NODEJS_FLAGS & set(flags.value):
        yield hit(flags.where, f"nodejs_compat is missing with the date {said.value}", default=NODEJS_DEFAULT)


@mandatory(
    "flags/nodejs-compat-refused",
    "nodejs_compat is not named once it is the default",
    why="From 2026-08-04 on the flag is on by itself and the runtime refuses one that is named; only some tools leave "
    "it out for you.",
    remedy="Remove {flag} from the compatibility flags.",
    link="/workers/runtime-apis/nodejs/",
    since="2026-08-04",
    good=[
        _worker("2026-08-04"),
        _worker("2026-08-03", "nodejs_compat"),
        _worker("2026-08-04", "other"),
        _worker(None, "nodejs_compat"),
    ],
    bad=[_worker("2026-08-04", "nodejs_compat"), _worker("2026-08-04", "nodejs_compat_v2")],
)
def nodejs_compat_refused(stack: Stack) -> Iterator[Hit]:
    said, flags = stack.worker.compatibility_date, stack.worker.compatibility_flags
    if said and flags and said.value and said.value >= NODEJS_DEFAULT and NODEJS_FLAGS & set(flags.value):
        named = " and ".join(sorted(NODEJS_FLAGS & set(flags.value)))
        yield hit(flags.where, f"{named} is named with the date {said.value}", flag=named)


@mandatory(
    "flags/nodejs-compat-off",
    "Node.js compatibility is not switched off",
    why="The Sandbox SDK uses `Buffer` and a Node module and fails at start without them.",
    remedy='Remove "no_nodejs_compat" from the compatibility flags.',
    link="/workers/runtime-apis/nodejs/",
    good=[_worker("2026-08-04", "other")],
    bad=[_worker("2026-08-04", "no_nodejs_compat")],
)
def nodejs_compat_off(stack: Stack) -> Iterator[Hit]:
    flags = stack.worker.compatibility_flags
    if flags and "no_nodejs_compat" in flags.value:
        yield hit(flags.where, "no_nodejs_compat switches Node.js compatibility off")


def _mounting(date_: str | None, *flags: str) -> Stack:
    said = Fact(date_, "worker.date")
    return Stack(
        worker=Worker.of(compatibility_date=said, compatibility_flags=flags, exports=frozenset({"ContainerProxy"})),
        source=Source(uses=(Fact(MOUNT, "src/index.ts:9"),)),
    )


@mandatory(
    "flags/ctx-exports",
    "ctx.exports exists where mounts and outbound rules need it",
    why="Bucket mounts by binding, the credential proxy and outbound rules reach the Worker through `ctx.exports`.",
    remedy='Set the compatibility date to {default} or later, or add the flag "{flag}".',
    link=_FLAGS,
    since="2025-11-17",
    good=[
        _mounting("2025-11-17", "nodejs_compat"),
        _mounting("2025-11-16", "nodejs_compat", CTX_EXPORTS_FLAG),
        _mounting(None),
    ],
    bad=[_mounting("2025-11-16", "nodejs_compat")],
    also=["flags/date-floor"],
)
def ctx_exports(stack: Stack) -> Iterator[Hit]:
    said, flags = stack.worker.compatibility_date, stack.worker.compatibility_flags
    if said and flags and said.value and said.value < CTX_EXPORTS_DEFAULT and CTX_EXPORTS_FLAG not in flags.value:
        for use in interception_uses(stack):
            yield hit(
                use.where,
                f"{use.value} needs ctx.exports, which the date {said.value} does not have",
                default=CTX_EXPORTS_DEFAULT,
                flag=CTX_EXPORTS_FLAG,
            )


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
