"""Fixtures for pytest: an emulated account, your project deployed to it, a sandbox of it, and failures on demand.

The emulator runs in a process of its own for as long as the session lasts. What a fixture needs is loaded when a test
asks for it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .emulator import Account, Emulator
    from .faults import Faults
    from .sandbox import Sandbox
    from .stack import Stack


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare what a project may say in its pytest settings."""
    parser.addini(
        "sandbox_project",
        "folder of the Pulumi project that `sandbox_stack` deploys; the root by default",
        "string",
        ".",
    )
    parser.addini(
        "sandbox_stack", "name of its stack, whose settings are taken; as `sandbox-stack local` chooses", "string", ""
    )
    parser.addini(
        "sandbox_state", "file of `sandbox-stack local save` to begin with; an empty account by default", "string", ""
    )


@pytest.fixture(scope="session")
def sandbox_project(pytestconfig: pytest.Config) -> Path:
    """Folder of the Pulumi project that is deployed; override it to deploy another."""
    return Path(pytestconfig.rootpath, pytestconfig.getini("sandbox_project")).resolve()


@pytest.fixture(scope="session")
def cloudflare_emulator(
    pytestconfig: pytest.Config, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> "Iterator[Emulator]":
    """An emulator of Cloudflare on this machine, for the session."""
    from .emulator import serving  # noqa: PLC0415 - as everything here: paid for by those who use it

    state = pytestconfig.getini("sandbox_state")
    project = request.getfixturevalue("sandbox_project") if state else None
    saved = (pytestconfig.rootpath / state).resolve() if state else None
    with serving(tmp_path_factory.mktemp("cloudflare") / "state", saved=saved, project=project) as emulator:
        yield emulator


@pytest.fixture
def cloudflare_account(cloudflare_emulator: "Emulator") -> "Account":
    """An account of the test's own, with nothing in it."""
    return cloudflare_emulator.new_account()


@pytest.fixture
def cloudflare_faults(cloudflare_emulator: "Emulator") -> "Iterator[Faults]":
    """Failures on demand; they are lifted when the test ends."""
    from .faults import Faults  # noqa: PLC0415

    faults = Faults(cloudflare_emulator)
    yield faults
    faults.clear()


@pytest.fixture(scope="session")
def sandbox_stack(cloudflare_emulator: "Emulator", sandbox_project: Path, pytestconfig: pytest.Config) -> "Stack":
    """Your project, deployed once for the session; the emulator takes it along when it ends."""
    from .stack import Stack  # noqa: PLC0415

    stack = Stack(cloudflare_emulator, sandbox_project, pytestconfig.getini("sandbox_stack"))
    stack.up()
    return stack


@pytest.fixture
def sandbox(sandbox_stack: "Stack") -> "Iterator[Sandbox]":
    """A sandbox of the test's own, started by its first command and destroyed in the end."""
    with sandbox_stack.sandbox() as found:
        yield found
