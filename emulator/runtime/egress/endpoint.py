"""R2's endpoint as sandboxes reach it: by HTTPS under its own name, with a certificate for that name and no other."""

import ssl
from collections.abc import Awaitable, Callable
from functools import cached_property
from pathlib import Path

from emulator import tls
from emulator.calls import Receive, Scope
from emulator.engine.engine import Served
from emulator.engine.network.egress import HTTPS, SERVED
from emulator.runtime.headers import OURS
from emulator.runtime.proxy.upstream import Send
from emulator.services.r2.rules import JURISDICTIONS
from emulator.services.s3.routes import DOMAIN

Application = Callable[[Scope, Receive, Send], Awaitable[None]]
_NAMES = tuple(f"*.{DOMAIN}" if each == "default" else f"*.{each}.{DOMAIN}" for each in JURISDICTIONS)


class Endpoint:
    """What sandboxes ask of R2 itself, on its way to the services of the emulator."""

    place = (str(SERVED), HTTPS)

    def __init__(self, folder: Path, hosts: Application) -> None:
        """The certificate lies in the folder; `hosts` answers."""
        self._folder = folder
        self._hosts = hosts

    @cached_property
    def _certificate(self) -> tls.Certificate:
        return tls.provide(self._folder, _NAMES)

    @cached_property
    def served(self) -> Served:
        """What a sandbox is told of it."""
        return Served((DOMAIN,), self._certificate.file.read_text(encoding="ascii"))

    @cached_property
    def context(self) -> ssl.SSLContext:
        """What a connection is opened with."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self._certificate.file, self._certificate.key)
        return context

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; a sandbox cannot speak for the emulator."""
        kept = [each for each in scope["headers"] if not each[0].startswith(OURS)]
        await self._hosts({**scope, "headers": kept}, receive, send)
