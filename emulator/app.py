"""The ASGI application: route, authenticate, run the handler in one transaction, answer, record.

Handlers are plain functions that run on the event loop without interruption, so every request is atomic by
construction; only operations that stream are coroutines.
"""

import asyncio
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, cast

from . import errors
from .calls import Call, PendingError, Raw, Receive, Reply, Result, Scope, Taken, dump, envelope, error_reply
from .errors import ApiError
from .faults import Fault
from .identity import account_resources, user_resources, zone_resources
from .registry import API, CONTROL, Hosted, Operation, Service, View
from .router import Router
from .runtime import edge
from .runtime.routing import host_name
from .runtime.runtime import Runtime
from .state import State

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_CHUNK = 256 * 1024
_BODILESS = (204, 304)
_SWEEP_AFTER = 1.0  # seconds after the start, which must stay quick
_CONTROL_SEGMENT = CONTROL.strip("/")


class DroppedError(Exception):
    """A fault cut the connection."""


class App:
    """Serves one emulated Cloudflare."""

    def __init__(self, state: State, services: list[Service]) -> None:
        self.state = state
        self.services = services
        state.runtime = Runtime(state, self.serve_hosts)
        self._router = Router(operation for service in services for operation in service.operations)
        state.settlers = [settler for service in services for settler in service.settlers]
        state.sweepers = [sweeper for service in services for sweeper in service.sweepers]
        self._mounts = {segment: handler for service in services for segment, handler in service.mounts.items()}
        self._hosts = {domain: hosted for service in services for domain, hosted in service.hosts.items()}
        self._asides = {_CONTROL_SEGMENT}.union(*(service.asides for service in services))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection event of ASGI."""
        if scope["type"] == "http" and edge.is_for_edge(scope) and not self._host(scope):
            await self._edge(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def serve_hosts(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a sandbox, for which there is nothing here but the services that have hosts of their own."""
        if scope["type"] == "http" and self._host(scope):
            await self._http(scope, receive, send)
        else:
            await _send(send, Raw(b"There is no such host here.\n", "text/plain; charset=utf-8", 421), head=False)

    async def start(self) -> None:
        """Run what services do when the server starts."""
        for service in self.services:
            for hook in service.starters:
                await hook(self.state)
        asyncio.get_running_loop().call_later(_SWEEP_AFTER, self.state.sweep)

    async def stop(self) -> None:
        """Run what services do when the server stops, the last one first."""
        for service in reversed(self.services):
            for hook in service.stoppers:
                await hook(self.state)

    async def _edge(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Requests to Workers, and those their bindings make; neither is a call of the API."""
        call = Call(self.state, scope, receive)
        try:
            reply = await edge.answer(self.state.runtime, call, send)
            if reply is not None:
                await _send(send, reply, head=call.method == "HEAD")
        except ConnectionResetError:
            return

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        call = Call(self.state, scope, receive)
        fault: Fault | None = None
        status = 0
        try:
            self._route(call)
            if self.state.faults and not self._is_aside(call):
                fault = self.state.faults.take(call.method, call.path, call.operation_id)
            reply = await self._answer(call, fault)
            status = reply.status
            if not isinstance(reply, Taken):
                await _send(send, reply, head=call.method == "HEAD")
        except DroppedError:
            scope["state"]["transport"].abort()
            while (await receive())["type"] != "http.disconnect":
                pass  # the server would complain about a missing answer before it has seen the cut
        except ConnectionResetError:
            return
        finally:
            self.state.runtime.notice()
            if not self._is_aside(call):
                self._record(call, status, fault, (time.perf_counter() - started) * 1000)

    def _host(self, scope: Scope) -> Hosted | None:
        """The service that has the host; what bindings ask may name any host."""
        if edge.is_of_binding(scope):
            return None
        name = host_name(edge.host_of(scope)).removesuffix(".localhost")
        return next((hosted for domain, hosted in self._hosts.items() if name.endswith(f".{domain}")), None)

    def _route(self, call: Call) -> None:
        """Find the operation, if there is one; what is missing is answered later."""
        if hosted := self._host(call.scope):
            call.hosted = hosted.handler
            call.operation_id = f"{hosted.service}.{hosted.name_of(call)}"
            return
        if call.segments[0] in self._mounts:
            call.operation_id = f"mount.{call.segments[0]}"
            return
        call.allowed, call.params = self._router.find(call.segments)
        operation = call.allowed.get("GET" if call.method == "HEAD" else call.method)
        if operation is not None:
            call.operation = operation
            call.operation_id = operation.id

    def _is_aside(self, call: Call) -> bool:
        return call.hosted is None and call.segments[0] in self._asides

    def _record(self, call: Call, status: int, fault: Fault | None, ms: float) -> None:
        self.state.journal.record(
            time=self.state.clock.time(),
            method=call.method,
            path=call.path,
            query=call.query_string if call.hosted is None else "",  # where it may hold a signature
            status=status,
            ms=ms,
            operation=call.operation_id,
            fault="" if fault is None else str(fault.id),
            body=call.body_bytes,
        )

    async def _answer(self, call: Call, fault: Fault | None) -> Raw:
        if self.state.latency_ms and not self._is_aside(call):
            await asyncio.sleep(self.state.latency_ms / 1000)
        if fault is not None and not fault.after:
            early = await _strike(fault)
            if early is not None:
                return early
        reply = await self._work(call)
        if fault is not None and fault.after:
            late = await _strike(fault)
            if late is not None:
                return late
        return reply

    async def _work(self, call: Call) -> Raw:
        """Do what is asked; every refusal becomes an envelope, every surprise a 500 with a traceback in the log."""
        try:
            reply = await self._perform(call)
        except ApiError as error:
            return error_reply(error)
        except ConnectionResetError:
            raise
        except Exception:  # noqa: BLE001 - a bug here must not look like a broken network to the client
            print(f"{call.method} {call.path}", file=sys.stderr)  # noqa: T201
            traceback.print_exc()
            return error_reply(errors.INTERNAL())
        return envelope(reply) if isinstance(reply, Result) else reply

    async def _perform(self, call: Call) -> Reply:
        mount = call.hosted or self._mounts.get(call.segments[0])
        if mount is not None:
            return await cast("Awaitable[Reply]", mount(call))
        if not call.allowed:
            raise self._no_operation(call)
        if call.method == "OPTIONS":
            return Raw(b"", None, 204, {"allow": _allow(call.allowed)})
        if not call.operation_id:
            refusal = errors.NO_METHOD(method=call.method)
            refusal.headers["allow"] = _allow(call.allowed)
            raise refusal
        if not call.operation.public:
            self._authenticate(call)
        if call.operation.stream:
            return await cast("Awaitable[Reply]", call.operation.handler(call))
        await call.read()
        while True:
            try:
                return self._handle(call)
            except PendingError as pending:
                await pending.work()

    def _no_operation(self, call: Call) -> ApiError:
        """Why a path leads nowhere; a 404 would read as if a thing of that name did not exist."""
        if not call.path.startswith(API):
            return errors.no_route(call.path)
        return errors.NOT_HERE(method=call.method, path=call.path)

    def _handle(self, call: Call) -> Reply:
        operation = call.operation
        with self.state.store.transaction():
            given = () if operation.body is None else (call.body(operation.body, operation.invalid),)
            answer = operation.handler(call, *given)
            reply = answer if isinstance(answer, Result | Raw) else Result(answer, status=operation.status)
            if operation.view is not None and isinstance(reply, Result):
                reply.result = _shown(operation.view, call, reply.result)
            call.query.refuse_leftovers()  # before the transaction ends: what was not understood changes nothing
        return reply

    def _authenticate(self, call: Call) -> None:
        header = call.headers.get("authorization")
        if header is None:
            raise errors.NO_GLOBAL_KEYS() if "x-auth-key" in call.headers else errors.NO_CREDENTIALS()
        scheme, _, value = header.partition(" ")
        if scheme.lower() != "bearer" or not value:
            raise errors.BAD_AUTHORIZATION()
        identity = self.state.identities.recognise(value.strip())
        verifying = call.operation.path.endswith("/tokens/verify")
        if identity is None:
            raise errors.INVALID_TOKEN() if verifying else errors.UNKNOWN_TOKEN()
        call.identity = identity
        # An expired token may still ask what has become of it.
        if not verifying and identity.status(self.state.clock.now()) != "active":
            raise errors.UNKNOWN_TOKEN()
        self._authorise(call)

    def _authorise(self, call: Call) -> None:
        """Find the account or zone the path names and check the token's permission on it."""
        identity, needs, params = call.identity, call.operation.needs, call.params
        if call.operation.base == CONTROL:
            if not identity.root:
                raise errors.FORBIDDEN()
            return
        if "account_id" in params:
            call.account_id = params["account_id"]
            resources = account_resources(call.account_id)
            if not self.state.store.has("account", "", call.account_id):
                raise errors.no_route(call.path)
            refusal = errors.FORBIDDEN
        elif "zone_id" in params:
            zone = self.state.store.get("zone", "", params["zone_id"])
            if zone is None:
                raise errors.no_route(call.path)
            call.zone = zone
            call.account_id = zone["account"]["id"]
            resources = zone_resources(zone["id"], call.account_id)
            refusal = errors.FORBIDDEN_ZONE
        else:
            resources = user_resources(self.state.settings.user.id)
            refusal = errors.FORBIDDEN_ZONE
        if needs and not identity.allows(needs, resources):
            raise refusal()


def _shown(view: View, call: Call, result: Any) -> Any:
    return [view(call, each) for each in result] if isinstance(result, list) else view(call, result)


def _allow(operations: dict[str, Operation]) -> str:
    methods = set(operations) | {"OPTIONS"} | ({"HEAD"} if "GET" in operations else set())
    return ", ".join(sorted(methods))


async def _strike(fault: Fault) -> Raw | None:
    if fault.delay:
        await asyncio.sleep(fault.delay)
    if fault.drop:
        raise DroppedError
    if fault.status is None:
        return None
    body, headers = fault.answer(fault.status)
    if isinstance(body, str):
        return Raw(body.encode(), "text/html", fault.status, headers)
    return Raw(dump(body), status=fault.status, headers=headers)


async def _send(send: Send, reply: Raw, *, head: bool) -> None:
    if reply.status in _BODILESS:
        reply = Raw(b"", None, reply.status, reply.headers)
    body = reply.body
    first, length = reply.window or (0, body.stat().st_size if isinstance(body, Path) else len(body))
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers.items()]
    if reply.content_type:
        headers.append((b"content-type", reply.content_type.encode("latin-1")))
    if "content-length" not in reply.headers and reply.status not in _BODILESS:
        headers.append((b"content-length", str(len(reply.prefix) + length).encode()))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    if head or isinstance(body, bytes):
        await send({"type": "http.response.body", "body": b"" if head else body})
        return
    if reply.prefix:
        await send({"type": "http.response.body", "body": reply.prefix, "more_body": True})
    with body.open("rb") as file:
        file.seek(first)
        while chunk := file.read(min(_CHUNK, length)):
            length -= len(chunk)
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
