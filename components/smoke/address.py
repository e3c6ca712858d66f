"""Where a deployment is: the name it is asked by, and the place connections are made to. Pure."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from ..errors import UserError

_PORTS: Final = {"http": 80, "https": 443}
_HOST: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")
_LOOPBACK: Final = "127.0.0.1"


class AddressError(UserError):
    """An address that cannot be used; the message says why."""


@dataclass(frozen=True)
class Address:
    """A host as requests name it, and where it is reached."""

    scheme: str
    host: str
    port: int
    connect_host: str
    connect_port: int

    @property
    def netloc(self) -> str:
        """The host header: the port only where it is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The address without path."""
        return f"{self.scheme}://{self.netloc}"

    @property
    def is_redirected(self) -> bool:
        """Whether connections go elsewhere than the name says."""
        return (self.connect_host, self.connect_port) != (_place(self.host), self.port)

    def of(self, netloc: str) -> "Address":
        """A preview host of the same deployment: reached like the API where that is on loopback or redirected."""
        host = netloc.partition(":")[0].lower()
        if self.is_redirected or is_local(self.host):
            return Address(self.scheme, host, self.port, self.connect_host, self.connect_port)
        # Outside, previews are always on the usual port: the wildcard route has no other.
        port = _PORTS[self.scheme]
        return Address(self.scheme, host, port, host, port)


def is_local(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _place(host: str) -> str:
    # Browsers and curl know that these names are this machine; the resolver of many systems does not.
    return _LOOPBACK if host.endswith(".localhost") else host


def _split(text: str, what: str) -> tuple[str, int | None]:
    """Host and port of an authority."""
    host, port = (text, "") if text.endswith("]") or ":" not in text else text.rsplit(":", 1)
    if not _HOST.fullmatch(host) or (port and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536)):
        raise AddressError(f"{what}: {text!r} is not a host, or host:port")
    return host.strip("[]").lower(), int(port) if port else None


def parse(url: str, connect: str | None = None) -> Address:
    """The address of a deployment; `connect` is where connections are made instead, as `host:port`."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.netloc:
        raise AddressError(f"{url!r} is not a URL such as https://sandbox.example.com")
    if "@" in parts.netloc or parts.path.strip("/") or parts.query or parts.fragment:
        raise AddressError("give the URL without user, path, query or fragment, such as https://sandbox.example.com")
    host, given = _split(parts.netloc, "URL")
    port = given or _PORTS[parts.scheme]
    connect_host, connect_port = _split(connect, "--connect") if connect else (_place(host), None)
    return Address(parts.scheme, host, port, connect_host, connect_port or port)


def in_clear(address: Address) -> bool:
    """Whether others could read what is sent."""
    return address.scheme == "http" and not is_local(address.connect_host)
