"""What `ctx.container` asks of the emulator, and requests to the ports of sandboxes.

Both come as requests of the entry module (`js/container.js`), which say in a header which container is meant and what
is wanted of it: a port, or a word.
"""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any
from urllib.parse import quote

from emulator.calls import Call, Raw, dump, parse_json
from emulator.engine.container import NotListeningError
from emulator.engine.oci import ImageError

from .assemble import OURS, PROTOCOL_HEADER
from .sandbox import Key, Sandbox
from .sandboxes import Sandboxes
from .upstream import BrokenError, Head, Headers, Send

TARGET_HEADER = "x-emulator-container"
_PROBLEM = "x-emulator-problem"
_PROTOCOL = PROTOCOL_HEADER.encode()
NOT_RUNNING = "The container is not running, consider calling start()"
NOT_LISTENING = "The container is not listening in the TCP address 10.0.0.1:{port}"
NOT_OWNED = "This Durable Object namespace belongs to another Worker."
LOST = "Network connection lost."

Verb = Callable[[Sandboxes, Key, Any], Awaitable[Raw]]


async def answer(sandboxes: Sandboxes, call: Call, send: Send, owned: Sequence[str]) -> Raw | None:
    """Serve a request of the entry module of a script, which owns namespaces; what is returned is still to be sent."""
    namespace, object_id, wanted = call.headers[TARGET_HEADER].split("/")
    if namespace not in owned:
        return problem(NOT_OWNED)
    key = Key(call.account_id, namespace, object_id)
    if wanted.isdecimal():
        sandbox = sandboxes.find(key)
        if sandbox is None or not sandbox.running:
            return problem(NOT_RUNNING)
        with sandbox.in_use():
            return await _port(sandbox, int(wanted), call, send)
    content = b"".join([chunk async for chunk in call.stream()])
    return await _VERBS[wanted](sandboxes, key, parse_json(content))


def problem(text: str) -> Raw:
    """An answer that makes the entry module throw."""
    return Raw(b"", None, 502, {_PROBLEM: quote(text)})


async def _port(sandbox: Sandbox, port: int, call: Call, send: Send) -> Raw | None:
    headers: Headers = [each for each in call.scope["headers"] if each[0] != _PROTOCOL and not each[0].startswith(OURS)]
    path, query = call.scope["raw_path"], call.scope["query_string"]
    head = Head(call.method, path + b"?" + query if query else path, headers)
    upstream = sandbox.upstream(port)
    try:
        if not head.is_websocket:
            await upstream.forward(head, call.receive, _without_ours(send))
            return None
        tunnel = await upstream.tunnel(head, call.scope["state"]["transport"])
    except (NotListeningError, ImageError):
        return problem(NOT_LISTENING.format(port=port) if sandbox.running else LOST)
    except BrokenError as error:
        if not error.started:
            return problem(LOST)
        call.scope["state"]["transport"].abort()  # half an answer must not look like a whole one
        while (await call.receive())["type"] != "http.disconnect":
            pass
        return None
    await tunnel.last()
    return None


def _without_ours(send: Send) -> Send:
    """A sandbox cannot speak for the emulator."""

    async def passed_on(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [each for each in message["headers"] if not each[0].startswith(OURS)]
        await send(message)

    return passed_on


async def _start(sandboxes: Sandboxes, key: Key, body: Any) -> Raw:
    sandboxes.start(key, body)
    return Raw(dump({}))


async def _monitor(sandboxes: Sandboxes, key: Key, _body: Any) -> Raw:
    sandbox = sandboxes.find(key)
    return Raw(dump(await sandbox.wait() if sandbox else {"code": 0}))


async def _destroy(sandboxes: Sandboxes, key: Key, _body: Any) -> Raw:
    if sandbox := sandboxes.find(key):
        await sandboxes.destroy(sandbox)
    return Raw(dump({}))


async def _signal(sandboxes: Sandboxes, key: Key, body: Any) -> Raw:
    if sandbox := sandboxes.find(key):
        sandboxes.signal(sandbox, int(body["signal"]))
    return Raw(dump({}))


async def _kill(sandboxes: Sandboxes, key: Key, body: Any) -> Raw:
    sandbox = sandboxes.find(key)
    if process := sandbox.processes.get(body["exec"]) if sandbox else None:
        process.kill(int(body["signal"]))
    return Raw(dump({}))


async def _inactivity(sandboxes: Sandboxes, key: Key, body: Any) -> Raw:
    if sandbox := sandboxes.find(key):
        sandbox.inactivity = body["ms"] / 1000
    return Raw(dump({}))


async def _outbound(sandboxes: Sandboxes, key: Key, body: Any) -> Raw:
    try:
        if sandbox := sandboxes.find(key):
            await sandboxes.intercept(sandbox, body["addresses"])
    except (OSError, ValueError) as error:
        return problem(str(error))
    except (NotListeningError, ImageError):
        return problem(NOT_RUNNING)
    return Raw(dump({}))


async def _inspect(sandboxes: Sandboxes, key: Key, _body: Any) -> Raw:
    sandbox = sandboxes.find(key)
    shown = {"labels": sandbox.labels, "image": sandbox.image} if sandbox and sandbox.running else None
    return Raw(dump(shown))


_VERBS: dict[str, Verb] = {
    "start": _start,
    "monitor": _monitor,
    "destroy": _destroy,
    "signal": _signal,
    "kill": _kill,
    "inactivity": _inactivity,
    "outbound": _outbound,
    "inspect": _inspect,
}
