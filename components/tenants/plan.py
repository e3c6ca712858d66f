"""Which tenants there are and what each of them gets: names that fit, and settings made of a base and what differs.

A mistake in one tenant's settings is that tenant's own failure and stops nobody else. What several tenants would fight
over, or what would give one another name than it was asked for, is refused before anything is begun.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..errors import UserError
from ..naming import LIMIT, physical_name
from ..platform.storage import BUCKETS, STORES
from ..settings import SandboxSettings, SettingsError

_LABEL: Final = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
_BUCKETS: Final = frozenset(f"storage.{role}.name" for role in BUCKETS)


class TenantsError(UserError):
    """Mistakes that concern the tenants as a whole, one line each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(["The tenants cannot be deployed:", *(f"  {line}" for line in problems)]))
        self.problems = problems


@dataclass(frozen=True)
class Tenant:
    """One tenant: its name, which is its stack's, and its settings, or what is wrong with them."""

    name: str
    settings: SandboxSettings | None
    problem: str = ""
    """What is wrong with the settings, on one line."""


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the base with the changes in it: mappings are merged, of everything else the change counts."""
    found = dict(base)
    for name, value in changes.items():
        there = found.get(name)
        both = isinstance(there, Mapping) and isinstance(value, Mapping)
        found[name] = merged(there, value) if both else value  # type: ignore[arg-type]
    return found


def plan(base: Mapping[str, Any], overrides: Mapping[str, Mapping[str, Any]], account_id: str | None) -> list[Tenant]:
    """Return the tenants in the order given; a TenantsError names everything that concerns several of them."""
    require_names(overrides)
    tenants = [_tenant(name, merged(base, changes), account_id) for name, changes in overrides.items()]
    if wrong := [*_too_long(tenants), *_shared(tenants)]:
        raise TenantsError(wrong)
    return tenants


def require_names(names: Iterable[str]) -> None:
    """Refuse names that no stack and no host could have."""
    rule = "use lower-case letters, digits and hyphens, at most 63, beginning with a letter, not ending with a hyphen"
    wrong = [f"{name!r} cannot name a tenant; {rule}" for name in names if not _LABEL.fullmatch(name)]
    if wrong:
        raise TenantsError(wrong)


def _tenant(name: str, document: Mapping[str, Any], account_id: str | None) -> Tenant:
    try:
        return Tenant(name, SandboxSettings.parse(document, account_id=account_id))
    except SettingsError as error:
        return Tenant(name, None, one_line(error))


def one_line(error: SettingsError) -> str:
    """Return what is wrong with settings without its heading, for a line of a table."""
    return "; ".join(" ".join(problem.split()) for problem in error.problems)


def _too_long(tenants: Iterable[Tenant]) -> Iterator[str]:
    """Names beyond the limit are cut: right for one stack, and no help to who reads a list of a hundred."""
    for tenant in tenants:
        if tenant.settings is None:
            continue
        longest = max((*STORES, *(kind.name for kind in tenant.settings.kinds)), key=len)
        parts = (tenant.settings.name, tenant.name, longest)
        plain, found = "-".join(parts), physical_name(*parts)
        room = LIMIT if found == plain else LIMIT - len(found.rpartition("-")[2]) - 1
        if len(plain) > room:
            yield f"{tenant.name}: {plain} has {len(plain)} characters and would be cut to {room}; use a shorter name"


def _shared(tenants: Iterable[Tenant]) -> Iterator[str]:
    """What is named in the settings, and not after the stack, may be there only once."""
    owners: dict[tuple[str, str, str], str] = {}
    for tenant in tenants:
        for place, what in _own_names(tenant) if tenant.settings else ():
            kind = "bucket" if place in _BUCKETS else place
            owner = owners.setdefault((str(tenant.settings and tenant.settings.account_id), kind, what), tenant.name)
            if owner != tenant.name:
                yield f"{place}: {owner} and {tenant.name} would both have {what}; give each its own"


def _own_names(tenant: Tenant) -> Iterator[tuple[str, str]]:
    settings = tenant.settings
    if settings is None:
        return
    yield "worker.name", settings.worker.name or physical_name(settings.name, tenant.name)
    for kind in settings.kinds:
        if kind.container.name:
            yield "container.name", kind.container.name
    for role in STORES:
        if name := getattr(settings.storage, role).name:
            yield f"storage.{role}.name", name
    for host in sorted(settings.domain.claims) if settings.domain else ():
        yield "domain", host
