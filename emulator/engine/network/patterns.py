"""Addresses whose requests are intercepted: `[https://]<address | network | host name with *>[:port]`. Pure.

With the scheme in front, requests within TLS are meant.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_network

_PORT, _SECURE_PORT = 80, 443
SECURE = "https://"
_LARGEST_PORT = 65_535
_NAME = re.compile(r"[a-z0-9*_]([a-z0-9*_.-]*[a-z0-9*_])?")


@dataclass(frozen=True)
class Pattern:
    """One address as it was registered, and what it means."""

    text: str
    port: int
    network: IPv4Network | IPv6Network | None  # None: it is a name
    name: str = ""
    secure: bool = False

    def covers_name(self, name: str) -> bool:
        """Whether it means a host of this name; `*` stands for anything, dots included."""
        return self.network is None and re.fullmatch(re.escape(self.name).replace(r"\*", ".*"), name) is not None

    def covers_address(self, address: IPv4Address) -> bool:
        """Whether it means this address; the name `*` means every one."""
        return address in self.network if self.network else self.name == "*"

    @property
    def rank(self) -> tuple[int, int]:
        """Which of several that fit counts: a whole name, then names and networks by how much they say."""
        if self.network:
            return 1, self.network.prefixlen
        return (1, -1) if self.name == "*" else (2, len(self.name)) if "*" in self.name else (3, 0)


def parse(text: str) -> Pattern:
    """Read an address as `interceptOutboundHttp` takes it; ValueError says what is wrong with it."""
    said = text.strip().lower()
    secure = said.startswith(SECURE)
    host, port = _split(said.removeprefix(SECURE), _SECURE_PORT if secure else _PORT)
    if not 1 <= port <= _LARGEST_PORT:
        raise ValueError(f"Invalid outbound address {text!r}: ports go from 1 to {_LARGEST_PORT}.")
    try:
        return Pattern(text, port, ip_network(host, strict=False), secure=secure)
    except ValueError:
        name = host.rstrip(".")
    if not _NAME.fullmatch(name) or "/" in name:
        raise ValueError(f"Invalid outbound address {text!r}: give an IP address, a CIDR or a host name, and a port.")
    return Pattern(text, port, None, name, secure)


def _split(text: str, otherwise: int) -> tuple[str, int]:
    bracketed = re.fullmatch(r"\[([^\]]+)\](?::(\d{1,5}))?", text)
    plain = re.fullmatch(r"([^:]+):(\d{1,5})", text)
    found = bracketed or plain
    return (found[1], int(found[2] or otherwise)) if found else (text, otherwise)


def best(
    patterns: Iterable[Pattern], host: str, address: IPv4Address, port: int, *, secure: bool = False
) -> Pattern | None:
    """The one that decides on a request for a host that went to an address; the host may be an address itself."""
    fitting = [
        each
        for each in patterns
        if (each.port, each.secure) == (port, secure) and (each.covers_name(host) or each.covers_address(address))
    ]
    return max(fitting, key=lambda each: each.rank, default=None)
