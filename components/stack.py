"""SandboxStack: one Cloudflare Sandbox stack as a component, and the outputs others build on.

After it ran an account has the Worker with its Durable Object classes, an image and a container application for each
kind of sandbox, buckets and a KV namespace, and where asked for a preview domain and Zero Trust in front of it. Destroy
is the reverse: previews stop answering first, applications go before the Worker, storage goes last.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
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
from .settings.container import ContainerSettings
from .settings.document import MAIN_CLASS
from .settings.image import ImageSettings
from .storage import SandboxStorage, StorageArgs
from .worker import SandboxWorker, WorkerArgs

TYPE: Final = "cloudflare-sandbox:index:SandboxStack"
BUILD_FOLDER: Final = ".sandbox-build"


@dataclass(frozen=True)
class _Kind:
    """A kind of sandbox: its class, image and instances."""

    name: str
    class_name: str
    image: ImageSettings
    container: ContainerSettings


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
    environment: pulumi.Output[str]
    """`throw-away` or `lasting`."""
    sdk_version: pulumi.Output[str]
    """Version of the Sandbox SDK that Worker and images were made with."""
