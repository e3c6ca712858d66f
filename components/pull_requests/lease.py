"""Until when a stack is wanted, by which request, and what is its own in the account: kept as tags of the stack. Pure.

Tags lie beside the state and not in it. They are there before the first resource is, stay when a run is killed, are
gone with the stack, and need nothing of the program. Pulumi Cloud limits a value to 256 characters.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from ..errors import UserError
from ..settings.domain import DomainSettings

LEASE: Final = "sandbox-stack:lease"
HOSTS: Final = "sandbox-stack:hosts"
_STACK: Final = re.compile(r"pr-([1-9][0-9]{0,8})")
_LASTS: Final = re.compile(r"([1-9][0-9]{0,3})([hd])")
_STAMP: Final = "%Y-%m-%dT%H:%M:%SZ"
_NOBODY: Final = "-"


@dataclass(frozen=True)
class Lease:
    """What was agreed when the stack was made, or made anew."""

    expires: datetime
    name: str
    """The settings' name, with which all names in the account begin."""
    request: str = ""
    """Address of the request; empty for a stack that was made by hand."""
    hosts: tuple[str, ...] = ()
    """Hosts that nobody but this stack has."""

    @property
    def tags(self) -> dict[str, str]:
        """The tags, in the order in which they are set: who finds the lease finds the hosts, too."""
        lease = f"{self.expires.astimezone(UTC).strftime(_STAMP)} {self.name} {self.request or _NOBODY}"
        return {HOSTS: " ".join(self.hosts) or _NOBODY, LEASE: lease}


def read_lease(tags: Mapping[str, str]) -> Lease | None:
    """Return what a stack's tags say; None for a stack that was not made for a request."""
    parts = tags.get(LEASE, "").split(" ")
    if len(parts) != 3:
        return None
    try:
        expires = datetime.strptime(parts[0], _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None
    hosts = tags.get(HOSTS, _NOBODY)
    return Lease(expires, parts[1], parts[2].removeprefix(_NOBODY), () if hosts == _NOBODY else tuple(hosts.split(" ")))


def stack_of(number: int) -> str:
    """Return the name of a request's stack."""
    return f"pr-{number}"


def number_of(stack: str) -> int | None:
    """Return the request that a stack is for; None for other stacks. Pulumi Cloud puts the organisation before."""
    found = _STACK.fullmatch(stack.rpartition("/")[2])
    return int(found[1]) if found else None


def hosts_of(domain: DomainSettings | None) -> tuple[str, ...]:
    """Return the hosts for which DNS records, routes and certificates of a stack are made."""
    if domain is None:
        return ()
    return tuple(dict.fromkeys(filter(None, [domain.hostname, domain.api_hostname])))


def lasting(text: str) -> timedelta:
    """Read how long a stack is wanted."""
    found = _LASTS.fullmatch(text)
    if not found:
        raise UserError(f"--expires-in {text}: is no time; write hours or days, such as 12h or 7d")
    return timedelta(**{{"h": "hours", "d": "days"}[found[2]]: int(found[1])})


def read_tags(document: Any) -> dict[str, str]:
    """Return tags as `pulumi stack tag ls --json` prints them."""
    return {str(key): str(value) for key, value in (document or {}).items()}
