"""Facts of Workers, their classes and container applications, of this plugin's types and of pulumi_cloudflare's."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ..facts.stack import Binding, Container, DurableClass, Fact, Image, Worker
from ..platform.bindings import DURABLE_OBJECT
from ..platform.containers import IMAGE_PLATFORM, MANAGED, REGISTRY, SCHEDULED
from ..platform.durable_objects import KEY_VALUE, SQLITE
from ..platform.sdk import MAIN_CLASS
from ..pulumi_protocol.values import Secret
from .resource import Places, Reader, Resource, known, mapping, name_in

SCRIPT: Final = "cloudflare-sandbox:index:WorkerScript"
APPLICATION: Final = "cloudflare-sandbox:index:ContainerApplication"
BRIDGED_SCRIPTS: Final = frozenset(
    {"cloudflare:index/workersScript:WorkersScript", "cloudflare:index/workerVersion:WorkerVersion"}
)
SCRIPTS: Final = frozenset({SCRIPT, *BRIDGED_SCRIPTS})
IMAGES: Final = frozenset({"docker-build:index:Image", "docker:index/image:Image"})
_SCHEDULER_ONLY: Final = (
    "image", "instanceType", "size", "maxInstances", "constraints", "affinities", "rollout", "command", "entrypoint",
    "environment",
)  # fmt: skip
_LOOPBACK: Final = re.compile(r"^(?:127\.0\.0\.1|localhost):\d+/")


def script_name(resource: Resource) -> str | None:
    """Return the name of a script, or of the script that an application belongs to."""
    value = resource.value("scriptName")
    return value if isinstance(value, str) else None


def bindings(resource: Resource, places: Places) -> tuple[Binding, ...] | None:
    """Return all bindings of a script; None if one of them cannot be told."""
    read, said = Reader(resource, places), resource.properties.get("bindings")
    found = [_binding(read, name, each, hidden=isinstance(said, Secret)) for name, each in _named(said)]
    whole = said is None or mapping(said) is not None or isinstance(name_in(said), list)
    return tuple(each for each in found if each) if whole and all(found) else None


def _named(said: Any) -> Iterator[tuple[Any, Any]]:
    """Return bindings with their names: this plugin has them by name, pulumi_cloudflare in a list."""
    inner = mapping(said)
    if inner is not None:
        yield from inner.items()
    for each in name_in(said) if isinstance(name_in(said), list) else ():
        yield (name_in(each.get("name")) if isinstance(each, dict) else None), each


def _binding(read: Reader, name: Any, said: Any, *, hidden: bool) -> Binding | None:
    inner = mapping(said)
    kind = name_in(inner.get("type")) if inner else None
    if inner is None or not isinstance(name, str) or not isinstance(kind, str):
        return None
    class_, script = name_in(inner.get("className")), name_in(inner.get("scriptName"))
    hidden = hidden or said is not inner
    return Binding(
        name=Fact(name, read.at("bindings", name)),
        kind=Fact(kind, read.at("bindings", name)),
        where=read.at("bindings", name),
        text=None if hidden else read.told(known(inner.get("text")), str, "bindings", name),
        class_name=read.told(class_, str, "bindings", name),
        script_name=Fact(script, read.at("bindings", name)) if script is None or isinstance(script, str) else None,
    )


def variable(found: Iterable[Binding] | None, name: str) -> Fact[str] | None:
    """Return the value of a plain-text variable, if it is known."""
    return next((each.text for each in found or () if each.name.value == name), None)


def worker(resource: Resource, places: Places) -> Worker:
    """Return the facts of a script."""
    read = Reader(resource, places)
    ours = resource.type == SCRIPT
    kept = resource.value("keepBindings")
    return Worker(
        where=read.at(),
        compatibility_date=read.optional("compatibilityDate", str),
        compatibility_flags=read.texts("compatibilityFlags"),
        bindings=bindings(resource, places),
        class_steps=_steps(read) if ours else None,
        observability=_observability(read),
        required_secrets=Fact(frozenset(), read.at("bindings")) if ours and not kept else None,
    )


def _steps(read: Reader) -> Fact[frozenset[str]] | None:
    value = read.resource.value("lifecycle")
    said = read.told("migrations" if value is None else value, str, "lifecycle")
    return Fact(frozenset({said.value}), said.where) if said else None


def _switch(read: Reader, key: str) -> Fact[bool] | None:
    value = read.resource.value(key)
    return read.told(False if value is None else value, bool, key)


def _observability(read: Reader) -> Fact[bool] | None:
    value = read.resource.value("observability")
    if value is None:
        return Fact(value=False, where=read.at("observability"))
    inner = mapping(value) or {}
    return read.told(known(inner.get("enabled")), bool, "observability")


def classes(resource: Resource, places: Places) -> tuple[DurableClass, ...] | None:
    """Return the classes that a script of this plugin creates; pulumi_cloudflare sends steps, not classes."""
    read = Reader(resource, places)
    if resource.type != SCRIPT:
        return None
    said = resource.properties.get("classes")
    inner = mapping({} if said is None else said)
    return None if inner is None else tuple(_class(read, name, each) for name, each in inner.items())


def _class(read: Reader, name: str, said: Any) -> DurableClass:
    where = read.at("classes", name)
    storage = name_in((mapping(said) or {}).get("storage"))
    told: Fact[str] | None = None
    if storage is None or isinstance(storage, str):
        told = Fact(SQLITE if storage in {None, SQLITE} else KEY_VALUE, where)
    return DurableClass(Fact(name, where), told, where)


def uploaded_containers(resource: Resource, places: Places) -> tuple[Container, ...] | None:
    """Return the containers that a script's classes have, with their images where the objects choose one."""
    said = resource.properties.get("classes")
    inner = mapping(said)
    if resource.type != SCRIPT or inner is None:
        return None
    found = []
    for name, each in inner.items():
        container = (mapping(each) or {}).get("container")
        if known(container) is not None:
            where = Reader(resource, places).at("classes", name, "container")
            images = mapping((mapping(container) or {}).get("images")) or {}
            shown = () if isinstance(said, Secret) else (_reference(known(each), where) for each in images.values())
            told = tuple(Image(where, reference=each) for each in shown if each)
            found.append(Container(where, class_name=Fact(name, where), images=told))
    return tuple(found)


def container(resource: Resource, by_urn: Mapping[str, Resource], places: Places) -> Container:
    """Return the facts of an application, and of the image it gets from another resource."""
    read = Reader(resource, places)
    value = resource.value("schedulingPolicy")
    policy = read.told(SCHEDULED if value is None else value, str, "schedulingPolicy")
    managed = policy and policy.value == MANAGED
    sized = known(resource.properties.get("size")) is not None
    return Container(
        where=read.at(),
        class_name=read.optional("className", str),
        policy=policy,
        image=_image(read, by_urn),
        instance_type=None if sized or managed else read.optional("instanceType", str),
        max_instances=None if managed else read.optional("maxInstances", int),
        scheduler_fields=Fact(tuple(key for key in _SCHEDULER_ONLY if _is_set(resource, key)), read.at()),
    )


def _is_set(resource: Resource, key: str) -> bool:
    return resource.properties.get(key) not in (None, [], {})


def _image(read: Reader, by_urn: Mapping[str, Resource]) -> Image | None:
    reference = _reference(read.resource.value("image"), read.at("image"))
    built = next(_builds(read.resource.dependencies.get("image", ()), by_urn, frozenset()), None)
    target = platform(built, read.places) if built else None
    return Image(read.at("image"), reference=reference, platform=target) if reference or target else None


def _reference(value: Any, where: str) -> Fact[str] | None:
    # What the emulator's registry holds stands for what Cloudflare's will.
    return Fact(_LOOPBACK.sub(f"{REGISTRY}/", value), where) if isinstance(value, str) else None


def _builds(urns: Iterable[str], by_urn: Mapping[str, Resource], seen: frozenset[str]) -> Iterator[Resource]:
    for urn in urns:
        found = by_urn.get(urn)
        if found is None or urn in seen:
            continue
        if found.type in IMAGES:
            yield found
        for further in found.dependencies.values():
            yield from _builds(further, by_urn, seen | {urn})


def platform(resource: Resource, places: Places) -> Fact[str] | None:
    """Return what an image is built for, if the program says so."""
    read = Reader(resource, places)
    if resource.type == "docker-build:index:Image":
        said = read.texts("platforms")
        if said is None or not said.value:
            return None
        return Fact(IMAGE_PLATFORM if IMAGE_PLATFORM in said.value else said.value[0], said.where)
    return read.told(known((mapping(resource.value("build")) or {}).get("platform")), str, "build", "platform")


def is_sandbox(resource: Resource, places: Places, applications: Iterable[Resource] = ()) -> bool:
    """Say whether a script has to do with sandboxes; others are none of our business."""
    name = script_name(resource)
    served = any(
        (name is not None and script_name(each) == name) or resource.urn in each.dependencies.get("scriptName", ())
        for each in applications
    )
    bound = any(
        each.kind.value == DURABLE_OBJECT and each.name.value == MAIN_CLASS for each in bindings(resource, places) or ()
    )
    return served or bound or bool(uploaded_containers(resource, places))
