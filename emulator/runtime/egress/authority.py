"""A certificate authority of this emulator's own, which sandboxes trust and nobody else.

It signs for whatever name it is asked about, so its key is in this process alone and ends with it; so do all sandboxes
that trust it.
"""

import os
import ssl
from collections import OrderedDict
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emulator.certificates import Issuer

PLACE = "/etc/cloudflare/certs/cloudflare-containers-ca.crt"
"""Where the platform puts its own in a container."""
_NAME = "Cloudflare emulator's authority for sandboxes"
_DAYS = 365
_KEPT = 1_000  # contexts; a sandbox can ask for any number of names


class Authority:
    """Made when it is first needed."""

    def __init__(self) -> None:
        self._contexts: OrderedDict[str, ssl.SSLContext] = OrderedDict()

    @cached_property
    def _issuer(self) -> "Issuer":
        from emulator.certificates import Issuer  # noqa: PLC0415 - only who runs sandboxes waits for the library

        return Issuer(_NAME, _DAYS)

    @cached_property
    def certificate(self) -> str:
        """What a sandbox is to trust, in PEM."""
        return self._issuer.certificate.decode()

    def context(self, host: str) -> ssl.SSLContext:
        """What a server that goes by this name, or has this address, speaks TLS with."""
        found = self._contexts.pop(host, None) or self._make(host)
        self._contexts[host] = found
        if len(self._contexts) > _KEPT:
            self._contexts.popitem(last=False)
        return found

    def _make(self, host: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        _load(context, self._issuer.chain(host))
        return context


def _load(context: ssl.SSLContext, chain: bytes) -> None:
    """The library reads files alone: this one is in memory."""
    handle = os.memfd_create("chain")
    try:
        os.write(handle, chain)
        context.load_cert_chain(f"/proc/self/fd/{handle}")
    finally:
        os.close(handle)
