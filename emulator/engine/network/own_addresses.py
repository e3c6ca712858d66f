"""The addresses of this machine, which no sandbox's internet leads to: asked of the kernel, told by it as they come.

They are those of the network namespace in which the question was opened, wherever it is read: a supervisor, which is in
another one, hears of a Wi-Fi, a VPN or a bridge that comes up while its sandbox runs.
"""

import contextlib
import errno
import os
import socket
import struct
from ipaddress import IPv4Network

_NEW_ROUTE, _GET_ROUTE, _DONE, _ERROR = 24, 26, 3, 2
_REQUEST, _ALL = 0x1, 0x300
_ROUTES_OF_IPV4 = 0x40  # the group that hears of changes
_HEADER, _ROUTE, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=8BI"), struct.Struct("=HH")
_LOCAL_TABLE, _LOCAL, _DESTINATION = 255, 2, 1
_NETLINK, _ONLY_WHAT_IS_ASKED = 270, 12
_LARGEST = 64 * 1024
_SECONDS = 5.0  # for an answer that takes microseconds


class OwnAddresses:
    """One listener. OSError when the kernel does not tell."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE)
        try:
            with contextlib.suppress(OSError):  # older kernels list all tables
                self._socket.setsockopt(_NETLINK, _ONLY_WHAT_IS_ASKED, 1)
            self._socket.bind((0, _ROUTES_OF_IPV4))
            self._ask()
            self.present = self._wait()  # when this was made
        except OSError:
            self._socket.close()
            raise

    def fileno(self) -> int:
        """The number of the open file, which has something to read when there is something new."""
        return self._socket.fileno()

    def close(self) -> None:
        """Hear no more."""
        self._socket.close()

    def new(self) -> set[IPv4Network]:
        """What has come since; when too much came at once to be told, all of it is told again later."""
        found: set[IPv4Network] = set()
        with contextlib.suppress(BlockingIOError):
            while True:
                try:
                    found |= _read(self._socket.recv(_LARGEST))[0]
                except OSError as error:
                    if error.errno != errno.ENOBUFS:
                        raise
                    self._ask()
        return found

    def _ask(self) -> None:
        wanted = _ROUTE.pack(socket.AF_INET, 0, 0, 0, _LOCAL_TABLE, 0, 0, _LOCAL, 0)
        self._socket.send(_HEADER.pack(_HEADER.size + len(wanted), _GET_ROUTE, _REQUEST | _ALL, 1, 0) + wanted)

    def _wait(self) -> set[IPv4Network]:
        self._socket.settimeout(_SECONDS)
        found: set[IPv4Network] = set()
        done = False
        while not done:
            more, done = _read(self._socket.recv(_LARGEST))
            found |= more
        self._socket.setblocking(False)
        return found


def _read(said: bytes) -> tuple[set[IPv4Network], bool]:
    """The addresses in a message that are routed to this machine itself, and whether the list ends with it."""
    found: set[IPv4Network] = set()
    done = False
    at = 0
    while at + _HEADER.size <= len(said):
        length, kind, *_ = _HEADER.unpack_from(said, at)
        content = said[at + _HEADER.size : at + length]
        if kind == _ERROR:
            raise OSError(-struct.unpack_from("=i", content)[0], os.strerror(-struct.unpack_from("=i", content)[0]))
        done = done or kind == _DONE
        if kind == _NEW_ROUTE and (network := _of_this_machine(content)):
            found.add(network)
        at += max(length + 3 & ~3, _HEADER.size)
    return found, done


def _of_this_machine(route: bytes) -> IPv4Network | None:
    family, length, _, _, table, _, _, kind, _ = _ROUTE.unpack_from(route)
    if (family, table, kind) != (socket.AF_INET, _LOCAL_TABLE, _LOCAL):
        return None
    at = _ROUTE.size
    while at + _ATTRIBUTE.size <= len(route):
        size, name = _ATTRIBUTE.unpack_from(route, at)
        if name == _DESTINATION:
            network = IPv4Network((route[at + _ATTRIBUTE.size : at + size], length))
            return None if network.is_loopback else network
        at += max(size + 3 & ~3, _ATTRIBUTE.size)
    return None
