"""The wrangler configuration of a Worker that is live in an account, for whoever has no project of it at hand.

Pure. What wrangler has no word for stands under keys that the conversion to settings reports as lost.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from ..platform import durable_objects
from ..platform.bindings import DURABLE_OBJECT, JSON, PLAIN_TEXT, SECRET_KINDS
from ..platform.containers import (
    DEFAULT_INSTANCE_TYPE,
    INSTANCE_TYPES,
    MANAGED,
    SSH_DEFAULT,
    TIERS_DEFAULT,
    Size,
    instance_type_of,
)
from . import bindings

CONFIGURATION: Final = "wrangler.jsonc"
CODE: Final = "worker"
"""Folder of the downloaded modules, beside the configuration."""
_RECORDS: Final = ("limits", "logpush", "observability", "placement")
_ELSEWHERE: Final = frozenset({*SECRET_KINDS, PLAIN_TEXT, JSON})
"""Kinds of bindings that wrangler does not say as bindings: values of secrets nobody reads, variables have a key."""


@dataclass(frozen=True)
class LiveWorker:
    """What an account says about a script."""

    name: str
    account_id: str
    main_module: str
    settings: Mapping[str, Any]
    workers_dev: bool = False
    preview_urls: bool = False
    classes: Mapping[str, str] = field(default_factory=dict)
    """Storage of the Durable Object classes."""
    declared: bool = False
    """Whether the classes come from `exports`."""
    images: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Images by name, for each class whose containers the Durable Objects manage."""
    applications: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Container applications by class."""
    schedules: tuple[str, ...] = ()
    routes: tuple[Mapping[str, Any], ...] = ()
    """Routes and custom domains, as wrangler writes them."""


def configuration(live: LiveWorker) -> dict[str, Any]:
    """Return what wrangler would have deployed this Worker from."""
    settings = live.settings
    found: dict[str, Any] = {
        "name": live.name,
        "account_id": live.account_id,
        "main": f"{CODE}/{live.main_module}",
        "no_bundle": True,
        "compatibility_date": settings.get("compatibility_date"),
        "compatibility_flags": list(settings.get("compatibility_flags") or ()),
        "workers_dev": live.workers_dev,
        "preview_urls": live.preview_urls,
        "routes": [dict(each) for each in live.routes],
        "triggers": {"crons": list(live.schedules)} if live.schedules else {},
        **{name: settings[name] for name in _RECORDS if settings.get(name)},
        "tail_consumers": list(settings.get("tail_consumers") or ()),
        "containers": [_container(live, name, each) for name, each in sorted(live.applications.items())],
        **_classes(live),
    }
    _bind(found, live)
    return {name: value for name, value in found.items() if value not in (None, [], {})}


def _classes(live: LiveWorker) -> dict[str, Any]:
    if live.declared:
        return {
            "exports": {
                name: {"type": durable_objects.EXPORT, "storage": storage}
                for name, storage in sorted(live.classes.items())
            }
        }
    step: dict[str, Any] = {"tag": "live"}
    for key, kind in durable_objects.CREATED_BY.items():
        if names := sorted(name for name, storage in live.classes.items() if storage == kind):
            step[key] = names
    return {"migrations": [step]} if len(step) > 1 else {}


def _bind(found: dict[str, Any], live: LiveWorker) -> None:
    unsaid = []
    for each in live.settings.get("bindings") or ():
        name, kind = each["name"], each["type"]
        if kind in _ELSEWHERE:
            if kind not in SECRET_KINDS:
                found.setdefault("vars", {})[name] = each["text" if kind == PLAIN_TEXT else "json"]
            continue
        fields = {key: value for key, value in each.items() if key not in ("name", *_filled_in(live, each))}
        if not bindings.put(found, name, fields):
            unsaid.append(dict(each))
    if unsaid:
        found["unsafe"] = {"bindings": unsaid}


def _filled_in(live: LiveWorker, binding: Mapping[str, Any]) -> set[str]:
    """Return the fields that the API adds to what was uploaded."""
    if binding["type"] != DURABLE_OBJECT:
        return set()
    return {"namespace_id", *(["script_name"] if binding.get("script_name") == live.name else [])}


def _container(live: LiveWorker, class_name: str, application: Mapping[str, Any]) -> dict[str, Any]:
    inner = application.get("configuration") or {}
    logs = (application.get("observability") or inner.get("observability") or {}).get("logs") or {}
    ssh = {**SSH_DEFAULT, **(inner.get("wrangler_ssh") or {})}
    found: dict[str, Any] = {
        "class_name": class_name,
        "name": application["name"],
        "observability": {"logs": {"enabled": bool(logs.get("enabled"))}},
        "ssh": {key: value for key, value in ssh.items() if key == "enabled" or value != SSH_DEFAULT.get(key)},
        "authorized_keys": inner.get("authorized_keys"),
    }
    if application["scheduling_policy"] == MANAGED:
        images = {name: {"image": image} for name, image in live.images.get(class_name, {}).items()}
        found |= {"scheduling_policy": MANAGED, "images": images}
    else:
        constraints = {key: value for key, value in (application.get("constraints") or {}).items() if value}
        if constraints.get("tiers") == TIERS_DEFAULT:
            del constraints["tiers"]
        found |= {
            "image": inner.get("image"),
            "instance_type": _size(inner),
            "max_instances": application.get("max_instances", 0),
            "constraints": constraints,
            "affinities": application.get("affinities"),
            "rollout_active_grace_period": application.get("rollout_active_grace_period") or None,
            **{key: inner.get(key) for key in ("command", "entrypoint", "environment_variables")},
            "trusted_user_ca_keys": inner.get("trusted_user_ca_keys"),
        }
    return {name: value for name, value in found.items() if value not in (None, [], {})}


def _size(configuration: Mapping[str, Any]) -> Any:
    if "vcpu" not in configuration:
        return configuration.get("instance_type")
    disk = (configuration.get("disk") or {}).get("size_mb", INSTANCE_TYPES[DEFAULT_INSTANCE_TYPE].disk_mb)
    size = Size(configuration["vcpu"], configuration["memory_mib"], disk)
    return instance_type_of(size) or asdict(size)
