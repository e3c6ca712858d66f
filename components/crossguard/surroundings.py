"""Facts of what surrounds a Worker: buckets, what must not be lost, preview hosts and Access."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ..facts.stack import Access, Binding, Bucket, Fact, Preview
from ..platform import access as access_names
from ..platform import storage
from .resource import Places, Reader, Resource, first, known, mapping
from .workers import variable

BUCKET: Final = "cloudflare:index/r2Bucket:R2Bucket"
MANAGED_DOMAIN: Final = "cloudflare:index/r2ManagedDomain:R2ManagedDomain"
LIFECYCLE: Final = "cloudflare:index/r2BucketLifecycle:R2BucketLifecycle"
ROUTE: Final = "cloudflare:index/workersRoute:WorkersRoute"
RECORD: Final = "cloudflare:index/dnsRecord:DnsRecord"
CERTIFICATE: Final = "cloudflare:index/certificatePack:CertificatePack"
ZONE: Final = "cloudflare:index/zone:Zone"
ACCESS: Final = "cloudflare:index/zeroTrustAccessApplication:ZeroTrustAccessApplication"
KV: Final = "cloudflare:index/workersKvNamespace:WorkersKvNamespace"
QUEUE: Final = "cloudflare:index/queue:Queue"
TYPES: Final = frozenset({BUCKET, MANAGED_DOMAIN, LIFECYCLE, ROUTE, RECORD, CERTIFICATE, ZONE, ACCESS, KV, QUEUE})
HOLDING_DATA: Final[Mapping[str, str]] = {
    "cloudflare-sandbox:index:WorkerScript": "the Worker",
    BUCKET: "the bucket",
    KV: "the KV namespace",
    QUEUE: "the queue",
}


def of_type(resources: Iterable[Resource], type_: str) -> list[Resource]:
    """Return the resources of a type."""
    return [each for each in resources if each.type == type_]


def buckets(resources: Sequence[Resource], bound: Mapping[str, Any], places: Places) -> tuple[Bucket, ...]:
    """Return every bucket that is made or opened here; `bound` are a Worker's bindings as they were sent."""
    roles = {_name(mapping(bound.get(storage.BINDINGS[role])) or {}, "bucketName"): role for role in storage.BUCKETS}
    domains, lifecycles = of_type(resources, MANAGED_DOMAIN), of_type(resources, LIFECYCLE)
    made = of_type(resources, BUCKET)
    names = {_name(each.properties, "name") for each in made}
    others = [each for each in domains if _name(each.properties, "bucketName") not in names - {None}]
    return (
        *(_bucket(each, roles, domains, lifecycles, places) for each in made),
        *(Bucket(each.name, public=Reader(each, places).fact("enabled", bool)) for each in others),
    )


def _name(properties: Mapping[str, Any], key: str) -> str | None:
    value = known(properties.get(key))
    return value if isinstance(value, str) else None


def _bucket(
    resource: Resource,
    roles: Mapping[str | None, str],
    domains: Sequence[Resource],
    lifecycles: Sequence[Resource],
    places: Places,
) -> Bucket:
    read, name = Reader(resource, places), _name(resource.properties, "name")
    role = roles.get(name) if name else None
    domain = first(each for each in domains if _belongs(each, resource))
    lifecycle = first(each for each in lifecycles if _belongs(each, resource))
    place = resource.value("jurisdiction")
    return Bucket(
        where=read.at(),
        role=Fact(role, read.at()) if role else None,
        public=Reader(domain, places).fact("enabled", bool) if domain else None,
        expiring_prefixes=_expiring(lifecycle, read, places),
        jurisdiction=Fact(None, read.at()) if place in (None, "default") else read.fact("jurisdiction", str),
    )


def _belongs(part: Resource, bucket: Resource) -> bool:
    named = part.value("bucketName")
    return bucket.urn in part.dependencies.get("bucketName", ()) or (
        isinstance(named, str) and named == bucket.value("name")
    )


def _expiring(lifecycle: Resource | None, bucket: Reader, places: Places) -> Fact[tuple[str, ...]] | None:
    if lifecycle is None:
        return Fact((), bucket.at())
    rules = lifecycle.value("rules")
    if rules is not None and not isinstance(rules, list):
        return None
    found = []
    for each in rules or ():
        said = mapping(each) or {}
        prefix = known((mapping(said.get("conditions")) or {}).get("prefix"))
        deletes = mapping(said.get("deleteObjectsTransition")) is not None
        if deletes and known(said.get("enabled")) is not False:
            found.append(prefix if prefix is not None else "")
    return Fact(tuple(found), Reader(lifecycle, places).at("rules")) if all(map(_is_text, found)) else None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def protected(resources: Iterable[Resource], places: Places) -> tuple[tuple[str, Fact[bool]], ...]:
    """Say of everything that holds data whether it is protected."""
    return tuple(
        (f"{HOLDING_DATA[each.type]} {each.name}", Fact(each.protected, Reader(each, places).at("protect")))
        for each in resources
        if each.type in HOLDING_DATA
    )


def preview(routes: Sequence[Resource], everything: Sequence[Resource], places: Places) -> Preview:
    """Return the host that a Worker's routes serve previews at, with its record and certificates."""
    patterns = [Reader(each, places).fact("pattern", str) for each in routes]
    wildcard = first(each for each in routes if str(each.value("pattern")).startswith("*."))
    if wildcard is None or None in patterns:
        return Preview()
    read = Reader(wildcard, places)
    host = str(wildcard.value("pattern")).removeprefix("*.").partition("/")[0]
    zone = first(each for each in of_type(everything, ZONE) if wildcard.urn != each.urn and _in_zone(wildcard, each))
    return Preview(
        where=read.at(),
        hostname=Fact(host, read.at("pattern")),
        zone=Reader(zone, places).fact("name", str) if zone else None,
        routes=Fact(tuple(each.value for each in patterns if each), read.at("pattern")),
        record_proxied=_proxied(host, everything, places),
        certificate_hosts=_certified(everything, places),
        certificates_managed=Fact(value=True, where=read.at()),
    )


def _in_zone(route: Resource, zone: Resource) -> bool:
    named = zone.value("name")
    host = str(route.value("pattern")).partition("/")[0]
    return isinstance(named, str) and (zone.urn in route.dependencies.get("zoneId", ()) and host.endswith(named))


def _proxied(host: str, everything: Sequence[Resource], places: Places) -> Fact[bool | None] | None:
    record = first(each for each in of_type(everything, RECORD) if each.value("name") == f"*.{host}")
    if record is None:
        return None  # somebody else may have made it
    value = record.value("proxied")
    return Reader(record, places).told(False if value is None else value, bool, "proxied")


def _certified(everything: Sequence[Resource], places: Places) -> Fact[tuple[str, ...]] | None:
    hosts = [Reader(each, places).texts("hosts") for each in of_type(everything, CERTIFICATE)]
    if not hosts or None in hosts:
        return None
    told = [each for each in hosts if each]
    return Fact(tuple(host for each in told for host in each.value), told[0].where)


def access(bindings: tuple[Binding, ...] | None, applications: Sequence[Resource], previews: Preview) -> Access:
    """Say how callers are known, as far as this package's own Worker is told, and whether previews are guarded."""
    names = {each.name.value for each in bindings or ()}
    team = variable(bindings, access_names.TEAM_DOMAIN)
    mode = "zero-trust" if team else "api-keys" if access_names.API_KEYS in names else None
    # Whoever sets Zero Trust up says what it stands before: previews that are left out are so on purpose.
    guarded = bool(applications) or access_names.TEAM_DOMAIN in names
    place = previews.hostname.where if previews.hostname else ""
    return Access(
        mode=Fact(mode, place) if mode else None,
        preview_guarded=Fact(guarded, place) if place and bindings is not None else None,
    )
