"""Pulumi components for Cloudflare Sandbox stacks.

Importing this package loads nothing else: each public name brings in its module when it is first used, so that a
program pays only for what it needs. Inside the package imports are relative, because it is also installed as
`pulumi_cloudflare_sandbox`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .image import SandboxImage
    from .provider.resources import ContainerApplication, RegistryImage, WorkerScript, get_registry_credentials
    from .settings import SandboxSettings, SettingsError
    from .stack import SandboxStack

__all__ = [
    "ContainerApplication",
    "RegistryImage",
    "SandboxImage",
    "SandboxSettings",
    "SandboxStack",
    "SettingsError",
    "WorkerScript",
    "get_registry_credentials",
]

_HOMES = {
    "ContainerApplication": ".provider.resources",
    "RegistryImage": ".provider.resources",
    "SandboxImage": ".image",
    "SandboxSettings": ".settings",
    "SandboxStack": ".stack",
    "SettingsError": ".settings",
    "WorkerScript": ".provider.resources",
    "get_registry_credentials": ".provider.resources",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
