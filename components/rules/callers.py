"""Rules about who reaches a sandbox through the Worker's own code."""

from collections.abc import Iterator

from ..facts.stack import Call, Source, Stack, Worker
from .features import calls_of_0
from .finding import Hit, advisory, hit
from .secrets import is_named_secret

_SECURITY = "/sandbox/sdk/concepts/security/"
_HANDING = (
    "exec", "execStream", "startProcess", "setEnvVars", "createSession", "writeFile", "runCode", "createCodeContext",
)  # fmt: skip


def _source(*calls: Call, reachable: bool = True) -> Stack:
    return Stack(worker=Worker.of(reachable=reachable), source=Source(calls=calls, uses=()))


def _got(*, opened: bool, line: int = 6) -> Call:
    return Call("getSandbox", f"src/index.ts:{line}", open=opened)


@advisory(
    "auth/open-route",
    "Callers are checked before they get a sandbox",
    why="The SDK has no authentication: whoever knows the address of the Worker gets a sandbox here, and runs what the "
    "route lets everyone run, at your cost.",
    remedy="Check a key, a session or a signature before getSandbox; if something before the Worker does, such as "
    "Access, accept this finding with an exception that says so.",
    link=_SECURITY,
    good=[
        _source(_got(opened=False)),
        _source(_got(opened=True), reachable=False),
        _source(Call("exec", "src/index.ts:7", open=True)),
    ],
    bad=[
        _source(_got(opened=True)),
        _source(_got(opened=False), _got(opened=True, line=9), _got(opened=True, line=12)),
    ],
)
def open_route(stack: Stack) -> Iterator[Hit]:
    reachable = stack.worker.reachable
    places = [call.where for call in calls_of_0(stack, "getSandbox") if call.open]
    if places and reachable and reachable.value:
        further = f", nor at {', '.join(places[1:])}" if places[1:] else ""
        yield hit(places[0], f"nobody checks the caller before getSandbox here{further}")


def _handed(name: str, *secrets: str, opened: bool = True) -> Call:
    return Call(name, "src/index.ts:7", secrets=secrets, open=opened)


@advisory(
    "auth/open-secret",
    "Secrets stay out of sandboxes that anybody can start",
    why="Whoever runs a command in the sandbox reads its variables and files; here nobody checked who that is.",
    remedy="Check the caller first, and keep {names} in the Worker: let it add the header to requests on the way out "
    "(outboundByHost), so that the sandbox never has it.",
    link=_SECURITY,
    good=[
        _source(_handed("exec", "API_KEY", opened=False), _got(opened=True)),
        _source(_handed("exec", "LOG_LEVEL")),
        _source(_handed("getSandbox", "API_KEY")),
        _source(_handed("setEnvVars", "API_KEY"), reachable=False),
        _source(_handed("envVars", "API_KEY", opened=False), _got(opened=False)),
        _source(_handed("envVars", "LOG_LEVEL", opened=False), _got(opened=True)),
    ],
    bad=[
        _source(_handed("exec", "LOG_LEVEL", "API_KEY")),
        _source(_handed("writeFile", "env")),
        _source(_handed("envVars", "API_KEY", opened=False), _got(opened=True)),
    ],
    also=["auth/open-route", "code/files-vanish"],
)
def open_secret(stack: Stack) -> Iterator[Hit]:
    reachable = stack.worker.reachable
    if reachable is None or not reachable.value:
        return
    started = any(call.open for call in calls_of_0(stack, "getSandbox"))
    for call in calls_of_0(stack, "envVars", *_HANDING):
        names = ", ".join(each for each in call.secrets if is_named_secret(each) or each == "env")
        if names and (call.open or (call.name == "envVars" and started)):
            yield hit(call.where, f"a sandbox that anybody can start gets {names}", names=names)
