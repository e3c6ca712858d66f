"""Rules about the Worker's source: calls that never existed, options that are ignored, and known traps.

They read what was found in the parsed modules; none of them proves a program right.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from ..facts.stack import HOLE, Binding, Call, Fact, Package, Source, Stack, Worker
from ..platform.bindings import PLAIN_TEXT
from ..platform.sdk import HIGHEST_PORT, LOWEST_PORT, SDK_VERSION, SERVER_PORT
from ..platform.sdk_support import TUNNELS_SINCE
from .features import calls, calls_of_0, sdk, uses
from .finding import Hit, advisory, hit, mandatory

_API = "/sandbox/sdk/api/"
_LINE: Final = "src/index.ts:7"
_NEVER: Final[Mapping[str, str]] = {
    "readdir": "listFiles(path)",
    "rm": "deleteFile(path), or exec with rm -rf for a directory",
    "rmdir": "exec with rm -rf",
    "spawn": "startProcess(command)",
    "isProcessRunning": "getProcess(id)",
    "stat": "exists(path) or listFiles(path)",
}
_IGNORED: Final[Mapping[tuple[str, str], str]] = {
    ("exec", "session"): "run it on the session: (await sandbox.getSession(id)).exec(command)",
    ("exec", "sessionId"): "run it on the session: (await sandbox.getSession(id)).exec(command)",
    ("exec", "onStdout"): "pass stream: true and onOutput: (stream, data) => …",
    ("exec", "onStderr"): "pass stream: true and onOutput: (stream, data) => …",
    ("gitCheckout", "ref"): "pass branch, or check the commit out with exec",
    ("runCode", "timeout"): "set INTERPRETER_EXECUTION_TIMEOUT_MS in the image",
}
_KEEPING: Final = ("createBackup", "mountBucket", "keepAlive", "sleepAfter", "restoreBackup")


def _source(*made: Call, words: tuple[str, ...] = ()) -> Stack:
    return Stack(source=Source(calls=made, uses=tuple(Fact(word, "src/index.ts:3") for word in words)))


def _call(
    name: str, *arguments: str, options: tuple[str, ...] = (), followed: bool = False, forgotten: bool = False
) -> Call:
    return Call(name, _LINE, arguments, frozenset(options), followed=followed, forgotten=forgotten)


@mandatory(
    "code/no-such-call",
    "Calls of the SDK exist",
    why="The method never existed, though early guides show it; inside a catch the mistake goes unnoticed.",
    remedy="Use {instead}.",
    link=_API,
    since="SDK 0.3.0",
    good=[_source(_call("listFiles"))],
    bad=[_source(_call("readdir", "'/workspace'")), _source(_call("spawn", "'ls'")), _source(_call("rm", "'a'"))],
)
def no_such_call(stack: Stack) -> Iterator[Hit]:
    for call in calls_of_0(stack, *_NEVER):
        yield hit(call.where, f"a sandbox has no method {call.name}", instead=_NEVER[call.name])


@mandatory(
    "code/ignored-option",
    "Options of calls have an effect",
    why="The SDK ignores it without a word: the command runs in the shared session, or on the wrong commit.",
    remedy="Instead, {instead}.",
    link=_API,
    since="SDK 0.3.0",
    good=[_source(_call("exec", "'ls'", "{ cwd: '/' }", options=("cwd",)))],
    bad=[
        _source(_call("exec", "'ls'", "{ session: id }", options=("session",))),
        _source(_call("gitCheckout", "url", "{ ref }", options=("ref",))),
    ],
    also=["code/files-vanish"],
)
def ignored_option(stack: Stack) -> Iterator[Hit]:
    for (name, option), instead in _IGNORED.items():
        for call in calls_of_0(stack, name):
            if option in call.options:
                yield hit(call.where, f"{name} ignores the option {option}", instead=instead)


@mandatory(
    "code/checkout-target",
    "gitCheckout gets its target as an option",
    why="A path as second argument is ignored; the clone lands in /workspace/<repository>.",
    remedy="Pass {{ targetDir: {target} }}.",
    link=_API,
    since="SDK 0.4.0",
    good=[
        _source(_call("gitCheckout", "url", "{ targetDir: '/app' }")),
        _source(_call("gitCheckout", "url")),
        _source(_call("gitCheckout", "url", "options")),
        _source(_call("writeFile", "path", "'/app'")),
    ],
    bad=[_source(_call("gitCheckout", "url", "'/app'")), _source(_call("gitCheckout", "url", '"/app"'))],
    also=["code/files-vanish"],
)
def checkout_target(stack: Stack) -> Iterator[Hit]:
    for call in calls_of_0(stack, "gitCheckout"):
        if len(call.arguments) > 1 and call.arguments[1].startswith(("'", '"', "`")):
            yield hit(call.where, "gitCheckout ignores its second argument here", target=call.arguments[1])


@mandatory(
    "code/expose-port-hostname",
    "exposePort gets a hostname",
    why="The options are required: without a hostname the call throws.",
    remedy="Pass the host under which previews answer: exposePort({port}, {{ hostname }}).",
    link=_API,
    since="SDK 0.4.0",
    good=[
        _source(_call("exposePort", "8080", "{ hostname }", options=("hostname",))),
        _source(_call("exposePort", "8080", "options")),
        _source(_call("exposePort", "...parts")),
        _source(_call("exposePort", "8080", "{ ...options }")),
    ],
    bad=[
        _source(_call("exposePort", "8080")),
        _source(_call("exposePort", "8080", "{ name: 'a' }", options=("name",))),
    ],
)
def expose_port_hostname(stack: Stack) -> Iterator[Hit]:
    for call in calls_of_0(stack, "exposePort"):
        literal = len(call.arguments) > 1 and call.arguments[1].startswith("{")
        alone = len(call.arguments) == 1 and not call.arguments[0].startswith("...")
        if alone or (literal and "hostname" not in call.options and "..." not in call.arguments[1]):
            yield hit(call.where, "exposePort is called without a hostname", port=call.arguments[0])


def _exposing(port: str) -> Stack:
    return _source(_call("exposePort", port, "{ hostname }", options=("hostname",)))


@mandatory(
    "code/expose-port-reserved",
    "Exposed ports are allowed",
    why="Port 3000 is the sandbox server itself, which would hand out control of the sandbox; ports below 1024 are "
    "refused too.",
    remedy="Let the program listen on a port from 1024 to 65535 other than 3000, for example 8080.",
    link=_API,
    since="SDK 0.4.0",
    good=[*map(_exposing, ("8080", "1024", "65535", "port", '"80"')), _source(_call("exposePort"))],
    bad=[*map(_exposing, ("3000", "1023", "65536", "1" * 5000))],
)
def expose_port_reserved(stack: Stack) -> Iterator[Hit]:
    for call in calls_of_0(stack, "exposePort"):
        said = call.arguments[0] if call.arguments else ""
        if said == str(SERVER_PORT):
            yield hit(call.where, f"port {said} is the sandbox server's own")
        elif said.isdecimal() and (len(said) > 5 or not LOWEST_PORT <= int(said) <= HIGHEST_PORT):
            yield hit(call.where, f"port {said[:8]} cannot be exposed")


def _got(*ids: str, unattended: bool = False) -> Call:
    return Call("getSandbox", _LINE, ("env.Sandbox", "id"), text=ids, unattended=unattended)


@advisory(
    "code/shared-sandbox",
    "Callers do not share one sandbox",
    why="A fixed id gives every caller the same files, processes and default session, whose directory and variables "
    "change under them.",
    remedy="Derive the id from the user or the task, and set enableDefaultSession: false.",
    link="/sandbox/sdk/concepts/sandboxes/",
    since="SDK 0.3.0",
    good=[
        _source(_got("")),
        _source(_got(f"user-{HOLE}")),
        _source(_got("a", "b")),
        _source(_got("nightly", unattended=True)),
        _source(_call("getSandbox", "env.Sandbox")),
    ],
    bad=[_source(_got("main"))],
)
def shared_sandbox(stack: Stack) -> Iterator[Hit]:
    for call in calls_of_0(stack, "getSandbox"):
        fixed = len(call.text) == 1 and call.text[0] and HOLE not in call.text[0]
        if fixed and not call.unattended:
            yield hit(call.where, f"every caller gets the sandbox {call.text[0]!r}")


_EPHEMERAL: Final = _call("getSandbox", "env.Sandbox", "crypto.randomUUID()", forgotten=True)


@advisory(
    "code/not-destroyed",
    "Sandboxes with random ids are destroyed",
    why="Nobody can find them again: the container runs until it sleeps, and storage, tunnels and backups stay.",
    remedy="Call destroy() in a finally block.",
    link=_API,
    good=[
        _source(_EPHEMERAL, _call("destroy")),
        _source(_call("getSandbox", "env.Sandbox", "userId")),
        _source(_call("writeFile", "'a'", "crypto.randomUUID()", forgotten=True)),
    ],
    bad=[_source(_EPHEMERAL)],
)
def not_destroyed(stack: Stack) -> Iterator[Hit]:
    destroyed = any(calls_of_0(stack, "destroy"))
    for call in calls_of_0(stack, "getSandbox"):
        if call.forgotten and not destroyed:
            yield hit(call.where, "a sandbox with a random id is never destroyed")


@advisory(
    "code/files-vanish",
    "Files that matter outlive the container",
    why="After ten idle minutes, with every rollout and at every eviction the container and its files are gone.",
    remedy="Back them up (createBackup), mount a bucket, or make them again on a cold start; sleepAfter only delays.",
    link="/sandbox/sdk/concepts/sandboxes/",
    good=[
        _source(_call("gitCheckout", "url"), words=("sleepAfter",)),
        _source(_call("writeFile", "a", "b"), words=("createBackup",)),
        _source(_call("writeFile", "a", "b"), _call("destroy")),
        _source(_call("exec", "'ls'")),
        _source(_call("gitCheckout", "url", followed=True)),
    ],
    bad=[
        _source(_call("gitCheckout", "url")),
        _source(_call("writeFile", "a", "b"), _call("writeFile", "c", "d")),
        _source(_call("gitCheckout", "url", followed=True), _call("writeFile", "c", "d")),
    ],
)
def files_vanish(stack: Stack) -> Iterator[Hit]:
    kept = any(uses(stack, *_KEEPING)) or any(calls_of_0(stack, "destroy", "exists", "listFiles"))
    # What the same request goes on to use was not meant to last.
    written = next((call for call in calls_of_0(stack, "gitCheckout", "writeFile") if not call.followed), None)
    if written and stack.source.uses is not None and not kept:
        yield hit(written.where, f"what {written.name} makes is gone after ten idle minutes")


@mandatory(
    "code/control-port",
    "User requests do not reach the control server",
    why="`fetch` on a sandbox goes to its control server on port 3000, which obeys without asking.",
    remedy="Use proxyToSandbox, wsConnect, or containerFetch(request, port) with the program's port.",
    link="/sandbox/sdk/concepts/security/",
    since="SDK 0.4.0",
    good=[_source(_call("fetch", "'/health'")), _source(_call("containerFetch", "request", "8080"))],
    bad=[_source(_call("fetch", "request"))],
)
def control_port(stack: Stack) -> Iterator[Hit]:
    for call in calls_of_0(stack, "fetch"):
        if call.arguments[:1] in {("request",), ("req",), ("c.req.raw",)}:
            yield hit(call.where, "a user's request is forwarded to the sandbox's control server")


def _proxied(position: str) -> Stack:
    return Stack(source=Source.of(proxy_position=position))


@advisory(
    "code/proxy-first",
    "proxyToSandbox runs before other handlers",
    why="A handler before it answers preview hosts itself: previews show your app, or its login page.",
    remedy="Call proxyToSandbox(request, env) first and return its response if there is one, or let what comes "
    "before it look at the host.",
    link="/sandbox/sdk/concepts/preview-urls/",
    since="SDK 0.4.0",
    good=[_proxied("first")],
    bad=[_proxied("late")],
)
def proxy_first(stack: Stack) -> Iterator[Hit]:
    said = stack.source.proxy_position
    if said and said.value == "late":
        yield hit(said.where, "another handler runs before proxyToSandbox")


def _tunnelling(transport: str | None, version: str = SDK_VERSION) -> Stack:
    told = (Binding.of(name="SANDBOX_TRANSPORT", kind=PLAIN_TEXT, text=transport),) if transport else ()
    return Stack(
        package=Package.of(locked=version),
        worker=Worker(bindings=told),
        source=Source(uses=(Fact("tunnels", "src/index.ts:3"), Fact("tunnels", "src/index.ts:8"))),
    )


@mandatory(
    "code/tunnels",
    "Tunnels have the transport and the version they need",
    why="Tunnels exist from 0.10.2 on, and only over the rpc transport.",
    remedy=f'Set the variable SANDBOX_TRANSPORT to "rpc" and use SDK {SDK_VERSION}.',
    link="/sandbox/sdk/guides/expose-services/",
    since="SDK 0.10.2",
    good=[_tunnelling("rpc"), _tunnelling("rpc", "0.10.2"), Stack(worker=Worker(bindings=()), source=Source(uses=()))],
    bad=[_tunnelling(None), _tunnelling("http"), _tunnelling("rpc", "0.10.1")],
    also=["versions/behind"],
)
def tunnels(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    used = next(uses(stack, "tunnels"), None)
    if used is None or stack.worker.bindings is None:
        return
    said = [each for each in stack.worker.bindings if each.name.value == "SANDBOX_TRANSPORT"]
    over_rpc = any(each.text is None or each.text.value == "rpc" for each in said)
    old = version and version.value.release < TUNNELS_SINCE
    if old or not (over_rpc or any(uses(stack, "transport"))):
        yield hit(used.where, "tunnels are used without the rpc transport" if not old else "this SDK has no tunnels")


@mandatory(
    "code/retired-api",
    "Code for 0.x does not run on 1.x",
    why="1.0 has neither getSandbox nor proxyToSandbox nor the bridge: it is another product under the same name.",
    remedy=f"Stay on {SDK_VERSION} for now, or move the code to the classes of 1.x.",
    link="/sandbox/sdk/migrate/api-map/",
    since="2026-09-30",
    good=[
        Stack(package=Package.of(locked=SDK_VERSION), source=_source(_call("getSandbox", "env.Sandbox", "id")).source),
        Stack(package=Package.of(locked="1.0.0"), source=Source(calls=(), uses=())),
    ],
    bad=[
        Stack(package=Package.of(locked="1.0.0"), source=_source(_call("getSandbox", "env.Sandbox", "id")).source),
        Stack(package=Package.of(locked="1.0.0"), source=_source(words=("proxyToSandbox",)).source),
    ],
)
def retired_api(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    old = next(calls(stack, "getSandbox"), None)
    word = next(uses(stack, "proxyToSandbox", "bridge"), None)
    where = old.where if old else word.where if word else None
    if where and version and version.value.major >= 1:
        yield hit(where, f"SDK {version.value} does not have what this code calls")
