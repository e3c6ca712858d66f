"""Rules about the SDK's age: which versions are too old, which still get fixes, and which a feature needs."""

from collections.abc import Iterator
from datetime import date, timedelta

from ..facts.stack import Binding, Fact, Package, Source, Stack, Worker
from ..platform.bindings import PLAIN_TEXT
from ..platform.sdk import END_OF_FIXES_OF_0, SDK_VERSION
from ..platform.sdk_support import CREDENTIAL_PROXY_SAFE, LAST_0X, OLDEST, RPC_SINCE
from .features import sdk, uses, variables
from .finding import Hit, advisory, hit, mandatory

_MOVE = "/sandbox/sdk/migrate/"


def _package(version: str, today: date | None = None) -> Stack:
    return Stack(today=today, package=Package.of(locked=version))


@mandatory(
    "versions/floor",
    "The SDK is not older than 0.6.5",
    why="Before 0.6.5 commands of one session run into each other and images cannot be extended safely.",
    remedy="Move package and image together to {last}.",
    link="/sandbox/sdk/",
    since="SDK 0.6.5",
    good=[_package("0.6.5"), _package("1.0.0")],
    bad=[_package("0.6.4"), _package("0.4.12")],
    also=["versions/behind"],
)
def floor(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    if version and version.value.release < OLDEST:
        yield hit(version.where, f"the SDK {version.value} is too old to run safely", last=LAST_0X)


@advisory(
    "versions/behind",
    "A stack on 0.x runs the last 0.x",
    why="Earlier versions lack fixes, among them security fixes of bucket mounts (0.12.6, 0.12.10).",
    remedy="Move package and image together to {last}.",
    link=_MOVE,
    since="2026-09-30",
    good=[_package(SDK_VERSION), _package("1.0.0"), _package("0.13.0-next.1")],
    bad=[_package("0.12.9")],
)
def behind(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    if version and version.value < LAST_0X:
        yield hit(version.where, f"the SDK {version.value} is behind {LAST_0X}", last=LAST_0X)


@mandatory(
    "versions/preview-release",
    "No pre-release of the SDK is deployed",
    why="0.13.0-next was the abandoned preview of 1.0: it is neither line and gets no fixes.",
    remedy="Use {last}, or move to 1.x.",
    link=_MOVE,
    since="2026-09-30",
    good=[_package(SDK_VERSION)],
    bad=[_package("0.13.0-next.4")],
)
def preview_release(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    if version and version.value.mark:
        yield hit(version.where, f"the SDK {version.value} is a pre-release", last=LAST_0X)


@advisory(
    "versions/end-of-support",
    "The SDK still gets fixes",
    why=f"0.x gets bug and security fixes until {END_OF_FIXES_OF_0} and none after; what is deployed keeps running.",
    remedy="Move to 1.x: a new class, a new application, the helper in the image; the move is one-way.",
    link=_MOVE,
    since="2026-09-30",
    good=[
        _package(SDK_VERSION, END_OF_FIXES_OF_0),
        _package("1.0.0", date(2027, 1, 1)),
        _package(SDK_VERSION, date(2026, 11, 16)),
    ],
    bad=[_package(SDK_VERSION, END_OF_FIXES_OF_0 + timedelta(days=1))],
)
def end_of_support(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    if version and stack.today and version.value.major == 0 and stack.today > END_OF_FIXES_OF_0:
        yield hit(version.where, f"the SDK {version.value} has had no fixes since {END_OF_FIXES_OF_0}")


def _transport(version: str, value: str = "rpc", name: str = "SANDBOX_TRANSPORT") -> Stack:
    binding = Binding.of("worker.vars", name=name, kind=PLAIN_TEXT, text=value)
    return Stack(package=Package.of(locked=version), worker=Worker(bindings=(binding,)))


@mandatory(
    "versions/rpc-floor",
    "The rpc transport has an SDK that knows it",
    why="Images before 0.9.3 have no /rpc and never connect.",
    remedy="Move package and image to {last}, or remove SANDBOX_TRANSPORT.",
    link="/sandbox/sdk/configuration/transport/",
    since="SDK 0.9.3",
    good=[_transport("0.9.3"), _transport("0.9.2", "http"), _transport("0.9.2", name="OTHER")],
    bad=[_transport("0.9.2")],
    also=["versions/behind"],
)
def rpc_floor(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    for name, said in variables(stack):
        if version and name == "SANDBOX_TRANSPORT" and said.value == "rpc" and version.value.release < RPC_SINCE:
            yield hit(said.where, f"the rpc transport does not exist in {version.value}", last=LAST_0X)


def _proxying(version: str, *words: str) -> Stack:
    uses_ = tuple(Fact(word, "src/index.ts:9") for word in words)
    return Stack(package=Package.of(locked=version), source=Source(uses=uses_))


@mandatory(
    "versions/credential-proxy-floor",
    "The credential proxy has the fix of 0.12.6",
    why="Before 0.12.6 a copy through the proxy could read objects outside the mounted prefix.",
    remedy="Move package and image to {last}.",
    link="/sandbox/sdk/guides/mount-buckets/",
    since="SDK 0.12.6",
    good=[_proxying("0.12.6", "credentialProxy"), _proxying("0.12.5", "mountBucket")],
    bad=[_proxying("0.12.5", "credentialProxy")],
    also=["versions/behind"],
)
def credential_proxy_floor(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    for use in uses(stack, "credentialProxy"):
        if version and version.value.release < CREDENTIAL_PROXY_SAFE:
            yield hit(use.where, f"credentialProxy of {version.value} is not confined to its prefix", last=LAST_0X)
