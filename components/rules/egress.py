"""Rules about what sandboxes reach and which secrets enter them."""

from collections.abc import Iterator

from ..facts.stack import Egress, Fact, Stack
from .finding import Hit, advisory, hit


def _entering(*secrets: str) -> Stack:
    return Stack(egress=Egress.of(entering=secrets))


@advisory(
    "egress/entering-secret",
    "Secrets are added to requests outside of sandboxes",
    why="Code that an agent writes, or a dependency it installs, reads the variables of its sandbox and can send them "
    "anywhere.",
    remedy="Name the host it is for under egress.credentials with `secret: {name}`, list the hosts that sandboxes "
    "need, and give the credential to the API keys that may use it.",
    link="/sandbox/sdk/concepts/security/",
    since="2026-11-18",
    good=[_entering(), Stack()],
    bad=[_entering("AGENT_API_KEY")],
)
def entering_secret(stack: Stack) -> Iterator[Hit]:
    entering = stack.egress.entering or Fact((), "")
    for name in entering.value:
        yield hit(entering.where, f"{name} enters the sandboxes that use it", name=name)


def _given(credentials: tuple[str, ...] | None, given: tuple[str, ...] | None) -> Stack:
    return Stack(egress=Egress.of(credentials=credentials, given=given))


@advisory(
    "egress/unused-credential",
    "Every credential is given to somebody",
    why="A credential is added to requests of sandboxes whose API key was given it; without one it does nothing, and "
    "requests that need it fail.",
    remedy="Add {name} to access.api_keys.<key>.credentials, or remove it.",
    link="/sandbox/sdk/concepts/security/",
    since="2026-11-18",
    good=[_given(("git",), ("git",)), _given((), ()), _given(("git",), None), _given(None, ("git",))],
    bad=[_given(("git", "npm"), ("git",))],
)
def unused_credential(stack: Stack) -> Iterator[Hit]:
    known, given = stack.egress.credentials, stack.egress.given
    if known is None or given is None:
        return
    for name in known.value:
        if name not in given.value:
            yield hit(f"{known.where}.{name}", f"no API key may use the credential {name}", name=name)
