"""What settings say about a stack, as facts for the rules; places are paths in the settings."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Final

from ..facts.stack import (
    Access,
    Binding,
    Bucket,
    Container,
    Copy,
    Dockerfile,
    DurableClass,
    Egress,
    Entrypoint,
    Fact,
    Image,
    Package,
    Preview,
    Stack,
    Stage,
    Worker,
)
from ..platform import compatibility, previews, r2, sdk, storage
from ..platform.bindings import DURABLE_OBJECT, PLAIN_TEXT, SECRET_TEXT
from ..platform.containers import MANAGED, SANDBOX_INSTANCE_TYPE, SCHEDULED
from ..platform.durable_objects import SQLITE
from .document import MAIN_KIND, Kind, SandboxSettings
from .image import ImageSettings

_STRICT: Final = {"versions/sandbox-version-missing": "mandatory", "versions/digest-alone": "mandatory"}
"""Rules that are mandatory for settings, whose images are all for sandboxes: nothing else compares the versions."""


def severities(rules: Mapping[str, str]) -> dict[str, str]:
    """Return the severities of rules for settings, which may say otherwise."""
    return {**_STRICT, **rules}


def facts(
    settings: SandboxSettings,
    package: Package | None = None,
    exports: frozenset[str] | None = None,
    dockerfiles: Mapping[str, Dockerfile] | None = None,
) -> Stack:
    """Return what is known before anything is deployed.

    Args:
        settings: what the stack is.
        package: what is known of the Worker's npm package.
        exports: names that the Worker's main module exports, once it is bundled.
        dockerfiles: what Dockerfiles of one's own say, by kind of sandbox.
    """
    wanted = Fact(settings.sdk.version, "sdk.version") if settings.sdk.version else None
    known = replace(package or Package("sdk"), wanted=wanted)
    version = settings.sdk.version or (known.locked.value if known.locked else None)
    return Stack(
        environment=Fact(settings.environment, "environment"),
        budget=Fact(settings.budget.monthly_usd, "budget.monthly_usd") if settings.budget else None,
        package=known,
        worker=_worker(settings, exports),
        classes=(
            *(DurableClass.of(_path(kind), name=kind.class_name, storage=SQLITE) for kind in settings.kinds),
            *(
                DurableClass.of(f"worker.classes.{name}", name=name, storage=each.storage)
                for name, each in settings.worker.classes.items()
            ),
        ),
        containers=tuple(
            _container(kind, settings.sdk.generation, version, (dockerfiles or {}).get(kind.name))
            for kind in settings.kinds
        ),
        buckets=tuple(_buckets(settings)),
        preview=_preview(settings),
        access=_access(settings),
        egress=_egress(settings),
    )


def _path(kind: Kind) -> str:
    return "container" if kind.name == MAIN_KIND else f"further_sandboxes.{kind.name}"


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
        if each.get("type") == DURABLE_OBJECT:
            place, class_name = f"worker.bindings.{name}", str(each.get("class_name"))
            yield _object_binding(place, name, class_name, each.get("script_name"))
    for name, text in settings.worker.variables.items():
        yield Binding.of(
            f"worker.variables.{name}", name=name, kind=PLAIN_TEXT, text=Fact(text, f"worker.variables.{name}")
        )
    for name in settings.secrets:
        yield Binding.of("secrets", name=name, kind=SECRET_TEXT)


def _object_binding(place: str, name: str, class_name: str, script: str | None) -> Binding:
    return Binding.of(place, name=name, kind=DURABLE_OBJECT, class_name=class_name, script_name=Fact(script, place))


def image_alone(
    said: ImageSettings, place: str, generation: sdk.Generation, version: str, own: Dockerfile | None = None
) -> Stack:
    """Return what is known of a stack by one of its images."""
    container = Container(
        policy=_policy(generation),
        sandbox=Fact(value=True, where=place),
        image=image_facts(said, place, generation, version, own),
    )
    return Stack(package=Package("sdk", locked=Fact(version, "sdk.version")), containers=(container,))


def _policy(generation: sdk.Generation) -> Fact[str]:
    return Fact(MANAGED if generation == "1.x" else SCHEDULED, "sdk.generation")


def _container(kind: Kind, generation: sdk.Generation, version: str | None, own: Dockerfile | None) -> Container:
    place = kind.path("container")
    said = kind.container
    return Container.of(
        place,
        class_name=kind.class_name,
        policy=_policy(generation),
        sandbox=True,
        image=image_facts(kind.image, kind.path("image"), generation, version, own),
        instance_type=None if said.size else said.instance_type or SANDBOX_INSTANCE_TYPE,
        size=said.size.size if said.size else None,
        max_instances=said.max_instances,
        environment=tuple((name, Fact(text, f"{place}.environment.{name}")) for name, text in said.environment.items())
        or None,
    )


def image_facts(
    said: ImageSettings,
    place: str,
    generation: sdk.Generation,
    version: str | None,
    own: Dockerfile | None = None,
) -> Image:
    """Return what is known of an image; `own` is what its Dockerfile says, if it has one of its own."""
    if said.reference:
        return Image.of(place, reference=str(said.reference))
    if said.dockerfile:
        return Image(place, dockerfile=own)
    listed = {"apt": said.apt, "pip": said.pip, "npm": said.npm}
    installers = tuple(Fact(name, f"{place}.{name}") for name, packages in listed.items() if packages)
    return Image(place, dockerfile=_rendered(said, place, generation, version), installers=installers)


def _rendered(said: ImageSettings, place: str, generation: sdk.Generation, version: str | None) -> Dockerfile | None:
    """Return what the Dockerfile says that `components/bundle/dockerfile.py` renders."""
    environment = tuple((name, Fact(text, f"{place}.environment.{name}")) for name, text in said.environment.items())
    where = f"{place}.{'from_image' if said.from_image else 'variant'}"
    base = said.from_image or (f"{sdk.IMAGE}:{sdk.tag(version, said.variant)}" if version else None)
    if base is None:
        return None
    plain = Dockerfile(place, stages=(Stage(Fact(base, where), where=where),), environment=environment)
    if version is None or not said.from_image:
        return plain
    managed = generation == "1.x"
    program = sdk.SHIM if managed else sdk.SERVER
    carrier = f"{sdk.IMAGE}:{sdk.tag(version, 'musl' if said.libc == 'musl' else 'default')}"
    return replace(
        plain,
        copies=(Fact(carrier, where),),
        copied=Fact((Copy(program, program, (carrier,), where),), where),
        environment=environment if managed else (*environment, (sdk.VERSION_VARIABLE, Fact(version, where))),
        sandbox_version=None if managed else Fact(version, where),
        entrypoint=None if managed else Fact(Entrypoint(json.dumps([program]), (program,)), where),
    )


def _buckets(settings: SandboxSettings) -> Iterator[Bucket]:
    for role in settings.storage.buckets:
        prefixes = (r2.BACKUP_PREFIX,) if role == storage.BACKUPS else ()
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
        keys_created=tuple(
            Fact(date.fromisoformat(key.created), f"access.api_keys.{name}.created")
            for name, key in said.api_keys.items()
            if key.created
        ),
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
