"""Rules about third-party code: pinned, locked, and not running scripts while it is installed."""

import re
from collections.abc import Iterator
from typing import Final

from ..facts.stack import Fact, Stack, SupplyChain
from ..platform.sdk import SDK_VERSION
from ..platform.sdk_support import PACKAGE, exact
from .features import LOCAL_RANGES
from .finding import Hit, advisory, hit, mandatory

_OLDEST_WRANGLER: Final = 4


@mandatory(
    "supply/lock",
    "A lock file is committed",
    why="Without one every install may bring other code into the Worker than the one that was tested.",
    remedy="Run the package manager's install and commit its lock file.",
    link="https://nodejs.org/en/learn/getting-started/security-best-practices",
    good=[Stack(supply=SupplyChain.of(lock="package-lock.json"))],
    bad=[Stack(supply=SupplyChain(lock=Fact(None, "package.json")))],
)
def lock(stack: Stack) -> Iterator[Hit]:
    said = stack.supply.lock
    if said and not said.value:
        yield hit(said.where, "there is no lock file")


def _needing(name: str, range_: str) -> Stack:
    return Stack(supply=SupplyChain(dependencies=((name, Fact(range_, "package.json:9")),)))


@advisory(
    "supply/pinned",
    "Direct dependencies are pinned",
    why="A range lets a new, possibly hijacked release in with the next update of the lock file.",
    remedy="Replace the ranges by exact versions: {names}.",
    link="https://nodejs.org/en/learn/getting-started/security-best-practices",
    good=[_needing("hono", "4.10.4"), _needing("shared", "workspace:*")],
    bad=[
        _needing("hono", "^4.10.4"),
        Stack(supply=SupplyChain(dependencies=(("a", Fact("*", "p:1")), ("b", Fact("~1.2.3", "p:2"))))),
    ],
)
def pinned(stack: Stack) -> Iterator[Hit]:
    loose = [
        (name, said)
        for name, said in stack.supply.dependencies or ()
        if not exact(said.value) and not said.value.startswith(LOCAL_RANGES)
    ]
    if loose:
        names = ", ".join(name for name, _ in loose)
        yield hit(loose[0][1].where, f"dependencies have ranges: {names}", names=names)


@mandatory(
    "supply/sdk-floating",
    "The Sandbox SDK does not float",
    why="`*`, `latest` and `next` may bring 1.x, a different product, under 0.x code.",
    remedy='Declare "@cloudflare/sandbox" as an exact version.',
    link="/sandbox/sdk/migrate/",
    since="2026-09-30",
    good=[_needing(PACKAGE, SDK_VERSION), _needing("hono", "latest")],
    bad=[_needing(PACKAGE, each) for each in ("*", "latest", "next", "", ">=0.12.0", "x")],
    also=["supply/pinned"],
)
def sdk_floating(stack: Stack) -> Iterator[Hit]:
    for name, said in stack.supply.dependencies or ():
        if name == PACKAGE and (said.value in {"*", "latest", "next", "", "x"} or said.value.startswith(">")):
            yield hit(said.where, f"@cloudflare/sandbox is declared as {said.value!r}")


@advisory(
    "supply/install-scripts",
    "Packages run no scripts while they are installed",
    why="Install scripts of any dependency run with the rights, and the tokens, of whoever installs.",
    remedy="Set ignore-scripts=true in .npmrc (pnpm and yarn 4 refuse unlisted scripts by themselves).",
    link="https://nodejs.org/en/learn/getting-started/security-best-practices",
    good=[Stack(supply=SupplyChain.of(install_scripts=False))],
    bad=[Stack(supply=SupplyChain.of(install_scripts=True))],
)
def install_scripts(stack: Stack) -> Iterator[Hit]:
    said = stack.supply.install_scripts
    if said and said.value:
        yield hit(said.where, "install scripts of dependencies are allowed")


@mandatory(
    "supply/wrangler",
    "wrangler knows containers",
    why="Containers came with wrangler 4; version 3 ignores them and deploys a Worker whose sandboxes cannot start.",
    remedy="Move wrangler to 4.x.",
    link="/workers/wrangler/install-and-update/",
    good=[
        *(_needing("wrangler", each) for each in ("4.158.0", "^4.0.0", "latest", "3 || 4")),
        _needing("other", "3.0.0"),
    ],
    bad=[_needing("wrangler", "3.114.0")],
)
def wrangler(stack: Stack) -> Iterator[Hit]:
    for name, said in stack.supply.dependencies or ():
        found = re.match("[~^=v ]*([0-9]{1,6})", said.value)
        if name == "wrangler" and found and int(found[1]) < _OLDEST_WRANGLER and "||" not in said.value:
            yield hit(said.where, f"wrangler {said.value} does not know containers")
