"""SandboxApplication: the container application of one sandbox class, as the settings describe it.

In the SDK's generation 0.12 the scheduler runs instances of one image; in generation 1.x the Durable Objects manage
instances of the images that were uploaded with the Worker, and nothing is set here but who they belong to.
"""

from dataclasses import dataclass
from typing import Any, Final

import pulumi

from .platform.containers import MANAGED, SCHEDULED
from .platform.sdk import Generation
from .provider.resources import ContainerApplication
from .settings.container import DEFAULT_INSTANCE_TYPE, ContainerSettings

TYPE: Final = "cloudflare-sandbox:index:SandboxApplication"


@dataclass(frozen=True)
class ApplicationArgs:
    """What a SandboxApplication is made from."""

    settings: ContainerSettings
    account_id: pulumi.Input[str]
    script_name: pulumi.Input[str]
    class_name: str
    application_name: str
    generation: Generation
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
        application = ContainerApplication(
            name,
            {
                "account_id": args.account_id,
                "script_name": args.script_name,
                "class_name": args.class_name,
                "name": args.application_name,
                "adopt": args.settings.adopt,
                **(_managed(args) if args.generation == "1.x" else _scheduled(args)),
            },
            pulumi.ResourceOptions(parent=self),
        )
        self.application_id = application.application_id
        self.namespace_id = application.namespace_id
        self.register_outputs({"application_id": self.application_id, "namespace_id": self.namespace_id})


def _managed(args: ApplicationArgs) -> Any:
    return {"scheduling_policy": MANAGED, "ssh": {"enabled": args.settings.ssh}}


def _scheduled(args: ApplicationArgs) -> Any:
    settings = args.settings
    rollout = settings.rollout
    size = {"instance_type": settings.instance_type or DEFAULT_INSTANCE_TYPE}
    return {
        "scheduling_policy": SCHEDULED,
        "image": args.image,
        **({"size": settings.size.model_dump()} if settings.size else size),
        "max_instances": settings.max_instances,
        "constraints": _given(regions=list(settings.regions), jurisdiction=settings.jurisdiction),
        "environment": settings.environment or None,
        "observability": {"logs": {"enabled": settings.logs}},
        "ssh": {"enabled": settings.ssh},
        "rollout": _given(
            kind=rollout.kind,
            steps=list(rollout.steps or ()),
            grace_period_seconds=rollout.grace_period_seconds,
            on_failure=rollout.on_failure,
        ),
        "worker_version_id": args.worker_version_id,
    }


def _given(**values: Any) -> dict[str, Any] | None:
    """Give what has a value; nothing if none has."""
    return {key: value for key, value in values.items() if value not in (None, [])} or None
