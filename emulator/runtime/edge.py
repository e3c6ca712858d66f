"""Requests that name a host which is not the emulator's own: to a Worker, or from a Worker's binding.

The Worker sees what it would see at the edge: the host the client asked for, the client's address, `request.cf`.
"""

import json
from typing import cast

from emulator.calls import Call, Raw, Scope

from . import kv, r2
from .assemble import CF_HEADER, KEY_HEADER, PROTOCOL_HEADER, STORE_HEADER
from .groups import Group
from .packages import MissingError
from .routing import Address, Target, is_own_name
from .runtime import Runtime
from .upstream import BrokenError, Headers, Send

_CF = json.dumps({"colo": "LOC", "country": "XX", "httpProtocol": "HTTP/1.1", "asn": 0, "timezone": "UTC"})
_OURS = frozenset(
    name.encode() for name in ("host", PROTOCOL_HEADER, CF_HEADER, KEY_HEADER, "cf-connecting-ip", "x-forwarded-host")
)
_SCHEMES = ("http", "https")


def host_of(scope: Scope) -> str:
    """The host a client asked for; empty when it named none."""
    for name, value in scope["headers"]:
        if name == b"host":
            return cast("bytes", value).decode("latin-1")
    return ""


def is_for_edge(scope: Scope) -> bool:
    """Whether a request is not for the emulator's own API and registry."""
    return not is_own_name(host_of(scope))


async def answer(runtime: Runtime, call: Call, send: Send) -> Raw | None:
    """Serve a request; what is returned has still to be sent."""
    if call.headers.get(KEY_HEADER) == runtime.key:
        return await _binding(call)
    scheme = call.headers.get(PROTOCOL_HEADER, "http")
    address = Address(scheme if scheme in _SCHEMES else "http", call.headers.get("host", ""), call.raw_path)
    target = runtime.target(address)
    if target is None:
        return _page(
            404, f"No Worker answers on {address.name}{address.path}: no route, custom domain or workers.dev name."
        )
    async with runtime.groups.serving(target.account, target.script) as group:
        if group is None:
            return _page(404, f"The Worker {target.script} has no live version.")
        if group.failure:
            return _failed(target, group)
        if call.headers.get("upgrade", "").lower() != "websocket":
            return await _forward(call, address, target, group, send)
    return await _tunnel(call, address, target, group)


async def _binding(call: Call) -> Raw:
    product, account, *rest = call.headers[STORE_HEADER].split("/")
    call.account_id = account
    if product == "r2":
        return await r2.answer(call, "/".join((account, *rest)))
    call.params = {"namespace_id": rest[0]}
    content = b"".join([chunk async for chunk in call.stream()])
    return kv.answer(call, content)


async def _forward(call: Call, address: Address, target: Target, group: Group, send: Send) -> Raw | None:
    try:
        upstream = group.upstreams[target.script]
        await upstream.forward(call.method, _path(call), _headers(call, address, target), call.receive, send)
    except BrokenError as error:
        if error.started:
            call.scope["state"]["transport"].abort()  # half an answer must not look like a whole one
            return None
        return _page(502, f"error code: 1101\n\nThe runtime of the Worker {target.script} ended before it answered.")
    return None


async def _tunnel(call: Call, address: Address, target: Target, group: Group) -> Raw | None:
    """A WebSocket is not waited for when its script is replaced: the edge, too, ends it then."""
    try:
        headers = _headers(call, address, target)
        transport = call.scope["state"]["transport"]
        await group.upstreams[target.script].tunnel(call.method, _path(call), headers, transport)
    except BrokenError:
        return _page(502, f"error code: 1101\n\nThe runtime of the Worker {target.script} ended before it answered.")
    return None


def _path(call: Call) -> bytes:
    path, query = cast("bytes", call.scope["raw_path"]), cast("bytes", call.scope["query_string"])
    return path + b"?" + query if query else path


def _headers(call: Call, address: Address, target: Target) -> Headers:
    kept = [(name, value) for name, value in call.scope["headers"] if name not in _OURS]
    client = call.scope["client"][0] if call.scope["client"] else "127.0.0.1"
    ours = {
        "host": target.host,
        "cf-connecting-ip": client,
        PROTOCOL_HEADER: address.scheme,
        CF_HEADER: _CF,
    }
    if target.host != address.host:
        ours["x-forwarded-host"] = address.host
    return [*((name.encode(), value.encode("latin-1")) for name, value in ours.items()), *kept]


def _failed(target: Target, group: Group) -> Raw:
    if isinstance(group.failure, MissingError):
        return _page(503, str(group.failure))
    text = f"error code: 1101\n\nThe Worker {target.script} does not start: {group.failure}"
    return _page(500, text)


def _page(status: int, text: str) -> Raw:
    return Raw(f"{text}\n".encode(), "text/plain; charset=utf-8", status)
