"""Listening on loopback.

Binds 127.0.0.1 and nothing else, serves until told to stop, and stops at once: state is safe at every moment.
"""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn
import uvloop
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .app import App
from .registry import API
from .tls import Certificate

LOOPBACK = "127.0.0.1"
PATIENCE = 20.0
"""Seconds without a byte amid a request, or for the whole of a TLS handshake."""

_BACKLOG = 2048
_KEPT = 75  # seconds between requests


class PortInUseError(Exception):
    """The port cannot be had."""


class _Protocol(HttpToolsProtocol):
    """Lets the application cut a connection, which ASGI has no word for, and cuts those that stop amid a request."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}
        self._unfinished = True  # from the first byte expected to the last byte of a request
        self._watch: asyncio.TimerHandle | None = None
        self._wait()

    def data_received(self, data: bytes) -> None:
        self._wait()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._unfinished = False
        self._wait()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        self._unfinished = True
        self._wait()
        super().on_message_begin()

    def on_message_complete(self) -> None:
        self._unfinished = False
        self._wait()
        super().on_message_complete()

    def _wait(self) -> None:
        """Wait anew for what the client has still to send, if there is anything."""
        if self._watch:
            self._watch.cancel()
            self._watch = None
        if self._unfinished:
            self._watch = self.loop.call_later(PATIENCE, self._lose_patience)

    def _lose_patience(self) -> None:
        if self.flow.read_paused:
            self._wait()  # it is the application that does not take more
        else:
            self.transport.close()


class _Loop(uvloop.Loop):
    """Cuts connections whose TLS handshake does not come to its end, which uvicorn has no setting for."""

    async def create_server(self, *arguments: Any, **options: Any) -> Any:
        if options.get("ssl"):
            options["ssl_handshake_timeout"] = PATIENCE
        return await super().create_server(*arguments, **options)


class Server(uvicorn.Server):
    """A uvicorn server that leaves signals to the caller and stops without waiting for clients."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install nothing: tests run it on a thread, the program has its own handlers."""
        yield

    def stop(self) -> None:
        """End now."""
        self.should_exit = True
        self.force_exit = True


def listen(port: int) -> socket.socket:
    """A listening socket on loopback; port 0 takes any."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise PortInUseError(f"Port {port} on {LOOPBACK} is in use; choose another with --port.") from error
    listener.setblocking(False)
    return listener


def base_url(listener: socket.socket, scheme: str = "http") -> str:
    """The API's address."""
    return f"{scheme}://{LOOPBACK}:{listener.getsockname()[1]}{API}"


def make_server(app: App, certificate: Certificate | None = None) -> Server:
    """A server for the application, silent unless something is wrong; with a certificate it speaks HTTPS."""
    config = uvicorn.Config(
        app,
        http=_Protocol,
        loop="none",
        ws="none",
        lifespan="off",
        proxy_headers=False,
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_keep_alive=_KEPT,
        timeout_graceful_shutdown=1,
        ssl_certfile=certificate.file if certificate else None,
        ssl_keyfile=certificate.key if certificate else None,
    )
    return Server(config)


Served = dict[socket.socket, Server]


async def run(app: App, served: Served) -> None:
    """Serve between the services' start and stop."""
    await app.start()
    try:
        await asyncio.gather(*(server.serve(sockets=[listener]) for listener, server in served.items()))
    finally:
        await app.stop()


def stop(served: Served) -> None:
    """End now."""
    for server in served.values():
        server.stop()


def serve(app: App, served: Served) -> None:
    """Serve until SIGINT or SIGTERM."""

    async def main() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop, served)
        await run(app, served)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(main())


def new_loop() -> asyncio.AbstractEventLoop:
    """An event loop, which all servers of a run share."""
    return _Loop()
