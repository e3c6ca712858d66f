"""Tests of your own stack without an account: fixtures for pytest, and what they give.

pytest loads `plugin` wherever this package is installed; nothing else is loaded until a test asks for a fixture.
"""

from typing import TYPE_CHECKING

from .. import lazily

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

__getattr__, __dir__ = lazily(
    __name__,
    {
        ".emulator": ("Account", "Emulator"),
        ".faults": ("Fault", "Faults"),
        ".sandbox": ("Result", "Sandbox", "SandboxError"),
        ".stack": ("DeploymentError", "Stack"),
    },
)
