"""SandboxApplication: the container application of one sandbox class, as the settings describe it.

In the SDK's generation 0.12 the scheduler runs instances of one image; in generation 1.x the Durable Objects manage
instances of the images that were uploaded with the Worker, and only who they belong to, logs and SSH are set here.
"""

from dataclasses import dataclass
from typing import Final

import pulumi

from .cloudflare.sandbox import (
    ContainerApplication,
    ContainerApplicationArgs,
    PlacementConstraintsArgs,
    RolloutSettingsArgs,
)
from .platform.containers import MANAGED, SANDBOX_INSTANCE_TYPE, SCHEDULED
from .platform.sdk import Generation
from .settings.container import ContainerSettings, RolloutSettings

TYPE: Final = "cloudflare-sandbox:index:SandboxApplication"


@dataclass(frozen=True)
class ApplicationArgs:
    """What a SandboxApplication is made from."""

    settings: ContainerSettings
    """The section `container` of the settings."""
    account_id: pulumi.Input[str]
    script_name: pulumi.Input[str]
    """The Worker that has the class."""
    class_name: str
    """The sandbox class."""
    application_name: str
    """Its name in the account."""
    generation: Generation
    """Generation of the Sandbox SDK that the Worker was made with."""
    image: pulumi.Input[str]
    """The image by digest."""
    worker_version_id: pulumi.Input[str]
    """Version of the Worker that belongs to the image: both go back together."""


class SandboxApplication(pulumi.ComponentResource):
    """The container application of one sandbox class."""

    application_id: pulumi.Output[str]
    """Id of the application."""
    namespace_id: pulumi.Output[str]
    """Id of the Durable Object namespace it serves."""

    def __init__(self, name: str, args: ApplicationArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(TYPE, name, None, opts)
        arguments = _managed(args) if args.generation == "1.x" else _scheduled(args)
        application = ContainerApplication(name, arguments, pulumi.ResourceOptions(parent=self))
        self.application_id = application.application_id
        self.namespace_id = application.namespace_id
        self.register_outputs({"application_id": self.application_id, "namespace_id": self.namespace_id})


def _managed(args: ApplicationArgs) -> ContainerApplicationArgs:
    return {
        "account_id": args.account_id,
        "script_name": args.script_name,
        "class_name": args.class_name,
        "name": args.application_name,
        "adopt": args.settings.adopt,
        "scheduling_policy": MANAGED,
        "ssh": {"enabled": args.settings.ssh},
        "observability": {"logs": {"enabled": args.settings.logs}},
    }


def _scheduled(args: ApplicationArgs) -> ContainerApplicationArgs:
    settings = args.settings
    arguments: ContainerApplicationArgs = {
        **_managed(args),
        "scheduling_policy": SCHEDULED,
        "image": args.image,
        "max_instances": settings.max_instances,
        "rollout": _rollout(settings.rollout),
        "worker_version_id": args.worker_version_id,
    }
    if settings.size:
        arguments["size"] = {
            "vcpu": settings.size.vcpu,
            "memory_mib": settings.size.memory_mib,
            "disk_mb": settings.size.disk_mb,
        }
    else:
        arguments["instance_type"] = settings.instance_type or SANDBOX_INSTANCE_TYPE
    constraints: PlacementConstraintsArgs = {}
    if settings.regions:
        constraints["regions"] = list(settings.regions)
    if settings.jurisdiction:
        constraints["jurisdiction"] = settings.jurisdiction
    if constraints:
        arguments["constraints"] = constraints
    if settings.environment:
        arguments["environment"] = settings.environment
    return arguments


def _rollout(settings: RolloutSettings) -> RolloutSettingsArgs:
    arguments: RolloutSettingsArgs = {
        "kind": settings.kind,
        "grace_period_seconds": settings.grace_period_seconds,
        "on_failure": settings.on_failure,
    }
    if settings.steps:
        arguments["steps"] = list(settings.steps)
    return arguments
