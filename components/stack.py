"""SandboxStack: one Cloudflare Sandbox stack as a component, and the outputs others build on.

Today it fixes the names under which the Worker, its image and its buckets will live; no resource is created in an
account yet.
"""

from typing import Final

import pulumi

from .naming import physical_name
from .settings import SandboxSettings

TYPE: Final = "cloudflare-sandbox:index:SandboxStack"


class SandboxStack(pulumi.ComponentResource):
    """A sandbox stack: Worker, container image, Durable Object class, storage and preview domain under one name."""

    worker_name: pulumi.Output[str]
    """Name of the Worker script."""
    image_name: pulumi.Output[str]
    """Repository of the container image in the account's registry."""
    bucket_names: pulumi.Output[dict[str, str]]
    """Names of the R2 buckets by role: files, backups, artifacts."""
    environment: pulumi.Output[str]
    """`throw-away` or `lasting`."""

    def __init__(self, name: str, settings: SandboxSettings, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(TYPE, name, None, opts)
        prefix = (name, pulumi.get_stack())
        self.worker_name = pulumi.Output.from_input(physical_name(*prefix))
        self.image_name = pulumi.Output.from_input(physical_name(*prefix, "image"))
        roles = ("files", "backups", "artifacts")
        self.bucket_names = pulumi.Output.from_input({role: physical_name(*prefix, role) for role in roles})
        self.environment = pulumi.Output.from_input(settings.environment)
        self.register_outputs(self.outputs())

    def outputs(self) -> dict[str, pulumi.Output[object]]:
        """Give the outputs under the names that state and exports use."""
        return {
            "worker_name": self.worker_name,
            "image_name": self.image_name,
            "bucket_names": self.bucket_names,
            "environment": self.environment,
        }
