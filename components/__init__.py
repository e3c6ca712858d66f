"""Pulumi components for Cloudflare Sandbox stacks.

Importing this package loads nothing else: each public name brings in its module when it is first used, so that a
program pays only for what it needs. Inside the package imports are relative, because it is also installed as
`pulumi_cloudflare_sandbox`.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .access import AccessArgs, AccessGate
    from .application import ApplicationArgs, SandboxApplication
    from .cloudflare.registry_credentials import get_registry_credentials
    from .cloudflare.sandbox import ContainerApplication, RegistryImage, WorkerScript
    from .credentials import require_token
    from .domain import DomainArgs, PreviewDomain
    from .image import ImageArgs, SandboxImage
    from .program import end, end_plainly, fast_start
    from .settings import SandboxSettings, SettingsError
    from .stack import SandboxStack
    from .storage import SandboxStorage, StorageArgs
    from .tenants.plan import TenantsError
    from .tenants.tenants import Tenants
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
    "Tenants",
    "TenantsError",
    "WorkerArgs",
    "WorkerScript",
    "end",
    "end_plainly",
    "fast_start",
    "get_registry_credentials",
    "require_token",
]


def lazily(package: str, homes: Mapping[str, tuple[str, ...]]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package, from the public names that each of its modules has."""
    modules = {name: module for module, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(modules[name], package), name)

    return get, lambda: sorted(modules)


__getattr__, __dir__ = lazily(
    __name__,
    {
        ".access": ("AccessArgs", "AccessGate"),
        ".application": ("ApplicationArgs", "SandboxApplication"),
        ".cloudflare.registry_credentials": ("get_registry_credentials",),
        ".cloudflare.sandbox": ("ContainerApplication", "RegistryImage", "WorkerScript"),
        ".credentials": ("require_token",),
        ".domain": ("DomainArgs", "PreviewDomain"),
        ".image": ("ImageArgs", "SandboxImage"),
        ".program": ("end", "end_plainly", "fast_start"),
        ".settings": ("SandboxSettings", "SettingsError"),
        ".stack": ("SandboxStack",),
        ".storage": ("SandboxStorage", "StorageArgs"),
        ".tenants.plan": ("TenantsError",),
        ".tenants.tenants": ("Tenants",),
        ".worker": ("SandboxWorker", "WorkerArgs"),
    },
)
