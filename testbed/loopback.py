"""Nothing but this machine: what keeps every test from addressing anybody else.

`tests/conftest.py` calls `enforce` before any test is loaded, and so does every program in `bench/` and
`docs/generators/` before anything else. In this process whoever connects or sends to, or looks up, a host that is not
on loopback is stopped and fails the test that runs. Processes that tests start inherit proxies that lead nowhere, which
the HTTP clients in use respect. Names under `.invalid` may be looked up: the answer, that there is no such name
(RFC 6761), is given here and nobody is asked. What has to fetch packages, and so belongs to set-up, says so with
`registries` or `with_registries`.
"""

import json
import os
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any, Final

NOWHERE: Final = "http://127.0.0.1:9"
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY")  # httpx takes time for each when it makes a client
_HERE: Final = "localhost,.localhost,127.0.0.1,::1"
CLOSED: Final[Mapping[str, str]] = {
    **{spelt: NOWHERE for name in _PROXIES for spelt in (name, name.lower())},
    "NO_PROXY": _HERE,
    "no_proxy": _HERE,
    "NODE_USE_ENV_PROXY": "1",
}
_BEFORE: Final = "SANDBOX_TESTS_PROXIES"
"""Variable that keeps what the proxies were: the workers of pytest-xdist inherit what `enforce` has set."""

_INTERNET: Final = (socket.AF_INET, socket.AF_INET6)
_strangers: Final[list[str]] = []


class AddressedError(OSError):
    """A test has addressed another machine."""


def enforce() -> None:
    """Close this process, and all that it will start."""
    if _BEFORE not in os.environ:
        os.environ[_BEFORE] = json.dumps({name: os.environ[name] for name in CLOSED if name in os.environ})
    os.environ.update(CLOSED)
    sys.addaudithook(_watch)


def addressed() -> list[str]:
    """Return the strangers that were addressed since the last time."""
    found = list(_strangers)
    _strangers.clear()
    return found


def with_registries(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment for a process that fetches packages: with the proxies of whoever started the tests."""
    kept = {name: value for name, value in environment.items() if name not in CLOSED and name != _BEFORE}
    before: dict[str, str] = json.loads(os.environ.get(_BEFORE, "{}"))
    return kept | before


@contextmanager
def registries() -> Iterator[None]:
    """Let the processes that are started in the block fetch packages."""
    closed = dict(os.environ)
    opened = with_registries(closed)
    try:
        _become(opened)
        yield
    finally:
        _become(closed)


def _become(environment: Mapping[str, str]) -> None:
    for name in (*CLOSED, _BEFORE):
        os.environ.pop(name, None)
        if name in environment:
            os.environ[name] = environment[name]


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        # A message of a socket that is connected names nobody.
        if arguments[0].family in _INTERNET and isinstance(arguments[1], tuple):
            _refuse(arguments[1][0])
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        if _name(arguments[0]).endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        _refuse(arguments[0])


def _name(host: object) -> str:
    return host.decode() if isinstance(host, bytes) else str(host or "localhost")


def _refuse(host: object) -> None:
    name = _name(host)
    if not is_here(name):
        _strangers.append(name)
        raise AddressedError(f"a test has addressed {name}, which is not on loopback; let it ask the emulator")


def is_here(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
