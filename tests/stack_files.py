"""The stack files of this repository: its own, and those of the examples."""

from pathlib import Path
from typing import Any

import yaml

from tools.paths import ROOT

FILES = sorted([*ROOT.glob("Pulumi.*.yaml"), *ROOT.glob("examples/*/Pulumi.*.yaml")])


def name(path: Path) -> str:
    """Name a file for people."""
    return path.relative_to(ROOT).as_posix()


def settings(path: Path) -> dict[str, Any]:
    """Return the settings of the sandbox stack, whatever the project is called."""
    (found,) = (value for key, value in yaml.safe_load(path.read_text())["config"].items() if key.endswith(":settings"))
    return dict(found)
