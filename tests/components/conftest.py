"""Stacks deployed on a monitor of the tests' own.

Loads pulumi_cloudflare once, without the warnings about its own deprecated names that every import of it brings.
"""

import warnings
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components import SandboxSettings, SandboxStack
from components.platform.sdk import SDK_VERSION
from tests.components.monitor import Recorded, deploy
from tests.components.stacks import ACCOUNT, ANSWERS, Run

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import pulumi_cloudflare  # noqa: F401 - loading it is the point


@pytest.fixture
def bundle(tmp_path: Path) -> str:
    """A Worker that needs no bundling, in the project's folder."""
    (tmp_path / "worker.js").write_text(
        "class a {}\nexport { a as Sandbox, a as SandboxPython };\nexport default {};\n"
    )
    return "worker.js"


@pytest.fixture
def run(bundle: str, tmp_path: Path) -> Run:
    """Deploy stacks of these settings, each with the ready Worker."""

    def run(*documents: dict[str, Any], secrets: dict[str, str] | None = None, **options: Any) -> Recorded:
        def program() -> None:
            for document in documents:
                worker = {"bundle": bundle, **document.get("worker", {})}
                given = {"account_id": ACCOUNT, "sdk": {"version": SDK_VERSION}, **document, "worker": worker}
                settings = SandboxSettings.parse(given)
                stack = SandboxStack(settings.name, settings, secrets=secrets, folder=tmp_path)
                pulumi.export(settings.name, stack.outputs())

        return deploy(program, answers=ANSWERS, **options)

    return run
