"""What settings say about a stack, as facts for the rules; places are paths in the settings."""

from collections.abc import Iterator
from typing import Final

from ..platform import compatibility, previews, sdk
from ..platform.containers import MANAGED, SCHEDULED
from ..rules.facts import (
    SQLITE,
    Access,
    Binding,
    Bucket,
    Container,
    Dockerfile,
    DurableClass,
    Egress,
    Fact,
    Image,
    Package,
    Preview,
    Stack,
    Stage,
    Worker,
)
from .document import MAIN_KIND, Kind, SandboxSettings

_OBJECTS: Final = "durable_object_namespace"


def facts(settings: SandboxSettings, package: Package | None = None, exports: frozenset[str] | None = None) -> Stack:
    """Give what is known before anything is deployed.

    Args:
        settings: what the stack is.
        package: what is known of the Worker's npm package.
        exports: names that the Worker's main module exports, once it is bundled.
    """
    known = Package.of("sdk", locked=settings.sdk.version) if settings.sdk.version else package or Package()
    version = known.locked.value if known.locked else None
    return Stack(
        environment=Fact(settings.environment, "environment"),
        package=known,
        worker=_worker(settings, exports),
        classes=(
            *(DurableClass.of(_path(kind), name=kind.class_name, storage=SQLITE) for kind in settings.kinds),
            *(
                DurableClass.of(f"worker.classes.{name}", name=name, storage=each.storage)
                for name, each in settings.worker.classes.items()
            ),
        ),
        containers=tuple(_container(kind, settings.sdk.generation, version) for kind in settings.kinds),
        buckets=tuple(_buckets(settings)),
        preview=_preview(settings),
        access=_access(settings),
        egress=_egress(settings),
    )


def _path(kind: Kind, key: str = "") -> str:
    whole = key if kind.name == MAIN_KIND else f"further_sandboxes.{kind.name}.{key}".rstrip(".")
    return whole or "container"


def _worker(settings: SandboxSettings, exports: frozenset[str] | None) -> Worker:
    said = settings.worker
    place = "worker.bundle" if said.bundle else "worker.entry"
    return Worker.of(
        "worker",
        exports=None if exports is None else Fact(exports, place),
        compatibility_date=said.compatibility_date,
        compatibility_flags=tuple(compatibility.flags(said.compatibility_date, said.compatibility_flags)),
        bindings=tuple(_bindings(settings)),
        class_steps=frozenset({said.lifecycle}),
        observability=said.observability.enabled,
    )


def _bindings(settings: SandboxSettings) -> Iterator[Binding]:
    places = {kind.class_name: _path(kind) for kind in settings.kinds}
    places |= {name: f"worker.classes.{name}" for name in settings.worker.classes}
    for name, place in places.items():
        if name not in settings.worker.bound_classes:
            yield _object_binding(place, name, name, None)
    for name, each in settings.worker.bindings.items():
        if each.get("type") == _OBJECTS:
            place, class_name = f"worker.bindings.{name}", str(each.get("class_name"))
            yield _object_binding(place, name, class_name, each.get("script_name"))
    for name, text in settings.worker.variables.items():
        yield Binding.of(
            f"worker.variables.{name}", name=name, kind="plain_text", text=Fact(text, f"worker.variables.{name}")
        )
    for name in settings.secrets:
        yield Binding.of("secrets", name=name, kind="secret_text")


def _object_binding(place: str, name: str, class_name: str, script: str | None) -> Binding:
    return Binding.of(place, name=name, kind=_OBJECTS, class_name=class_name, script_name=Fact(script, place))


def _container(kind: Kind, generation: sdk.Generation, version: str | None) -> Container:
    place = _path(kind, "container")
    said = kind.container
    return Container.of(
        place,
        class_name=kind.class_name,
        policy=MANAGED if generation == "1.x" else SCHEDULED,
        image=_image(kind, generation, version),
        instance_type=None if said.size else said.instance_type or "basic",
        size=said.size.size if said.size else None,
        max_instances=said.max_instances,
        environment=tuple((name, Fact(text, f"{place}.environment.{name}")) for name, text in said.environment.items())
        or None,
    )


def _image(kind: Kind, generation: sdk.Generation, version: str | None) -> Image:
    place, said = _path(kind, "image"), kind.image
    if said.reference:
        return Image.of(place, reference=str(said.reference))
    environment = tuple((name, Fact(text, f"{place}.environment.{name}")) for name, text in said.environment.items())
    official = f"{sdk.IMAGE}:{sdk.tag(version, said.variant)}" if version and generation == "0.12" else None
    base = str(said.from_image) if said.from_image else official
    if base is None or said.dockerfile:
        return Image(place)
    where = f"{place}.{'from_image' if said.from_image else 'variant'}"
    stage = Stage(base=Fact(base, where), where=where)
    return Image(place, dockerfile=Dockerfile(place, stages=(stage,), environment=environment))


def _buckets(settings: SandboxSettings) -> Iterator[Bucket]:
    said = settings.storage
    for role, bucket in (("files", said.files), ("backups", said.backups), ("artifacts", said.artifacts)):
        if bucket.enabled:
            prefixes = ("backups/",) if role == "backups" else ()
            yield Bucket.of(f"storage.{role}", role=role, public=False, expiring_prefixes=prefixes)


def _preview(settings: SandboxSettings) -> Preview:
    said = settings.domain
    if said is None:
        return Preview()
    others = (said.api_hostname,) if said.api_hostname and not previews.under(said.api_hostname, said.hostname) else ()
    return Preview.of(
        "domain",
        hostname=said.hostname,
        zone=said.zone_name,
        routes=tuple(f"{host}/*" for host in said.hosts.values()),
        record_proxied=True,
        # One of one's own is not seen here.
        certificate_hosts=None if said.certificate == "own" else said.certificate_hosts,
        certificates_managed=True,
        longest_id=previews.LONGEST_ID,
        app_hosts=tuple(host for host in others if previews.one_below(host, said.hostname)),
    )


def _access(settings: SandboxSettings) -> Access:
    said = settings.access
    # Without keys and Zero Trust the Worker refuses everyone: closed, not open.
    mode = "zero-trust" if said.zero_trust else "api-keys"
    return Access(
        "access",
        mode=Fact(mode, "access"),
        key_digests=tuple(Fact(key.sha256, f"access.api_keys.{name}") for name, key in said.api_keys.items()),
        # Whoever sets Zero Trust up says what it stands before: previews that are left out are so on purpose.
        preview_guarded=Fact(said.zero_trust is not None, "access.zero_trust") if settings.domain else None,
    )


_HANDED: Final = ("AGENT_API_KEY", "GITHUB_TOKEN")
"""Secrets that this package's Worker puts into sandboxes where nothing adds them outside."""


def _egress(settings: SandboxSettings) -> Egress:
    said = settings.egress
    added = {each.secret for each in said.credentials.values()}
    own = settings.worker.entry or settings.worker.bundle
    entering = tuple(name for name in _HANDED if name in settings.secrets and name not in added)
    return Egress.of(
        "egress",
        # What a Worker of one's own does with its secrets is not seen here.
        entering=None if own else Fact(entering, "secrets"),
        credentials=tuple(sorted(said.credentials)),
        given=tuple(sorted({name for key in settings.access.api_keys.values() for name in key.credentials})),
    )
