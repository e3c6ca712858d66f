"""SandboxStack: one Cloudflare Sandbox stack as a component, and the outputs others build on.

After it ran an account has the Worker with its Durable Object classes, an image and a container application for each
kind of sandbox, buckets and a KV namespace, and where asked for a preview domain and Zero Trust in front of it. Destroy
is the reverse: previews stop answering first, applications go before the Worker, storage goes last.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pulumi

from .access import AccessArgs, AccessGate
from .application import ApplicationArgs, SandboxApplication
from .bundle import packaged
from .bundle import worker as code
from .domain import DomainArgs, PreviewDomain
from .image import ImageArgs, SandboxImage
from .naming import physical_name
from .settings import SandboxSettings, SettingsError
from .settings.document import Kind
from .storage import SandboxStorage, StorageArgs
from .worker import SandboxWorker, WorkerArgs

TYPE: Final = "cloudflare-sandbox:index:SandboxStack"
BUILD_FOLDER: Final = ".sandbox-build"
"""Where bundles and build contexts are made, in the project's folder; all of it can be deleted and comes back."""


class SandboxStack(pulumi.ComponentResource):
    """A sandbox stack: Worker, container images, Durable Object classes, storage and preview domain under one name."""

    worker_name: pulumi.Output[str]
    """Name of the Worker script."""
    worker_version_id: pulumi.Output[str]
    """Id of the version that is live."""
    api_url: pulumi.Output[str | None]
    """Where the API answers: on the domain, else on workers.dev if that is on."""
    preview_hostname: pulumi.Output[str | None]
    """Host below which previews answer, if there is a domain."""
    images: pulumi.Output[Mapping[str, str]]
    """Images by kind of sandbox, each by digest: what another stack promotes."""
    application_ids: pulumi.Output[Mapping[str, str]]
    """Container applications by kind of sandbox."""
    namespace_ids: pulumi.Output[Mapping[str, str]]
    """Durable Object namespaces by class."""
    bucket_names: pulumi.Output[Mapping[str, str]]
    """R2 buckets by role: files, backups, artifacts."""
    service_tokens: pulumi.Output[Mapping[str, Any]]
    """Zero Trust tokens for machines by name: client id and client secret. Secret."""
    environment: pulumi.Output[str]
    """`throw-away` or `lasting`."""
    sdk_version: pulumi.Output[str]
    """Version of the Sandbox SDK that Worker and images were made with."""

    def __init__(
        self,
        name: str,
        settings: SandboxSettings,
        opts: pulumi.ResourceOptions | None = None,
        *,
        secrets: Mapping[str, pulumi.Input[str]] | None = None,
        folder: Path | None = None,
    ) -> None:
        """Deploy a sandbox stack.

        Args:
            name: logical name; differs between the stacks of one program.
            settings: what the stack is.
            opts: options of the component.
            secrets: values of the secrets that the settings name.
            folder: where paths in the settings begin; the program's folder if left out.
        """
        folder = folder or Path()
        plan = _Plan(settings, folder, dict(secrets or {}))
        super().__init__(TYPE, name, None, opts)
        deployment = _Deployment(self, name, plan)
        deployment.run()
        self.register_outputs(self.outputs())

    def outputs(self) -> dict[str, pulumi.Output[Any]]:
        """Give the outputs under the names that state and exports use."""
        return {key: getattr(self, key) for key in OUTPUTS}
