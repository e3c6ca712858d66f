"""Which permissions the API token of a deployment needs, each with the part of the stack that needs it. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..platform import permissions, storage
from ..platform.permissions import ACCOUNT, Permission
from .document import SandboxSettings


@dataclass(frozen=True)
class Need:
    """A permission, where it must hold, and what for."""

    permission: Permission
    what_for: str
    """The parts of the stack, as settings call them."""
    zone: str = ""
    """Name of the zone it is about, or its id where the settings have no name; empty for the account."""

    @property
    def label(self) -> str:
        """What facts and messages call it."""
        return permissions.label(self.permission.name, self.zone)


def needs(settings: SandboxSettings) -> tuple[Need, ...]:
    """Return what the token needs, by the account first; to refresh and to destroy the stack needs no more."""
    found: dict[str, Need] = {}
    for each in _all(settings):
        before = found.get(each.label)
        parts = [*(before.what_for.split(", ") if before else ()), each.what_for]
        found[each.label] = Need(each.permission, ", ".join(dict.fromkeys(parts)), each.zone)
    held = frozenset(found)
    kept = [each for each in found.values() if not permissions.allows(held - {each.label}, each.label)]
    return tuple(sorted(kept, key=lambda each: (each.permission.product.scope != ACCOUNT, each.zone, each.label)))


def _all(settings: SandboxSettings) -> Iterator[Need]:
    yield Need(permissions.SCRIPTS, "worker")
    yield Need(permissions.CONTAINERS, "container")
    if any(kind.image.reference is None for kind in settings.kinds):
        yield Need(permissions.CONTAINERS, "image")
    yield from _stored(settings)
    trust = settings.access.zero_trust
    if trust:
        yield Need(permissions.APPS, "access.zero_trust")
        if trust.service_tokens:
            yield Need(permissions.SERVICE_TOKENS, "access.zero_trust.service_tokens")
    yield from _zoned(settings)


def _stored(settings: SandboxSettings) -> Iterator[Need]:
    said = settings.storage
    for role in said.buckets:
        yield Need(permissions.R2, f"storage.{role}")
    if storage.BACKUPS in said.buckets and said.backups.token:
        yield Need(permissions.TOKENS, "storage.backups.token")
    if said.conversations.enabled:
        yield Need(permissions.KV, "storage.conversations")
    if said.events.enabled:
        yield Need(permissions.QUEUES, "storage.events")
    existing = said.existing
    # What was there before is taken into the state as it is, and stays when the stack goes: it is read only.
    if existing.buckets:
        yield Need(permissions.R2 if existing.create else permissions.R2_READ, "storage.existing.buckets")
    if existing.namespaces:
        yield Need(permissions.KV if existing.create else permissions.KV_READ, "storage.existing.namespaces")


def _zoned(settings: SandboxSettings) -> Iterator[Need]:
    domain = settings.domain
    if domain:
        zone = domain.zone_name
        yield Need(permissions.DNS, "domain", zone)
        yield Need(permissions.ROUTES, "domain", zone)
        if not domain.zone_id:
            yield Need(permissions.ZONE_READ, "domain", zone)
        if domain.certificate_hosts:
            yield Need(permissions.CERTIFICATES, "domain.certificate", zone)
    for route in settings.worker.routes:
        known = domain and route.zone_id and route.zone_id == domain.zone_id
        zone = domain.zone_name if domain and known else str(route.zone or route.zone_id)
        yield Need(permissions.ROUTES, "worker.routes", zone)
        if route.zone and not (domain and domain.zone_id and domain.zone_name == route.zone):
            yield Need(permissions.ZONE_READ, "worker.routes", zone)


def zones(settings: SandboxSettings) -> dict[str, str | None]:
    """Return the zones that the needs are about: names, or ids where there is no name, with the ids that are known."""
    found: dict[str, str | None] = {}
    domain = settings.domain
    if domain:
        found[domain.zone_name] = domain.zone_id
    for route in settings.worker.routes:
        if route.zone_id not in {None, *found.values()}:
            found[str(route.zone_id)] = route.zone_id
        elif route.zone:
            found.setdefault(route.zone, None)
    return found
