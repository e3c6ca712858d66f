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
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .app import App
from .registry import API

LOOPBACK = "127.0.0.1"
_BACKLOG = 2048


class PortInUseError(Exception):
    """The port cannot be had."""


class _Protocol(HttpToolsProtocol):
    """Lets the application cut a connection, which ASGI has no word for."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}


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


def base_url(listener: socket.socket) -> str:
    """The API's address."""
    return f"http://{LOOPBACK}:{listener.getsockname()[1]}{API}"


def make_server(app: App) -> Server:
    """A server for the application, silent unless something is wrong."""
    config = uvicorn.Config(
        app,
        http=_Protocol,
        loop="uvloop",
        ws="none",
        lifespan="off",
        proxy_headers=False,
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=1,
    )
    return Server(config)


async def run(app: App, server: Server, listener: socket.socket) -> None:
    """Serve between the services' start and stop."""
    await app.start()
    try:
        await server.serve(sockets=[listener])
    finally:
        await app.stop()


def serve(app: App, listener: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM."""
    server = make_server(app)

    async def main() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, server.stop)
        await run(app, server, listener)

    with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
        runner.run(main())
