"""SandboxWorker: the Worker script with its Durable Object classes and bindings, and the schedules it is called on.

The names of bindings are those that the Sandbox SDK and this package's Worker look for; values may be outputs of other
resources.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import pulumi

from . import cloudflare
from .bundle.worker import WorkerBundle
from .cloudflare.sandbox import (
    WorkerLimitsArgs,
    WorkerObservabilityArgs,
    WorkerPlacementArgs,
    WorkerScript,
    WorkerScriptArgs,
)
from .platform import compatibility
from .platform.bindings import DURABLE_OBJECT, PLAIN_TEXT, RATE_LIMIT, SECRET_KINDS, SECRET_TEXT
from .settings import SettingsError
from .settings.worker import RATE_LIMITER, ObservabilitySettings, WorkerSettings, clashes

TYPE: Final = "cloudflare-sandbox:index:SandboxWorker"

Bindings = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class WorkerArgs:
    """What a SandboxWorker is made from."""

    settings: WorkerSettings
    account_id: pulumi.Input[str]
    script_name: str
    bundle: WorkerBundle
    classes: Mapping[str, Mapping[str, pulumi.Input[str]]]
    """Sandbox classes by name, each with its images by name where the Durable Objects choose one (generation 1.x)."""
    bindings: Bindings = field(default_factory=dict)
    """Bindings of storage and others, by name."""
    variables: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    """Plain text by name."""
    secrets: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    """Secrets by name."""
    lasting: bool = True
    """Whether the script, which owns the objects' data, is protected."""
    after: Sequence[pulumi.Resource] = ()
    """What new code waits for: the images it is to run with."""


class SandboxWorker(pulumi.ComponentResource):
    """The Worker script."""

    script_name: pulumi.Output[str]
    """Name of the script."""
    version_id: pulumi.Output[str]
    """Id of the live version."""
    namespace_ids: pulumi.Output[Mapping[str, str]]
    """Ids of the Durable Object namespaces by class."""
    url: pulumi.Output[str | None]
    """URL on workers.dev, if it answers there."""

    def __init__(self, name: str, args: WorkerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        script_args = _script(args)
        super().__init__(TYPE, name, None, opts)
        settings = args.settings
        # Not `protect=False`: that would undo protection given to the whole component.
        protected = pulumi.ResourceOptions(
            parent=self, protect=True if args.lasting else None, depends_on=[*args.after]
        )
        script = WorkerScript(name, script_args, protected)
        if settings.adopt and pulumi.runtime.is_dry_run():
            pulumi.log.warn(_taken_over(args.script_name, settings.schedules), resource=self)
        if settings.schedules:
            cloudflare.WorkersCronTrigger(
                f"{name}-schedules",
                {
                    "account_id": args.account_id,
                    "script_name": script.script_name,
                    "schedules": [{"cron": each} for each in settings.schedules],
                },
                pulumi.ResourceOptions(parent=self, deleted_with=script),
            )
        self.script_name = script.script_name
        self.version_id = script.version_id
        self.namespace_ids = script.namespace_ids
        self.url = script.url
        self.register_outputs(
            {
                "script_name": self.script_name,
                "version_id": self.version_id,
                "namespace_ids": self.namespace_ids,
                "url": self.url,
            }
        )


def _taken_over(script: str, schedules: Sequence[str]) -> str:
    """What the plugin, which sees the script alone, cannot say of an adoption."""
    if not schedules:
        return f"worker.adopt: schedules that {script} has stay, as worker.schedules is empty"
    return (
        f"worker.adopt: {script} gets the schedules {', '.join(schedules)} in place of any that it has; set "
        "worker.schedules to its own to keep them. Remove worker.adopt once it has been taken over"
    )


def _script(args: WorkerArgs) -> WorkerScriptArgs:
    settings = args.settings
    arguments: WorkerScriptArgs = {
        "account_id": args.account_id,
        "script_name": args.script_name,
        "main_module": args.bundle.main_module,
        "modules": {
            name: {"file": str(module.file), "sha256": module.sha256} for name, module in args.bundle.modules.items()
        },
        "compatibility_date": settings.compatibility_date,
        "compatibility_flags": compatibility.flags(settings.compatibility_date, settings.compatibility_flags),
        "bindings": _bindings(args),
        "classes": _classes(args),
        "deleted_classes": list(settings.deleted_classes),
        "lifecycle": settings.lifecycle,
        "observability": _observability(settings.observability),
        "workers_dev": settings.workers_dev,
        "adopt": settings.adopt,
    }
    limits = {"cpu_ms": settings.cpu_milliseconds, "subrequests": settings.subrequests}
    if any(limits.values()):
        arguments["limits"] = cast("WorkerLimitsArgs", {name: value for name, value in limits.items() if value})
    if settings.placement:
        arguments["placement"] = cast("WorkerPlacementArgs", settings.placement.model_dump(exclude_none=True))
    if settings.preview_urls:
        arguments["preview_urls"] = True
    if settings.logpush:
        arguments["logpush"] = True
    if settings.tail_consumers:
        arguments["tail_consumers"] = [{"service": each} for each in settings.tail_consumers]
    if settings.keeps_secrets:
        arguments["keep_bindings"] = list(SECRET_KINDS)
    return arguments


def _observability(settings: ObservabilitySettings) -> WorkerObservabilityArgs:
    said: dict[str, Any] = {"enabled": settings.enabled, "head_sampling_rate": settings.sampling_rate}
    for name, records in (("logs", settings.logs), ("traces", settings.traces)):
        if records:
            fields = records.model_dump()
            said[name] = {"head_sampling_rate": fields.pop("sampling_rate"), **fields}
    return cast("WorkerObservabilityArgs", said)


def _classes(args: WorkerArgs) -> dict[str, Any]:
    classes: dict[str, Any] = {
        name: {"container": {"images": dict(images)} if images else {}} for name, images in args.classes.items()
    }
    classes |= {name: {"storage": each.storage} for name, each in args.settings.classes.items()}
    former = args.settings.renamed_classes
    return {
        name: {**each, **({"renamed_from": former[name]} if name in former else {})} for name, each in classes.items()
    }


def _bindings(args: WorkerArgs) -> dict[str, Any]:
    """Return all bindings; a name that is used twice is refused."""
    settings, limit = args.settings, args.settings.rate_limit
    limiter = {RATE_LIMITER: _rate_limiter(args.script_name, limit.requests, limit.period_seconds)} if limit else {}
    owned: list[tuple[str, Bindings]] = [
        ("bindings", args.bindings),
        ("this package", _texts(PLAIN_TEXT, args.variables)),
        ("worker.rate_limit", limiter),
        ("class_name", _class_bindings(settings.unbound(args.classes))),
        ("worker.classes", _class_bindings(settings.unbound(settings.classes))),
        ("secrets", _texts(SECRET_TEXT, args.secrets)),
        ("worker.variables", _texts(PLAIN_TEXT, settings.variables)),
        ("worker.bindings", settings.bindings),
    ]
    if wrong := clashes(owned):
        raise SettingsError(wrong)
    return {name: dict(binding) for _, bindings in owned for name, binding in bindings.items()}


def _texts(kind: str, texts: Mapping[str, pulumi.Input[str]]) -> Bindings:
    return {name: {"type": kind, "text": text} for name, text in texts.items()}


def _class_bindings(names: Iterable[str]) -> Bindings:
    return {name: {"type": DURABLE_OBJECT, "class_name": name} for name in names}


def _rate_limiter(script_name: str, requests: int, period_seconds: int) -> dict[str, Any]:
    """Make a rate limiter whose counter no other script shares: its id is a number the account knows no owner of."""
    namespace = int.from_bytes(hashlib.sha256(script_name.encode()).digest()[:4], "big") & 0x7FFFFFFF
    return {
        "type": RATE_LIMIT,
        "namespace_id": str(namespace),
        "simple": {"limit": requests, "period": period_seconds},
    }
