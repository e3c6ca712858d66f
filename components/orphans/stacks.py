"""Stacks as the judge needs them: what a state holds, what an operation began, and what a stack names its things. Pure.

Things are known by keys. Where the id is not known, as of what an interrupted operation was about to make, the key has
what the thing is called instead; `called` gives the same for an item of the account.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..account.items import Inventory, Item, Key, Kind, bucket_key
from ..naming import physical_name, record_comment
from ..platform import previews, storage
from ..pulumi_cli.state import Resource, State
from ..settings import SandboxSettings

_SCRIPT: Final = "cloudflare-sandbox:index:WorkerScript"
_APPLICATION: Final = "cloudflare-sandbox:index:ContainerApplication"
_IMAGE: Final = "cloudflare-sandbox:index:RegistryImage"
_BUILT: Final = "docker-build:index:Image"
_BUILT_BY_DOCKER: Final = "docker:index/image:Image"
_COMMENT: Final = "comment "
_MACHINES: Final = "machines of "
_MAIN: Final = "main"


@dataclass(frozen=True)
class Stack:
    """A stack of a Pulumi project."""

    project: str
    name: str
    lives: bool = True
    """Whether the backend has it."""
    said_gone: bool = False
    """Whether the user says that it is gone: a backend does not know the stacks of another one."""
    ours: bool = True
    """Whether it is of a project that was asked about."""
    holds: frozenset[Key] = frozenset()
    """What its state has."""
    began: frozenset[Key] = frozenset()
    """What operations were about to make that were cut off."""
    makes: frozenset[Key] = frozenset()
    """What it would make, by name."""
    keeps: frozenset[str] = frozenset()
    """Repositories whose former images are kept on purpose."""

    def __str__(self) -> str:
        return f"{self.project}/{self.name}"


def stack_of(project: str, name: str, state: State, *, ours: bool = True) -> Stack:
    """Return a living stack by its state."""
    images = [each for each in state.of_type(_IMAGE) if each.retained]
    return Stack(
        project,
        name,
        ours=ours,
        holds=frozenset(key for each in state.resources for key in held(each)),
        began=frozenset(key for each in state.interrupted for key in held(each)),
        keeps=frozenset(str(each.inputs.get("repository")) for each in images),
    )


def held(resource: Resource) -> frozenset[Key]:
    """Return what a resource of a state is in the account: by its id, or by name before it has one."""
    reader = _READERS.get(resource.type)
    return frozenset(reader(resource) if reader else ())


def _script(resource: Resource) -> Iterator[Key]:
    name = str(resource.inputs.get("scriptName", ""))
    yield Key(Kind.SCRIPT, name)
    for namespace in _record(resource.outputs.get("namespaceIds")).values():
        yield Key(Kind.NAMESPACE, str(namespace))


def _application(resource: Resource) -> Iterator[Key]:
    if live := resource.outputs.get("applicationId"):
        yield Key(Kind.APPLICATION, str(live))
    else:
        yield Key(Kind.APPLICATION, f"{resource.inputs.get('scriptName')}/{resource.inputs.get('className')}")


def _image(resource: Resource) -> Iterator[Key]:
    yield Key(Kind.IMAGE, f"{resource.inputs.get('repository')}@{resource.inputs.get('digest')}")


def _built(resource: Resource) -> Iterator[Key]:
    """What was pushed, by digest: another resource takes it over in the same run, or in the next."""
    digest = resource.outputs.get("digest")
    for tag in resource.inputs.get("tags") or ():
        path = str(tag).rpartition(":")[0].split("/", 2)
        if digest and len(path) == 3:
            yield Key(Kind.IMAGE, f"{path[2]}@{digest}")


def _built_by_docker(resource: Resource) -> Iterator[Key]:
    path = str(resource.outputs.get("repoDigest") or "").split("/", 2)
    if len(path) == 3:
        yield Key(Kind.IMAGE, path[2])


def _bucket(resource: Resource) -> Iterator[Key]:
    yield bucket_key(str(resource.inputs.get("name")), resource.inputs.get("jurisdiction"))


def _known(kind: Kind, name: Callable[[Mapping[str, Any]], str], *, zone: bool = False) -> "_Reader":
    """Return how a bridged resource is read, whose id is that of the API, in its zone where it has one."""

    def read(resource: Resource) -> Iterator[Key]:
        place = f"{resource.inputs.get('zoneId')}/" if zone else ""
        yield Key(kind, f"{place}{resource.id}" if resource.id else name(resource.inputs))

    return read


_Reader = Callable[[Resource], Iterator[Key]]
_READERS: Final[Mapping[str, _Reader]] = {
    _SCRIPT: _script,
    _APPLICATION: _application,
    _IMAGE: _image,
    _BUILT: _built,
    _BUILT_BY_DOCKER: _built_by_docker,
    "cloudflare:index/r2Bucket:R2Bucket": _bucket,
    "cloudflare:index/workersKvNamespace:WorkersKvNamespace": _known(Kind.KV, lambda has: str(has.get("title"))),
    "cloudflare:index/queue:Queue": _known(Kind.QUEUE, lambda has: str(has.get("queueName"))),
    "cloudflare:index/accountToken:AccountToken": _known(Kind.TOKEN, lambda has: str(has.get("name"))),
    "cloudflare:index/dnsRecord:DnsRecord": _known(
        Kind.RECORD, lambda has: _record_name(has.get("name"), has.get("type"), has.get("content")), zone=True
    ),
    "cloudflare:index/workersRoute:WorkersRoute": _known(Kind.ROUTE, lambda has: str(has.get("pattern")), zone=True),
    "cloudflare:index/workersCustomDomain:WorkersCustomDomain": _known(
        Kind.CUSTOM_DOMAIN, lambda has: str(has.get("hostname"))
    ),
    "cloudflare:index/certificatePack:CertificatePack": _known(
        Kind.CERTIFICATE, lambda has: _hosts_name(has.get("hosts") or ()), zone=True
    ),
    "cloudflare:index/zeroTrustAccessApplication:ZeroTrustAccessApplication": _known(
        Kind.ACCESS_APPLICATION, lambda has: str(has.get("name"))
    ),
    "cloudflare:index/zeroTrustAccessPolicy:ZeroTrustAccessPolicy": _known(
        Kind.ACCESS_POLICY, lambda has: str(has.get("name"))
    ),
    "cloudflare:index/zeroTrustAccessServiceToken:ZeroTrustAccessServiceToken": _known(
        Kind.SERVICE_TOKEN, lambda has: str(has.get("name"))
    ),
}


def _record(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _record_name(host: Any, kind: Any, content: Any) -> str:
    return f"{host} {kind} {content}"


def _hosts_name(hosts: Iterable[Any]) -> str:
    return json.dumps(sorted(map(str, hosts)))


def called(item: Item, inventory: Inventory) -> frozenset[Key]:
    """Return all keys by which a state or a name may mean an item."""
    details = item.details
    names: list[str] = [item.name]
    if item.kind is Kind.APPLICATION:
        namespace = inventory.by_key.get(Key(Kind.NAMESPACE, details.get("namespace", "")))
        names += [namespace.name] if namespace else []
    elif item.kind is Kind.IMAGE:
        names = [details["repository"]]
    elif item.kind is Kind.RECORD:
        names = [_record_name(item.name, details.get("type"), details.get("content"))]
        names += [f"{_COMMENT}{mark}" for mark in item.marks]
    elif item.kind is Kind.CERTIFICATE:
        names = [_hosts_name(details.get("hosts") or ())]
    elif item.kind is Kind.SERVICE_TOKEN:
        names += _machines_of(item.name)
    return frozenset({item.key, *(Key(item.kind, name) for name in names)})


def usual(base: str, stack: str) -> frozenset[Key]:
    """Return what a stack makes whose settings are not known, by the names that follow from its own."""
    prefix = (base, stack)
    roles = {
        Kind.KV: (storage.CONVERSATIONS,),
        Kind.QUEUE: (storage.EVENTS,),
        Kind.TOKEN: (storage.BACKUPS,),
        Kind.BUCKET: storage.BUCKETS,
        Kind.APPLICATION: (_MAIN,),
        Kind.IMAGE: (_MAIN,),
        Kind.ACCESS_APPLICATION: ("api", "previews"),
        Kind.ACCESS_POLICY: ("machines", "people"),
    }
    named = {Key(kind, physical_name(*prefix, role)) for kind, those in roles.items() for role in those}
    machines = Key(Kind.SERVICE_TOKEN, f"{_MACHINES}{physical_name(*prefix)}")
    return frozenset({*named, machines, Key(Kind.SCRIPT, physical_name(*prefix)), _comment(*prefix)})


def _machines_of(name: str) -> list[str]:
    """Return whose machine a service token is for; settings choose what machines are called.

    Three words are the name of that machine of that stack and of nothing else; where any of the three was changed to
    fit, its hash tells them apart and says no more.
    """
    parts = name.split("-")
    return [f"{_MACHINES}{physical_name(*parts[:2])}"] if len(parts) == 3 and physical_name(*parts) == name else []


def _comment(*prefix: str) -> Key:
    return Key(Kind.RECORD, f"{_COMMENT}{record_comment(*prefix)}")


def made_by(settings: SandboxSettings, stack: str) -> frozenset[Key]:
    """Return what a stack with these settings makes, by name."""
    prefix = (settings.name, stack)
    named = {Key(Kind.SCRIPT, settings.worker.name or physical_name(*prefix)), _comment(*prefix)}
    for kind in settings.kinds:
        usual_name = physical_name(*prefix, kind.name)
        named.add(Key(Kind.APPLICATION, kind.container.name or usual_name))
        if not kind.image.reference:
            named.add(Key(Kind.IMAGE, kind.image.repository or usual_name))
    named |= {Key(Kind.ROUTE, route.pattern) for route in settings.worker.routes}
    return frozenset({*named, *_stores(settings, prefix), *_gate(settings, prefix), *_hosts(settings)})


def _stores(settings: SandboxSettings, prefix: tuple[str, str]) -> Iterator[Key]:
    kept = settings.storage
    for role, bucket in kept.buckets.items():
        yield bucket_key(bucket.name or physical_name(*prefix, role), kept.jurisdiction)
    yield Key(Kind.TOKEN, kept.backups.token_name or physical_name(*prefix, storage.BACKUPS))
    yield Key(Kind.KV, kept.conversations.name or physical_name(*prefix, storage.CONVERSATIONS))
    yield Key(Kind.QUEUE, kept.events.name or physical_name(*prefix, storage.EVENTS))


def _gate(settings: SandboxSettings, prefix: tuple[str, str]) -> Iterator[Key]:
    trust = settings.access.zero_trust
    if trust is None:
        return
    roles = {
        Kind.ACCESS_APPLICATION: ("api", "previews"),
        Kind.ACCESS_POLICY: ("machines", "people"),
        Kind.SERVICE_TOKEN: trust.service_tokens,
    }
    for kind, names in roles.items():
        for role in names:
            yield Key(kind, trust.names.get(role) or physical_name(*prefix, role))


def _hosts(settings: SandboxSettings) -> Iterator[Key]:
    domain = settings.domain
    if domain is None:
        return
    for host in domain.hosts.values():
        yield Key(Kind.RECORD, _record_name(host, "AAAA", previews.NOWHERE))
    for host in (*domain.hosts.values(), *domain.bypass):
        yield Key(Kind.ROUTE, f"{host}/*")
    if domain.certificate_hosts:
        yield Key(Kind.CERTIFICATE, _hosts_name(domain.certificate_hosts))
