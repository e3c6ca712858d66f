"""Dockerfiles from the templates in images/: one form per way to an image, the same text for the same recipe.

Values come checked from the settings and are quoted again here, so that none can become an instruction or a command.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ..platform import sdk

OFFICIAL: Final = "sandbox"
OWN_BASE: Final = "own-base"
HELPER: Final = "generation-1"
TEMPLATE: Final = "Dockerfile.j2"
INSTALLERS: Final = {"apt": "apt-get update", "pip": "python3 -m pip install", "npm": "npm install"}
"""How the step of each setting that installs packages begins."""


@dataclass(frozen=True)
class Recipe:
    """What goes into an image."""

    version: str
    """Version of the SDK."""
    generation: sdk.Generation
    variant: str = "default"
    base: str = ""
    """Image to build on instead of an official one."""
    libc: str = "glibc"
    apt: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Destinations in order; the context holds the file or folder of each under its number."""
    ports: tuple[int, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()

    @property
    def form(self) -> str:
        """Name the folder of images/ that makes it."""
        if self.generation == "1.x":
            return HELPER
        return OWN_BASE if self.base else OFFICIAL


def render(recipe: Recipe, images: Path) -> str:
    """Return the text of the Dockerfile."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - a ready image needs none of it

    environment = Environment(  # noqa: S701 - a Dockerfile is no markup; `word` and `quoted` quote what goes into it
        loader=FileSystemLoader(images),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"word": shlex.quote, "quoted": quoted}
    official = sdk.tag(recipe.version, recipe.variant)
    carrier = sdk.tag(recipe.version, "musl" if recipe.libc == "musl" else "default")
    return environment.get_template(f"{recipe.form}/{TEMPLATE}").render(
        sdk=sdk,
        version=recipe.version,
        base=recipe.base or f"{sdk.IMAGE}:{official}",
        carrier=f"{sdk.IMAGE}:{carrier}",
        apt=recipe.apt,
        pip=recipe.pip,
        npm=recipe.npm,
        files=recipe.files,
        ports=recipe.ports,
        environment=sorted(recipe.environment.items()),
        secrets=recipe.secrets,
    )


def quoted(value: str) -> str:
    """Quote a value of ENV or LABEL: nothing in it ends the value or is replaced by a variable."""
    if any(not each.isprintable() for each in value):
        raise ValueError("a value in a Dockerfile has one line and no control characters")
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'"{escaped}"'
