"""From the resources of a program to facts about its sandbox stacks: one for each Worker, one for what has none.

A resource belongs to a Worker by their common SandboxStack, by the Worker's name, by a value of one in the other, or
because there is no other Worker. `alone` judges a resource when it is registered, before the others are there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ..facts.stack import LASTING, THROW_AWAY, Binding, Container, Fact, Image, Package, Stack
from . import surroundings, workers
from .resource import Places, Reader, Resource, mapping, name_in

STACK: Final = "cloudflare-sandbox:index:SandboxStack"
_IMAGE_PARTS: Final = "cloudflare-sandbox:index:SandboxImage"
BRIDGED: Final = "cloudflare:index/"
"""Begins the types of pulumi-cloudflare."""
TYPES: Final = frozenset({STACK, workers.APPLICATION, *workers.SCRIPTS, *surroundings.TYPES, *workers.IMAGES})
"""What facts are made of; all other resources say nothing."""
TELLING: Final = frozenset({workers.APPLICATION, surroundings.MANAGED_DOMAIN, *workers.SCRIPTS, *workers.IMAGES})
"""What says something by itself; the rest is judged only with what it belongs to."""
_OF_THE_ONLY_WORKER: Final = frozenset({workers.APPLICATION, surroundings.ROUTE, surroundings.ACCESS})


def alone(resource: Resource) -> tuple[Stack, Places]:
    """Return what one resource says by itself."""
    places: Places = {}
    stack = Stack()
    if resource.type in workers.SCRIPTS and workers.is_sandbox(resource, places):
        stack = _of_script(resource, places)
    elif resource.type == workers.APPLICATION:
        stack = Stack(containers=(workers.container(resource, {}, places),))
    elif resource.type in workers.IMAGES and resource.inside(_IMAGE_PARTS):
        stack = Stack(containers=(Container(image=Image(platform=workers.platform(resource, places))),))
    elif resource.type == surroundings.MANAGED_DOMAIN:
        stack = Stack(buckets=surroundings.buckets([resource], {}, places))
    return stack, places


def _of_script(resource: Resource, places: Places) -> Stack:
    said = workers.worker(resource, places)
    return Stack(
        environment=_environment(said.bindings),
        worker=said,
        classes=workers.classes(resource, places),
        containers=workers.uploaded_containers(resource, places),
        protected=surroundings.protected([resource], places),
    )


def _environment(bindings: tuple[Binding, ...] | None) -> Fact[str] | None:
    said = workers.variable(bindings, "ENVIRONMENT")
    return said if said and said.value in {LASTING, THROW_AWAY} else None


def stacks(resources: Sequence[Resource]) -> Iterator[tuple[Stack, Places]]:
    """Return what a whole program says, Worker by Worker."""
    by_urn = {each.urn: each for each in resources}
    applications = surroundings.of_type(resources, workers.APPLICATION)
    scripts = [
        each for each in resources if each.type in workers.SCRIPTS and workers.is_sandbox(each, {}, applications)
    ]
    owners = _Owners(by_urn, scripts)
    grouped: dict[str, list[Resource]] = {each.urn: [] for each in scripts}
    for each in resources:
        if each.type in TYPES:
            grouped.setdefault(owners.of(each), []).append(each)
    for urn, members in grouped.items():
        places: Places = {}
        stack = _of_script(by_urn[urn], places) if urn else Stack()
        root = owners.root(by_urn[urn]) if urn else None
        told = replace(
            stack,
            environment=_told(root, "environment", places) or stack.environment,
            budget=_budget(root, places),
            package=Package(locked=_told(root, "sdk_version", places)),
        )
        yield _completed(told, members, by_urn, places), places


def _completed(stack: Stack, members: Sequence[Resource], by_urn: Mapping[str, Resource], places: Places) -> Stack:
    """Add what the resources of a Worker say; records and certificates may belong to others, and are looked for."""
    applications = surroundings.of_type(members, workers.APPLICATION)
    routes = [each for each in surroundings.of_type(members, surroundings.ROUTE) if each.value("script") is not None]
    script = next((each for each in members if each.type in workers.SCRIPTS), None)
    previews = surroundings.preview(routes, [*by_urn.values()], places)
    guards = surroundings.of_type(members, surroundings.ACCESS)
    found = tuple(workers.container(each, by_urn, places) for each in applications)
    return replace(
        stack,
        containers=_merged(stack.containers, found) if found else stack.containers,
        protected=surroundings.protected(members, places),
        buckets=surroundings.buckets(members, _bindings_as_sent(script), places),
        preview=previews,
        access=surroundings.access(stack.worker.bindings, guards, previews),
    )


def _told(root: Resource | None, key: str, places: Places) -> Fact[str] | None:
    return Reader(root, places).fact(key, str) if root else None


def _budget(root: Resource | None, places: Places) -> Fact[float] | None:
    if root is None:
        return None
    said = root.value("budget")
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    return Fact(float(said), Reader(root, places).at("budget"))


def _bindings_as_sent(script: Resource | None) -> Mapping[str, Any]:
    said = script.properties.get("bindings") if script else None
    inner = mapping(said)
    if inner is None and isinstance(name_in(said), list):
        return {str(each.get("name")): each for each in name_in(said) if isinstance(each, dict)}
    return inner or {}


def _merged(uploaded: tuple[Container, ...] | None, made: tuple[Container, ...]) -> tuple[Container, ...]:
    """Put what the upload and the application say of a class's container together."""
    by_class = {each.class_name.value: each for each in uploaded or () if each.class_name}
    merged = []
    for each in made:
        twin = by_class.pop(each.class_name.value, None) if each.class_name else None
        merged.append(replace(each, images=twin.images) if twin else each)
    return (*merged, *by_class.values())


class _Owners:
    """Finds the Worker that a resource belongs to."""

    def __init__(self, by_urn: Mapping[str, Resource], scripts: Sequence[Resource]) -> None:
        self._by_urn, self._scripts = by_urn, [each.urn for each in scripts]
        self._roots = {root.urn: each.urn for each in scripts if (root := self.root(each))}
        self._names = {name: each.urn for each in scripts if (name := workers.script_name(each))}
        self._users = {urn: each.urn for each in scripts for urns in each.dependencies.values() for urn in urns}
        self._buckets = {
            name: each.urn
            for each in scripts
            for said in _bindings_as_sent(each).values()
            if isinstance(name := name_in((mapping(said) or {}).get("bucketName")), str)
        }

    def root(self, resource: Resource) -> Resource | None:
        """Return the SandboxStack that a resource is part of."""
        found: Resource | None = resource
        while found is not None and found.type != STACK:
            found = self._by_urn.get(found.parent)
        return found

    def of(self, resource: Resource) -> str:
        """Return the URN of the Worker, empty if there is none to be found."""
        return resource.urn if resource.urn in self._scripts else next(filter(None, self._candidates(resource)), "")

    def _candidates(self, resource: Resource) -> Iterator[str | None]:
        root = self.root(resource)
        yield self._roots.get(root.urn) if root else None
        for key in ("scriptName", "script"):
            name = resource.value(key)
            yield self._names.get(name) if isinstance(name, str) else None
        yield from (urn for urns in resource.dependencies.values() for urn in urns if urn in self._scripts)
        yield self._users.get(resource.urn)
        name = resource.value("name" if resource.type == surroundings.BUCKET else "bucketName")
        yield self._buckets.get(name) if isinstance(name, str) else None
        yield self._scripts[0] if len(self._scripts) == 1 and resource.type in _OF_THE_ONLY_WORKER else None
