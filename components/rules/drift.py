"""Rules about two descriptions of one Worker: settings, and a wrangler configuration beside them."""

from collections.abc import Iterator

from ..facts.stack import Fact, Stack
from .finding import Hit, advisory, hit


@advisory(
    "wrangler/drift",
    "Settings and wrangler's configuration say the same",
    why="`wrangler dev` then tries another Worker than the one that is deployed, and a `wrangler deploy` by mistake "
    "would put it in its place.",
    remedy="Export the configuration again (`sandbox-stack export --out {file} --replace`), or bring {path} into line.",
    link="https://github.com/cloudflare/workers-sdk/tree/main/packages/wrangler",
    since="2026-11-18",
    good=[Stack(), Stack(drift=())],
    bad=[Stack(drift=(Fact("worker.variables.MODE", "wrangler.jsonc"),))],
)
def drift(stack: Stack) -> Iterator[Hit]:
    for each in stack.drift or ():
        file, _, place = each.where.partition(" ")
        what = f"{file} says otherwise about {each.value}"
        yield hit(place or file, what, file=file, path=each.value)
