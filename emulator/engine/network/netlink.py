"""Interfaces, addresses, routes and rules of network namespaces, asked of the kernel itself: no program is needed."""

import os
import socket
import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Self

MAIN = 254  # the table that routes are in unless a rule names another
ANYWHERE = IPv4Network("0.0.0.0/0")

_NEW_LINK, _NEW_ADDRESS, _NEW_ROUTE, _NEW_RULE = 16, 20, 24, 32
_REQUEST, _ACKNOWLEDGE, _EXCLUSIVE, _CREATE = 0x1, 0x4, 0x200, 0x400
_ERROR = 2
_HEADER = struct.Struct("=IHHII")
_UP = 0x1
_NAME, _LINK_INFO, _NAMESPACE = 3, 18, 28
_KIND, _DATA, _PEER = 1, 2, 1
_STATIC, _UNIVERSE, _WITHIN_HOST, _TO_TABLE = 4, 0, 254, 1
_UNICAST, _LOCAL, _UNREACHABLE = 1, 2, 7
_DESTINATION, _OUT, _GATEWAY, _TABLE = 1, 4, 5, 15
_RULE_IN, _RULE_PRIORITY, _RULE_MARK, _RULE_PROTOCOL, _RULE_PORTS = 3, 6, 10, 22, 24


@dataclass(frozen=True)
class Rule:
    """Which packets look up their route in another table."""

    table: int
    priority: int
    to: IPv4Network = ANYWHERE
    tcp_port: int = 0
    mark: int = 0
    arriving_on: str = ""


class Network:
    """The network namespace that this process is in when it is made, and stays in afterwards."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def add_pair(self, name: str, other: str, other_namespace: int) -> None:
        """Make a cable: one end here, the other in another namespace, given as an open file."""
        peer = _interface(0) + _text(_NAME, other) + _number(_NAMESPACE, other_namespace)
        kind = _text(_KIND, "veth") + _attribute(_DATA, _attribute(_PEER, peer))
        self._ask(_NEW_LINK, _interface(0) + _text(_NAME, name) + _attribute(_LINK_INFO, kind), "add an interface")

    def raise_up(self, name: str) -> None:
        """Bring an interface up."""
        self._ask(_NEW_LINK, _interface(socket.if_nametoindex(name), _UP), f"bring up {name}", flags=0)

    def add_address(self, name: str, address: IPv4Address, length: int = 32) -> None:
        """Give an interface an address."""
        head = struct.pack("=BBBBI", socket.AF_INET, length, 0, _UNIVERSE, socket.if_nametoindex(name))
        both = _attribute(1, address.packed) + _attribute(2, address.packed)
        self._ask(_NEW_ADDRESS, head + both, f"give {name} the address {address}")

    def add_route(self, to: IPv4Network, name: str, gateway: IPv4Address, table: int = MAIN) -> None:
        """Lead packets through an interface."""
        where = _number(_OUT, socket.if_nametoindex(name)) + _attribute(_GATEWAY, gateway.packed)
        self._route(to, table, _UNICAST, _UNIVERSE, where)

    def keep_here(self, to: IPv4Network, table: int) -> None:
        """Take packets to these addresses for packets to this machine."""
        self._route(to, table, _LOCAL, _WITHIN_HOST, _number(_OUT, socket.if_nametoindex("lo")))

    def cut_off(self, to: IPv4Network) -> None:
        """Refuse packets to these addresses."""
        self._route(to, MAIN, _UNREACHABLE, _UNIVERSE, b"")

    def add_rule(self, rule: Rule) -> None:
        """Look up the route of some packets elsewhere."""
        head = struct.pack("=8BI", socket.AF_INET, rule.to.prefixlen, 0, 0, 0, 0, 0, _TO_TABLE, 0)
        parts = [_number(_TABLE, rule.table), _number(_RULE_PRIORITY, rule.priority)]
        if rule.to != ANYWHERE:
            parts.append(_attribute(_DESTINATION, rule.to.network_address.packed))
        if rule.tcp_port:
            parts.append(_attribute(_RULE_PROTOCOL, bytes([socket.IPPROTO_TCP])))
            parts.append(_attribute(_RULE_PORTS, struct.pack("=HH", rule.tcp_port, rule.tcp_port)))
        if rule.mark:
            parts.append(_number(_RULE_MARK, rule.mark))
        if rule.arriving_on:
            parts.append(_text(_RULE_IN, rule.arriving_on))
        self._ask(_NEW_RULE, head + b"".join(parts), "add a routing rule")

    def _route(self, to: IPv4Network, table: int, kind: int, scope: int, where: bytes) -> None:
        head = struct.pack("=8BI", socket.AF_INET, to.prefixlen, 0, 0, 0, _STATIC, scope, kind, 0)
        destination = _attribute(_DESTINATION, to.network_address.packed)
        self._ask(_NEW_ROUTE, head + _number(_TABLE, table) + destination + where, f"add a route to {to}")

    def _ask(self, kind: int, content: bytes, what: str, flags: int = _CREATE | _EXCLUSIVE) -> None:
        length = _HEADER.size + len(content)
        self._socket.send(_HEADER.pack(length, kind, _REQUEST | _ACKNOWLEDGE | flags, 1, 0) + content)
        answer = self._socket.recv(16 * 1024)
        code: int = struct.unpack_from("=i", answer, _HEADER.size)[0]
        if _HEADER.unpack_from(answer)[1] == _ERROR and code:
            raise OSError(-code, f"cannot {what}: {os.strerror(-code)}")


def _interface(index: int, up: int = 0) -> bytes:
    return struct.pack("=BxHiII", socket.AF_UNSPEC, 0, index, up, up)


def _attribute(kind: int, content: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(content), kind) + content + bytes(-len(content) % 4)


def _number(kind: int, value: int) -> bytes:
    return _attribute(kind, struct.pack("=I", value))


def _text(kind: int, value: str) -> bytes:
    return _attribute(kind, value.encode() + b"\0")
