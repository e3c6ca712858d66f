"""Tests of your own stack without an account: fixtures for pytest, and what they give.

pytest loads `plugin` wherever this package is installed; nothing else is loaded until a test asks for a fixture.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .emulator import Account, Emulator
    from .faults import Fault, Faults
    from .sandbox import Result, Sandbox, SandboxError
    from .stack import DeploymentError, Stack

__all__ = [
    "Account",
    "DeploymentError",
    "Emulator",
    "Fault",
    "Faults",
    "Result",
    "Sandbox",
    "SandboxError",
    "Stack",
]

_HOMES = {
    "Account": ".emulator",
    "DeploymentError": ".stack",
    "Emulator": ".emulator",
    "Fault": ".faults",
    "Faults": ".faults",
    "Result": ".sandbox",
    "Sandbox": ".sandbox",
    "SandboxError": ".sandbox",
    "Stack": ".stack",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
