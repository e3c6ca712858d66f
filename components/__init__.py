"""Pulumi components for Cloudflare Sandbox stacks.

Importing this package loads nothing else: each public name brings in its module when it is first used, so that a
program pays only for what it needs. Inside the package imports are relative, because it is also installed as
`pulumi_cloudflare_sandbox`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .access import AccessArgs, AccessGate
    from .application import ApplicationArgs, SandboxApplication
    from .credentials import require_token
    from .domain import DomainArgs, PreviewDomain
    from .image import ImageArgs, SandboxImage
    from .program import end, end_plainly, fast_start
    from .provider.resources import ContainerApplication, RegistryImage, WorkerScript, get_registry_credentials
    from .settings import SandboxSettings, SettingsError
    from .stack import SandboxStack
    from .storage import SandboxStorage, StorageArgs
    from .worker import SandboxWorker, WorkerArgs

__all__ = [
    "AccessArgs",
    "AccessGate",
    "ApplicationArgs",
    "ContainerApplication",
    "DomainArgs",
    "ImageArgs",
    "PreviewDomain",
    "RegistryImage",
    "SandboxApplication",
    "SandboxImage",
    "SandboxSettings",
    "SandboxStack",
    "SandboxStorage",
    "SandboxWorker",
    "SettingsError",
    "StorageArgs",
    "WorkerArgs",
    "WorkerScript",
    "end",
    "end_plainly",
    "fast_start",
    "get_registry_credentials",
    "require_token",
]

_HOMES = {
    "AccessArgs": ".access",
    "AccessGate": ".access",
    "ApplicationArgs": ".application",
    "ContainerApplication": ".provider.resources",
    "DomainArgs": ".domain",
    "ImageArgs": ".image",
    "PreviewDomain": ".domain",
    "RegistryImage": ".provider.resources",
    "SandboxApplication": ".application",
    "SandboxImage": ".image",
    "SandboxSettings": ".settings",
    "SandboxStack": ".stack",
    "SandboxStorage": ".storage",
    "SandboxWorker": ".worker",
    "SettingsError": ".settings",
    "StorageArgs": ".storage",
    "WorkerArgs": ".worker",
    "WorkerScript": ".provider.resources",
    "get_registry_credentials": ".provider.resources",
    "end": ".program",
    "end_plainly": ".program",
    "fast_start": ".program",
    "require_token": ".credentials",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
