"""Runs against the stand-in, and what a whole one consists of."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from components.smoke import address
from components.smoke.messages import Answer, Request
from components.smoke.runner import ALL, Run, run
from components.smoke.wire import Secrets, Wire
from tests.components.smoke.stand_in import API, KEY, PREVIEW, Asked, Deployment, serving

NAMES = [*(step.name for step in ALL), "destroy"]
# Every request of a whole run, in order, by the step that makes it.
REQUESTS = [
    *["health", "headers", "no key", "wrong key", "key", "openapi", "validation", "conversations", "backup bucket"],
    *["artifact bucket", "preview host", "sandbox", "exec", "stream"],
    *["files"] * 5,
    *["sessions"] * 4,
    *["idempotency"] * 2,
    "node",
    *["code"] * 3,
    *["process"] * 5,
    *["port"] * 4,
    "preview",
    *["preview token"] * 3,
    *["backup"] * 4,
    "destroy",
]


def dependents(name: str) -> set[str]:
    """The steps that cannot be taken when one was not passed; what was started is destroyed all the same."""
    found = {name}
    for step in ALL:
        if found & set(step.needs):
            found.add(step.name)
    if "sandbox" in found - {name}:
        found.add("destroy")
    return found - {name}


def taken(deployment: Deployment, known: dict[str, str] | None = None, **options: Any) -> Run:
    """A run over a real connection, with a clock that ticks a millisecond at a time."""
    ticks = iter(range(10_000))
    facts = {"name": "smoke-0123456789abcdef", "credential": "yes", "preview_host": PREVIEW}
    with serving(deployment) as url:
        wire = Wire(address.parse(url), Secrets(options.pop("key", KEY)), options.pop("timeout", 5))
        return run(wire, facts if known is None else known, lambda: next(ticks) / 1000, **options)


def directly(deployment: Deployment) -> Run:
    """A run without a connection, for the many that differ in one answer only."""

    def send(request: Request) -> Answer:
        parts = urlsplit(request.path)
        headers = {"authorization": f"Bearer {KEY}"} if request.credential == "all" else {}
        query = dict(parse_qsl(parts.query))
        asked = Asked(
            request.method, request.host or API, parts.path, query, headers | dict(request.headers), request.body
        )
        reply = deployment.answer(asked)
        assert reply is not None
        return Answer(reply.status, reply.headers, reply.body)

    facts = {"name": "smoke-0123456789abcdef", "credential": "yes", "preview_host": PREVIEW}
    return run(send, facts, lambda: 0.0)


def states(done: Run) -> dict[str, str]:
    return {name: result.state for name, result in done.results.items()}


def with_state(done: Run, state: str) -> set[str]:
    return {name for name, each in states(done).items() if each == state}
