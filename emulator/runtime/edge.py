"""Requests that name a host which is not the emulator's own: to a Worker, or from a Worker's binding.

The Worker sees what it would see at the edge: the host the client asked for, the client's address, `request.cf`.
"""

import json
from dataclasses import dataclass
from typing import cast

from emulator.calls import Call, Raw, Scope

from .bindings import d1, kv, queues, r2
from .headers import CF_HEADER, KEY_HEADER, PROTOCOL_HEADER, STORE_HEADER
from .proxy.upstream import BrokenError, Head, Send, break_off
from .routing import Address, Target, is_own_name
from .runtime import Runtime
from .sandboxes import gateway
from .workerd.packages import MissingError

_CF = json.dumps({"colo": "LOC", "country": "XX", "httpProtocol": "HTTP/1.1", "asn": 0, "timezone": "UTC"})
_KEY = KEY_HEADER.encode()
_OURS = frozenset(name.encode() for name in ("host", PROTOCOL_HEADER, "cf-connecting-ip", "x-forwarded-host"))
_FORBIDDEN = ("CONNECT", "TRACE", "TRACK")  # no `Request` can have these methods
_SCHEMES = ("http", "https")


def host_of(scope: Scope) -> str:
    """The host a client asked for; empty when it named none."""
    for name, value in scope["headers"]:
        if name == b"host":
            return cast("bytes", value).decode("latin-1")
    return ""


def is_for_edge(scope: Scope) -> bool:
    """Whether a request is not for the emulator's own API and registry; a binding may name any host."""
    return not is_own_name(host_of(scope)) or is_of_binding(scope)


def is_of_binding(scope: Scope) -> bool:
    """Whether it says that a binding asks; `answer` looks whether that is true."""
    return any(name == _KEY for name, _ in scope["headers"])


async def answer(runtime: Runtime, call: Call, send: Send) -> Raw | None:
    """Serve a request; what is returned has still to be sent."""
    if call.headers.get(KEY_HEADER) == runtime.key:
        return await _binding(runtime, call, send)
    if call.method in _FORBIDDEN:
        return _page(405, f"The edge passes no {call.method} requests on to Workers.")
    scheme = call.headers.get(PROTOCOL_HEADER, call.scope["scheme"])
    address = Address(scheme if scheme in _SCHEMES else "http", call.headers.get("host", ""), call.raw_path)
    target = runtime.target(address)
    if target is None:
        where = f"{address.name}{address.path}"
        return _page(404, f"No Worker answers on {where}: no route, custom domain or workers.dev name.")
    return await _worker(runtime, call, Routed(address, target), send)


@dataclass(frozen=True)
class Routed:
    """What was asked for and who answers it."""

    address: Address
    target: Target


async def _worker(runtime: Runtime, call: Call, routed: Routed, send: Send) -> Raw | None:
    async with runtime.groups.serving(routed.target.account, routed.target.script) as group:
        if group is None:
            return _page(404, f"The Worker {routed.target.script} has no live version.")
        if group.failure:
            return _failed(routed.target, group.failure)
        client = call.scope["state"]["transport"]
        try:
            tunnel = await group.upstreams[routed.target.script].pass_on(
                _head(call, routed), call.receive, send, client
            )
        except BrokenError as error:
            if error.started:
                await break_off(client, call.receive)
                return None
            told = f"The runtime of the Worker {routed.target.script} ended before it answered."
            return _page(502, f"error code: 1101\n\n{told}")
    if tunnel:
        await tunnel.last()  # not waited for when its script is replaced: the edge, too, ends it then
    return None


async def _binding(runtime: Runtime, call: Call, send: Send) -> Raw | None:
    product, account, *rest = call.headers[STORE_HEADER].split("/")
    call.account_id = account
    if product == "containers":
        return await gateway.answer(runtime.sandboxes, call, send, rest[0].split(","))
    if product == "tail":
        return await _heard(runtime, call, account)
    if product == "r2":
        return await r2.answer(call, "/".join((account, *rest)))
    content = b"".join([chunk async for chunk in call.stream()])
    if product == "d1":
        return d1.answer(call, rest[0], content)
    if product == "queues":
        return queues.answer(call, rest[0], rest[1], content)
    call.params = {"namespace_id": rest[0]}
    return kv.answer(call, content)


async def _heard(runtime: Runtime, call: Call, account: str) -> Raw:
    told = json.loads(b"".join([chunk async for chunk in call.stream()]))
    runtime.tails.receive((account, told["script"]), told["events"], told["version"])
    return Raw(b"{}")


def _head(call: Call, routed: Routed) -> Head:
    client = call.scope["client"][0] if call.scope["client"] else "127.0.0.1"
    ours = {
        "host": routed.target.host,
        "cf-connecting-ip": client,
        PROTOCOL_HEADER: routed.address.scheme,
        CF_HEADER: _CF,
    }
    if routed.target.host != routed.address.host:
        ours["x-forwarded-host"] = routed.address.host
    more = [(name.encode(), value.encode("latin-1")) for name, value in ours.items()]
    return Head.of(call.scope, more, without=_OURS)


def _failed(target: Target, failure: Exception) -> Raw:
    if isinstance(failure, MissingError):
        return _page(503, str(failure))
    return _page(500, f"error code: 1101\n\nThe Worker {target.script} does not start: {failure}")


def _page(status: int, text: str) -> Raw:
    return Raw(f"{text}\n".encode(), "text/plain; charset=utf-8", status)
