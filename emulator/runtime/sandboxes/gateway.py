"""What `ctx.container` asks of the emulator, and requests to the ports of sandboxes.

Both come as requests of the entry module (`workerd/js/container.js`), which say in a header which container is meant
and what is wanted of it: a port, or a word.
"""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any
from urllib.parse import quote

from emulator.calls import Call, Raw, dump, parse_json
from emulator.engine.container import NotListeningError
from emulator.engine.oci import ImageError
from emulator.runtime.headers import OURS, PROTOCOL_HEADER
from emulator.runtime.proxy.upstream import BrokenError, Head, Send, break_off

from .sandbox import Key, Sandbox
from .sandboxes import Sandboxes

TARGET_HEADER = "x-emulator-container"
_PROBLEM = "x-emulator-problem"
_PROTOCOL = frozenset((PROTOCOL_HEADER.encode(),))
NOT_RUNNING = "The container is not running, consider calling start()"
NOT_LISTENING = "The container is not listening in the TCP address 10.0.0.1:{port}"
NOT_OWNED = "This Durable Object namespace belongs to another Worker."
LOST = "Network connection lost."


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
    try:
        return Raw(dump(await _do(sandboxes, key, wanted, parse_json(content))))
    except (NotListeningError, ImageError):
        return problem(NOT_RUNNING)
    except (OSError, ValueError) as error:
        return problem(str(error))


def problem(text: str) -> Raw:
    """An answer that makes the entry module throw."""
    return Raw(b"", None, 502, {_PROBLEM: quote(text)})


async def _port(sandbox: Sandbox, port: int, call: Call, send: Send) -> Raw | None:
    client = call.scope["state"]["transport"]
    head = Head.of(call.scope, [], without=_PROTOCOL)
    try:
        tunnel = await sandbox.upstream(port).pass_on(head, call.receive, _without_ours(send), client)
    except (NotListeningError, ImageError):
        return problem(NOT_LISTENING.format(port=port) if sandbox.running else LOST)
    except BrokenError as error:
        if not error.started:
            return problem(LOST)
        await break_off(client, call.receive)
        return None
    if tunnel:
        await tunnel.last()
    return None


def _without_ours(send: Send) -> Send:
    """A sandbox cannot speak for the emulator."""

    async def passed_on(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [each for each in message["headers"] if not each[0].startswith(OURS)]
        await send(message)

    return passed_on


async def _do(sandboxes: Sandboxes, key: Key, word: str, body: Any) -> Any:
    """Do what a word asks for; what is answered. Of a sandbox that is gone there is nothing to do."""
    if word == "start":
        sandboxes.start(key, body)
        return {}
    sandbox = sandboxes.find(key)
    if word == "monitor":
        return await sandbox.wait() if sandbox else {"code": 0}
    if word == "inspect":
        return {"labels": sandbox.labels, "image": sandbox.image} if sandbox and sandbox.running else None
    if sandbox:
        await _CHANGES[word](sandboxes, sandbox, body)
    return {}


async def _signal(sandboxes: Sandboxes, sandbox: Sandbox, body: Any) -> None:
    sandboxes.signal(sandbox, int(body["signal"]))


async def _kill(_sandboxes: Sandboxes, sandbox: Sandbox, body: Any) -> None:
    if process := sandbox.processes.get(body["exec"]):
        process.kill(int(body["signal"]))


async def _inactivity(_sandboxes: Sandboxes, sandbox: Sandbox, body: Any) -> None:
    sandbox.inactivity = body["ms"] / 1000


_CHANGES: dict[str, Callable[[Sandboxes, Sandbox, Any], Awaitable[None]]] = {
    "destroy": lambda sandboxes, sandbox, _: sandboxes.destroy(sandbox),
    "signal": _signal,
    "kill": _kill,
    "inactivity": _inactivity,
    "outbound": lambda sandboxes, sandbox, body: sandboxes.intercept(sandbox, body["addresses"]),
}
