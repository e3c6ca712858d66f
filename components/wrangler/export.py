"""The wrangler configuration of a stack's settings, so that `wrangler dev`, `types` and `tail` go on working.

What wrangler cannot say is listed in the comment on top, beside what owns the Worker.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..naming import physical_name
from ..platform import compatibility, r2, sdk, storage
from ..platform.bindings import DURABLE_OBJECT, JSON, KV_NAMESPACE, QUEUE, R2_BUCKET
from ..platform.containers import MANAGED, SANDBOX_INSTANCE_TYPE
from ..platform.durable_objects import EXPORT, EXPORTS, SQLITE
from ..settings import SandboxSettings
from ..settings.document import MAIN_KIND, Kind
from . import bindings, guard

SCHEMA: Final = "node_modules/wrangler/config-schema.json"


@dataclass(frozen=True)
class Place:
    """Where the configuration will stand, and for what."""

    stack: str
    """Name of the Pulumi stack."""
    owner: str
    """What deploys the Worker, in words."""
    prefix: str = ""
    """Way from the configuration's folder to where the settings' paths begin: empty, or ending in a slash."""
    packaged: str = ""
    """Entry of this package's Worker, for settings that name none."""
    sdk_version: str | None = None
    images: Mapping[str, str] = field(default_factory=dict)
    """Images by kind of sandbox, where a deployment has pushed them."""


@dataclass(frozen=True)
class Exported:
    """A configuration, and what of the settings it does not say."""

    configuration: dict[str, Any]
    unsaid: tuple[str, ...]

    def text(self, place: Place) -> str:
        """Return the file."""
        lines = [
            f"Made by `sandbox-stack export`. This Worker belongs to {place.owner}:",
            "change its settings, deploy with `pulumi up`, and export again. This file is for `wrangler dev`,",
            "`wrangler types` and `wrangler tail`.",
            *(f"Not said here: {each}." for each in self.unsaid),
        ]
        head = "".join(f"// {line}\n" for line in lines)
        return f"{head}{json.dumps(self.configuration, indent=2, ensure_ascii=False)}\n"


def exported(settings: SandboxSettings, place: Place) -> Exported:
    """Return the configuration of settings."""
    worker = settings.worker
    prefix = (settings.name, place.stack)
    script = worker.name or physical_name(*prefix)
    main = worker.entry or worker.bundle
    containers = [_container(kind, settings, place) for kind in settings.kinds]
    found: dict[str, Any] = {
        "$schema": SCHEMA,
        "name": script,
        **({"account_id": settings.account_id} if settings.account_id else {}),
        "main": f"{place.prefix}{main}" if main else place.packaged,
        **({"no_bundle": True} if worker.bundle else {}),
        "build": {"command": guard.command(place.owner)},
        "compatibility_date": worker.compatibility_date,
        "compatibility_flags": compatibility.flags(worker.compatibility_date, worker.compatibility_flags),
        "workers_dev": worker.workers_dev,
        "preview_urls": worker.preview_urls,
        "routes": _routes(settings),
        "triggers": {"crons": list(worker.schedules)},
        "observability": _observability(settings),
        **_records(settings),
        "vars": {
            **settings.package_variables,
            **worker.variables,
            **{name: each["json"] for name, each in worker.bindings.items() if each["type"] == JSON},
        },
        **({"secrets": {"required": list(settings.secrets)}} if settings.secrets else {}),
        "containers": containers,
    }
    unsaid = [*_unsaid(settings), *_bind(found, settings, prefix)]
    found |= _classes(settings)
    return Exported({key: value for key, value in found.items() if value not in ({}, [])}, tuple(unsaid))


def _records(settings: SandboxSettings) -> dict[str, Any]:
    worker = settings.worker
    limits = {"cpu_ms": worker.cpu_milliseconds, "subrequests": worker.subrequests}
    return {
        "limits": {name: value for name, value in limits.items() if value is not None},
        "placement": worker.placement.model_dump(exclude_none=True) if worker.placement else {},
        **({"logpush": True} if worker.logpush else {}),
        "tail_consumers": [{"service": each} for each in worker.tail_consumers],
    }


def _observability(settings: SandboxSettings) -> dict[str, Any]:
    said = settings.worker.observability
    found: dict[str, Any] = {"enabled": said.enabled, "head_sampling_rate": said.sampling_rate}
    for name, records in (("logs", said.logs), ("traces", said.traces)):
        if records:
            fields = records.model_dump(mode="json")
            found[name] = {"head_sampling_rate": fields.pop("sampling_rate"), **fields}
    return found


def _routes(settings: SandboxSettings) -> list[dict[str, str]]:
    found = []
    for route in settings.worker.routes:
        zone = {"zone_id": route.zone_id} if route.zone_id else {"zone_name": str(route.zone)}
        found.append({"pattern": route.pattern, **zone})
    if settings.domain:
        name = settings.domain.zone_name
        found += [{"pattern": f"{host}/*", "zone_name": name} for host in settings.domain.hosts.values()]
    return found


def _bind(found: dict[str, Any], settings: SandboxSettings, prefix: tuple[str, ...]) -> list[str]:
    """Add the bindings; give what wrangler cannot bind."""
    every: dict[str, dict[str, Any]] = {
        name: {"type": DURABLE_OBJECT, "class_name": name}
        for name in (*(kind.class_name for kind in settings.kinds), *settings.worker.classes)
        if name not in settings.worker.bound_classes
    }
    every |= {name: each for name, each in settings.worker.bindings.items() if each["type"] != JSON}
    for role, bucket in settings.storage.buckets.items():
        every[storage.BINDINGS[role]] = _bucket(
            bucket.name or physical_name(*prefix, role), settings.storage.jurisdiction
        )
    for name, kept in settings.storage.existing.buckets.items():
        every[name] = _bucket(kept.name, kept.jurisdiction)
    for name, held in settings.storage.existing.namespaces.items():
        every[name] = {"type": KV_NAMESPACE, "namespace_id": held.id}
    if settings.storage.conversations.enabled:
        every[storage.BINDINGS[storage.CONVERSATIONS]] = {
            "type": KV_NAMESPACE
        }  # without an id, wrangler has one for development
    events = settings.storage.events
    if events.enabled:
        queue = events.name or physical_name(*prefix, storage.EVENTS)
        every[storage.BINDINGS[storage.EVENTS]] = {"type": QUEUE, "queue_name": queue}
    return [f"the binding {name}" for name, value in every.items() if not bindings.put(found, name, value)]


def _bucket(name: str, jurisdiction: str) -> dict[str, Any]:
    place = {} if jurisdiction == r2.DEFAULT_JURISDICTION else {"jurisdiction": jurisdiction}
    return {"type": R2_BUCKET, "bucket_name": name, **place}


def _container(kind: Kind, settings: SandboxSettings, place: Place) -> dict[str, Any]:
    said = kind.container
    name = said.name or physical_name(settings.name, place.stack, kind.name)
    common = {
        "class_name": kind.class_name,
        "name": name,
        "ssh": {"enabled": said.ssh},
        "observability": {"logs": {"enabled": said.logs}},
    }
    image, context = _image(kind, settings, place)
    if settings.sdk.generation == "1.x":
        built = {"dockerfile": image, **({"build_context": context} if context else {})}
        named = built if kind.image.dockerfile else {"image": image}
        return {**common, "scheduling_policy": MANAGED, "images": {kind.image.name or kind.name: named}}
    constraints: dict[str, Any] = {"regions": list(said.regions)} if said.regions else {}
    if said.jurisdiction:
        constraints["jurisdiction"] = said.jurisdiction
    steps = {"rollout_step_percentage": list(said.rollout.steps)} if said.rollout.steps else {}
    if said.rollout.kind == "immediate":
        steps = {"rollout_step_percentage": [100]}
    grace = said.rollout.grace_period_seconds
    return {
        **common,
        "image": image,
        **({"image_build_context": context} if context else {}),
        "instance_type": said.size.model_dump() if said.size else said.instance_type or SANDBOX_INSTANCE_TYPE,
        "max_instances": said.max_instances,
        **({"constraints": constraints} if constraints else {}),
        **steps,
        **({"rollout_active_grace_period": grace} if grace else {}),
    }


def _image(kind: Kind, settings: SandboxSettings, place: Place) -> tuple[str, str]:
    """Return the image, or the Dockerfile and its folder."""
    said = kind.image
    if said.dockerfile:
        return f"{place.prefix}{said.dockerfile}", f"{place.prefix}{said.context}" if said.context else ""
    if said.reference:
        return said.reference, ""
    if kind.name in place.images:
        return place.images[kind.name], ""
    version = settings.sdk.version or place.sdk_version
    official = f"{sdk.IMAGE}:{sdk.tag(version, said.variant)}" if version else sdk.IMAGE
    return said.from_image or official, ""


def _classes(settings: SandboxSettings) -> dict[str, Any]:
    worker = settings.worker
    storage = {kind.class_name: SQLITE for kind in settings.kinds}
    storage |= {name: each.storage for name, each in worker.classes.items()}
    former, deleted = worker.renamed_classes, worker.deleted_classes
    if worker.lifecycle == EXPORTS:
        entry = {"type": EXPORT}
        return {
            "exports": {
                **{name: {**entry, "storage": kind} for name, kind in storage.items()},
                **{old: {**entry, "state": "renamed", "renamed_to": new} for new, old in former.items()},
                **{name: {**entry, "state": "deleted"} for name in deleted},
            }
        }
    begun = {former.get(name, name): kind for name, kind in storage.items()} | dict.fromkeys(deleted, SQLITE)
    first: dict[str, Any] = {"tag": "v1", "new_sqlite_classes": [n for n, kind in begun.items() if kind == SQLITE]}
    if other := [name for name, kind in begun.items() if kind != SQLITE]:
        first["new_classes"] = other
    steps = [first]
    if former:
        steps.append({"tag": "v2", "renamed_classes": [{"from": old, "to": new} for new, old in former.items()]})
    if deleted:
        steps.append({"tag": "v3", "deleted_classes": list(deleted)})
    return {"migrations": steps}


def _unsaid(settings: SandboxSettings) -> list[str]:
    found = []
    for kind in settings.kinds:
        section = "container" if kind.name == MAIN_KIND else f"further_sandboxes.{kind.name}.container"
        found += [f"{section}.environment"] if kind.container.environment else []
        built = not (kind.image.dockerfile or kind.image.reference)
        found += [f"what is put into the image of the kind {kind.name}"] if built else []
    found += ["access (API keys, Zero Trust)"] if settings.access.api_keys or settings.access.zero_trust else []
    found += ["the rate limit of API keys"] if settings.worker.rate_limit else []
    return found
