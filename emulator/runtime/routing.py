"""From the address of a request to the script that answers it, as the edge decides.

Routes come first, the most specific pattern winning; then custom domains, then workers.dev names. People whose machine
knows none of these names add `.localhost`: unless a zone of the account has that very name, `<host>.localhost` means
`<host>`, and `<script>.localhost` (with anything before it) means the script.
"""

import ipaddress
import re
from dataclasses import dataclass
from functools import lru_cache

from emulator.services.workers import rules as workers
from emulator.services.workers_domains.rules import DOMAIN
from emulator.services.workers_routes.rules import ROUTE
from emulator.services.workers_triggers.rules import subdomain
from emulator.store import Document, Store

_PATTERN = re.compile(r"(?:(?P<scheme>https?|\*)://)?(?P<host>[^/]+)(?P<path>/.*)?")
_WORKERS_DEV = ".workers.dev"
_LOCAL = ".localhost"


@dataclass(frozen=True)
class Address:
    """What a client asked for."""

    scheme: str
    host: str  # as sent, with its port
    path: str

    @property
    def name(self) -> str:
        """The host without its port."""
        return host_name(self.host)


@dataclass(frozen=True)
class Target:
    """Who answers, and the host it is told: that of the client, unless a name for people was used."""

    account: str
    script: str
    host: str


def host_name(host: str) -> str:
    """A host in lower case without port or final dot."""
    name = host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
    return name.lower().rstrip(".")


@lru_cache(1024)
def is_own_name(host: str) -> bool:
    """Whether a host is the emulator's own: its API and registry are asked by address, not by name."""
    name = host_name(host)
    if not name or name == "localhost":
        return True
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def find_target(store: Store, address: Address) -> Target | None:
    """The script that answers; None when there is none."""
    name = address.name
    found = _public(store, address.scheme, name, address.path)
    if found or not name.endswith(_LOCAL):
        return Target(*found, address.host) if found else None
    plain = name.removesuffix(_LOCAL)
    found = _public(store, address.scheme, plain, address.path)
    if found:
        return Target(*found, plain)
    found = _by_script(store, plain.rpartition(".")[2])
    return Target(*found, address.host) if found else None


def _public(store: Store, scheme: str, name: str, path: str) -> tuple[str, str] | None:
    route = _route(store, scheme, name, path)
    if route and "script" in route[1]:
        return route[0], route[1]["script"]
    for account, domain in store.find_anywhere(DOMAIN, "hostname", name):
        if domain["enabled"]:
            return account, domain["service"]
    return _workers_dev(store, name)


def _route(store: Store, scheme: str, name: str, path: str) -> tuple[str, Document] | None:
    """The account and the most specific route that matches, in the closest zone of the name."""
    labels = name.split(".")
    for start in range(len(labels) - 1):
        for zone in store.find("zone", "", "name", ".".join(labels[start:])):
            routes = [each for each in store.select(ROUTE, zone["id"]) if matches(each["pattern"], scheme, name, path)]
            if routes:
                return zone["account"]["id"], max(routes, key=lambda each: specificity(each["pattern"]))
    return None


def matches(pattern: str, scheme: str, name: str, path: str) -> bool:
    """Whether a route pattern covers a request."""
    found = _PATTERN.fullmatch(pattern)
    if found is None or found["scheme"] not in (None, "*", scheme):
        return False
    host, place = found["host"].lower(), found["path"] or "/"
    if host.startswith("*."):
        fits = name.endswith(host[1:])
    elif host.startswith("*"):
        fits = name == host[1:] or name.endswith(f".{host[1:]}")
    else:
        fits = name == host
    return fits and (path.startswith(place[:-1]) if place.endswith("*") else path == place)


def specificity(pattern: str) -> tuple[bool, int, int]:
    """Grows with how narrow a pattern is: a whole host before a wildcard, then longer hosts, then longer paths."""
    found = _PATTERN.fullmatch(pattern)
    host, path = (found["host"], found["path"] or "/") if found else ("", "")
    return not host.startswith("*"), len(host), len(path)


def _workers_dev(store: Store, name: str) -> tuple[str, str] | None:
    script, _, owner = name.removesuffix(_WORKERS_DEV).partition(".")
    if not name.endswith(_WORKERS_DEV) or "." in owner:
        return None
    for account in store.keys("account", ""):
        worker = workers.find(store, account, script) if subdomain(store, account) == owner else None
        if worker and worker["subdomain"]["enabled"]:
            return account, script
    return None


def _by_script(store: Store, script: str) -> tuple[str, str] | None:
    for account in store.keys("account", ""):
        if store.has(workers.WORKER, account, script):
            return account, script
    return None
