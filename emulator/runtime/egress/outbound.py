"""Requests that leave a sandbox for an address that its object intercepts, on their way to the object.

A request whose address turns out not to be intercepted (with internet, a name has an address that others share) goes
where it was meant to go. What is encrypted ends here: sandboxes trust an authority of the emulator's own.
"""

import asyncio
import contextlib
import json
import resource
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from emulator.calls import Receive, Scope
from emulator.engine.container import NotListeningError, Outgoing
from emulator.engine.network.egress import GATE
from emulator.engine.network.patterns import Pattern, best
from emulator.runtime.headers import DISPATCHER_KEY_HEADER, PROTOCOL_HEADER
from emulator.runtime.proxy.tunnel import LARGEST_HEAD
from emulator.runtime.proxy.upstream import BrokenError, Head, Headers, Send, Upstream
from emulator.runtime.sandboxes.sandbox import Sandbox
from emulator.runtime.sandboxes.secret import Secrets
from emulator.runtime.workerd.assemble import DISPATCHER
from emulator.runtime.workerd.groups import Groups
from emulator.services.durable_objects.rules import NAMESPACE
from emulator.store import Store

from .authority import Authority
from .encrypted import joined, server_name
from .endpoint import Application, Endpoint

MOST_CONNECTIONS = 256  # of one sandbox
SHARE = 4  # all sandboxes together have one part in so many of the files that the emulator may open
HANDSHAKE_SECONDS = 20
IDLE_SECONDS = 60  # for which a connection may say nothing before a request and between two


class _Protocol(HttpToolsProtocol):
    """Lets the application join the connection with another, and ends one that asks for nothing or never has asked."""

    _patience: asyncio.TimerHandle | None = None
    _between = 0  # bytes that are no body since the last that were: the address, headers, trailers and the like

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}
        self._patience = asyncio.get_running_loop().call_later(IDLE_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        self._between += len(data)
        super().data_received(data)
        if self._between > LARGEST_HEAD:
            self.transport.abort()

    def on_headers_complete(self) -> None:
        self._between = 0
        self._be_patient()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._between = 0
        super().on_body(body)

    def connection_lost(self, exc: Exception | None) -> None:
        self._be_patient()
        super().connection_lost(exc)

    def _be_patient(self) -> None:
        if self._patience:
            self._patience.cancel()
            self._patience = None


@dataclass(frozen=True)
class _Traffic:
    """The connections of one sandbox, and those that are not served yet."""

    state: ServerState = field(default_factory=ServerState)
    arriving: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def connections(self) -> int:
        return len(self.state.connections) + len(self.arriving)


@dataclass(frozen=True)
class _Request:
    """What was asked, of whom, and by which sandbox."""

    sandbox: Sandbox
    outgoing: Outgoing
    greeted: str | None  # the name that was asked for within TLS; None where nothing is encrypted
    scope: Scope
    host: str = field(init=False)

    def __post_init__(self) -> None:
        named = next((value for name, value in self.scope["headers"] if name == b"host"), b"").decode("latin-1")
        object.__setattr__(self, "host", named or self.greeted or self.outgoing.address)

    @property
    def name(self) -> str:
        """The host without its port."""
        name, _, port = self.host.rpartition(":")
        return (name if port.isdecimal() else self.host).lower().rstrip(".")

    @property
    def is_misdirected(self) -> bool:
        """Whether the connection was made to one host and asks for another, so that two could judge differently."""
        return bool(self.greeted) and self.greeted != self.name

    @property
    def url(self) -> str:
        scheme = "http" if self.greeted is None else "https"
        return f"{scheme}://{self.host}{Head.of(self.scope, []).target.decode('latin-1')}"

    @property
    def transport(self) -> asyncio.Transport:
        return cast("asyncio.Transport", self.scope["state"]["transport"])

    def pattern(self) -> str | None:
        """The address under which the object intercepts it."""
        found = _best(self.sandbox, self.outgoing, self.name, secure=self.greeted is not None)
        return found.text if found else None


class Outbound:
    """Serves the connections of all sandboxes."""

    def __init__(
        self,
        store: Store,
        groups: Groups,
        secrets: Secrets,
        dispatcher_key: str,
        *,
        authority: Authority,
        endpoint: Endpoint,
    ) -> None:
        """Objects know by `secrets` that a request comes from the emulator, the dispatcher by its key.

        Sandboxes trust `authority`; `endpoint` answers what is for R2 itself.
        """
        self._store = store
        self._groups = groups
        self._secrets = secrets
        self._dispatcher_key = dispatcher_key
        self._authority = authority
        self._traffic: dict[int, _Traffic] = {}  # by sandbox
        self._endpoint = endpoint
        self._config = _config(self._answer)
        self._endpoint_config = _config(endpoint.answer)

    def accept(self, sandbox: Sandbox, outgoing: Outgoing) -> None:
        """Serve a connection; one too many is closed at once."""
        traffic = self._traffic.get(id(sandbox))
        if traffic is None:
            traffic = self._traffic[id(sandbox)] = _Traffic()
            sandbox.ended.add_done_callback(lambda _: self._forget(id(sandbox)))
        in_all = sum(each.connections for each in self._traffic.values())
        if traffic.connections >= MOST_CONNECTIONS or in_all >= resource.getrlimit(resource.RLIMIT_NOFILE)[0] // SHARE:
            outgoing.socket.close()
            return
        task = asyncio.ensure_future(self._serve(sandbox, outgoing, traffic.state))
        traffic.arriving.add(task)
        task.add_done_callback(traffic.arriving.discard)

    async def _serve(self, sandbox: Sandbox, outgoing: Outgoing, state: ServerState) -> None:
        """An object that intercepts a name comes before what this machine serves under it."""
        secret = any(each.secure and each.port == outgoing.port for each in sandbox.outbound.values())
        config, context, greeted = self._config, None, None
        if secret:
            try:
                async with asyncio.timeout(IDLE_SECONDS):
                    greeted = await server_name(outgoing.socket)
            except (OSError, TimeoutError):
                outgoing.socket.close()
                return
        if greeted is not None and _best(sandbox, outgoing, greeted, secure=True):
            context = self._authority.context(greeted or outgoing.address)
        elif sandbox.reaches_endpoint and (outgoing.address, outgoing.port) == self._endpoint.place:
            config, context = self._endpoint_config, self._endpoint.context
        elif secret:
            await self._past(sandbox, outgoing)
            return
        if not config.loaded:
            config.load()
        told = {"sandbox": sandbox, "outgoing": outgoing, "greeted": greeted}
        with contextlib.suppress(OSError):  # a sandbox may break off, or say nothing that makes sense
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: _Protocol(config=config, server_state=state, app_state=told),
                outgoing.socket,
                ssl=context,
                ssl_handshake_timeout=HANDSHAKE_SECONDS if context else None,
            )

    async def _past(self, sandbox: Sandbox, outgoing: Outgoing) -> None:
        """Join what is encrypted, and nobody's here, with whom it was meant for."""
        try:
            onward = await _bypass(sandbox, outgoing)
        except OSError:
            outgoing.socket.close()
            return
        await joined(outgoing.socket, onward)

    def _forget(self, sandbox: int) -> None:
        traffic = self._traffic.pop(sandbox)
        for task in traffic.arriving:
            task.cancel()
        for each in list(traffic.state.connections):
            cast("Any", each).transport.abort()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        sandbox: Sandbox = scope["state"]["sandbox"]
        request = _Request(sandbox, scope["state"]["outgoing"], scope["state"]["greeted"], scope)
        pattern = request.pattern()
        try:
            if request.is_misdirected:
                await _say(send, 421, f"This connection is to {request.greeted}, which this request is not for.")
            elif pattern is not None:
                await self._to_object(request, pattern, receive, send)
            elif request.greeted is None and _leads_on(sandbox, request.outgoing):
                await self._onward(request, receive, send)
            else:
                request.transport.abort()  # nobody is there
        except BrokenError as error:
            if error.started:
                request.transport.abort()  # half an answer must not look like a whole one
            else:
                await _say(send, 502, "The connection was lost before there was an answer.")

    async def _to_object(self, request: _Request, pattern: str, receive: Receive, send: Send) -> None:
        key = request.sandbox.key
        namespace = self._store.get(NAMESPACE, key.account, key.namespace)
        if namespace is None:
            await _say(send, 502, "The Durable Object of this sandbox is gone.")
            return
        headers: Headers = [
            (DISPATCHER_KEY_HEADER.encode(), self._dispatcher_key.encode()),
            (b"x-emulator-dispatcher", json.dumps({"namespace": key.namespace, "object": key.object}).encode()),
            (b"x-emulator-dispatch", self._secrets.of(key.account, key.namespace).encode()),
            (b"x-emulator-container", json.dumps({"address": pattern, "url": request.url}).encode()),
        ]
        head = Head.of(request.scope, headers, without=frozenset((PROTOCOL_HEADER.encode(),)))
        async with self._groups.serving(key.account, namespace["script"]) as group:
            if group is None or group.failure:
                await _say(send, 502, "The Worker of this sandbox does not run.")
                return
            await _pass_on(group.upstreams[DISPATCHER], head, request, receive, send)

    async def _onward(self, request: _Request, receive: Receive, send: Send) -> None:
        async def dial(protocol: Callable[[], asyncio.Protocol]) -> Any:
            opened = await _bypass(request.sandbox, request.outgoing)
            return await asyncio.get_running_loop().create_connection(protocol, sock=opened)

        upstream = Upstream(dial)
        try:
            await _pass_on(upstream, Head.of(request.scope, []), request, receive, send)
        finally:
            upstream.close()


def _best(sandbox: Sandbox, outgoing: Outgoing, name: str, *, secure: bool) -> Pattern | None:
    return best(sandbox.outbound.values(), name, IPv4Address(outgoing.address), outgoing.port, secure=secure)


def _leads_on(sandbox: Sandbox, outgoing: Outgoing) -> bool:
    """Whether there is anybody beyond; behind the gate's own address there is but the gate."""
    return bool(sandbox.container and sandbox.container.internet) and outgoing.address != str(GATE)


async def _bypass(sandbox: Sandbox, outgoing: Outgoing) -> socket.socket:
    """A connection to whom one was meant for; ConnectionError where there is none."""
    if sandbox.container is None or not _leads_on(sandbox, outgoing):
        raise ConnectionError
    try:
        return await sandbox.container.bypass(outgoing.address, outgoing.port)
    except (NotListeningError, TimeoutError) as error:
        raise ConnectionError from error


def _config(application: Application) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        interface="asgi3",
        http=_Protocol,
        ws="none",
        lifespan="off",
        proxy_headers=False,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=IDLE_SECONDS,
    )


async def _pass_on(upstream: Upstream, head: Head, request: _Request, receive: Receive, send: Send) -> None:
    if tunnel := await upstream.pass_on(head, receive, send, request.transport):
        await tunnel.last()


async def _say(send: Send, status: int, text: str) -> None:
    content = f"{text}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
