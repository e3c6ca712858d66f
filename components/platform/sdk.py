"""Versions and images of the Sandbox SDK: which tags exist, what is in them, how an image of one's own is made.

Source: cloudflare/sandbox-sdk up to 0.12.10, its changelog, and Cloudflare's documentation of 1.0. 2026-11-16.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

Generation = Literal["0.12", "1.x"]
VariantName = Literal["default", "python", "opencode", "musl", "desktop"]
Release = tuple[int, int, int]

REPOSITORY: Final = "cloudflare/sandbox"
"""Repository on Docker Hub, the same for both generations."""
IMAGE: Final = f"docker.io/{REPOSITORY}"
SERVER: Final = "/container-server/sandbox"
"""The server inside images of 0.x, and their entry point."""
SHIM: Final = "/usr/local/bin/sandbox-shim"
"""The helper of 1.x: where images have it, and where the image that carries it has it."""
MAIN_CLASS: Final = "Sandbox"
"""The class of sandboxes that preview URLs work for: the SDK looks its binding up by this name."""
LOWEST_PORT, HIGHEST_PORT = 1024, 65535
"""Ports that can be exposed, but for the server's own."""
SERVER_PORT: Final = 3000
"""Where the server of 0.x listens; no program in the sandbox may."""
VERSION_VARIABLE: Final = "SANDBOX_VERSION"
"""What the server of 0.x tells the Worker as its version; images made by copying the server lack it by themselves."""
NEEDED_BY_SERVER: Final = ("bash", "file")
"""Programs without which the server of 0.x does not work; git is needed for checkouts only."""
SDK_VERSION: Final = "0.12.10"
"""The release that this package's Worker and images are made with: the last one of 0.x."""
OFFICIAL_IMAGE: Final = f"{IMAGE}:{SDK_VERSION}"
END_OF_FIXES_OF_0: Final = date(2026, 12, 31)

SLEEP_AFTER: Final = "10m"
"""How long an unused sandbox of 0.x stays awake if nothing says otherwise."""
SLEEP_VARIABLE: Final = "SLEEP_AFTER"
"""By which variable this package's Worker is told otherwise."""

_PYTHON_IN_DEFAULT_UNTIL: Final = (0, 5, 99)
_VERSION: Final = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


@dataclass(frozen=True)
class Variant:
    """A kind of official image of 0.x."""

    since: Release
    until: Release = (0, 99, 99)
    python: bool = False
    node: bool = True
    debian: bool = True


VARIANTS: Final[Mapping[str, Variant]] = {
    "default": Variant((0, 1, 0)),
    "python": Variant((0, 6, 0), python=True),
    "opencode": Variant((0, 6, 4)),
    "musl": Variant((0, 7, 2), node=False, debian=False),
    "desktop": Variant((0, 7, 10), until=(0, 11, 99)),
}
_ITS_OWN: Final = re.compile(rb"checkVersionCompatibility\(\)\s*\{\s*(?:const|let|var)\s+[\w$]+\s*=\s*([\w$]+)")
"""Where the SDK of 0.x compares versions: the name of its own is in the group, also where a bundle is minified."""


def bundled_version(code: bytes) -> str | None:
    """Return the version of the SDK that is bundled into code; None where there is none that can be told."""
    name = _ITS_OWN.search(code)
    said = name and re.search(rb"(?<![\w$.])" + re.escape(name[1]) + rb"\s*=\s*[\"'`](\d[\w.-]*)[\"'`]", code)
    return said[1].decode() if said else None


def release(version: str) -> Release | None:
    """Read an exact version; None for anything else, previews such as 0.13.0-next.1 included."""
    found = _VERSION.fullmatch(version)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def generation_of(version: str) -> Generation | None:
    """Return the generation a version belongs to; None where it is of neither."""
    found = release(version)
    if found is None or found[0] > 1 or (0, 13, 0) <= found < (1, 0, 0):
        return None
    return "1.x" if found[0] == 1 else "0.12"


def tag(version: str, variant: str = "default") -> str:
    """Return the tag of an official image."""
    return version if variant == "default" else f"{version}-{variant}"


def available(version: str) -> list[str]:
    """Return the variants of a version."""
    found = release(version) or (0, 12, 0)
    return [name for name, each in VARIANTS.items() if each.since <= found <= each.until]


def has_python(version: str, variant: str) -> bool:
    """Whether an official image has Python."""
    found = release(version)
    return VARIANTS[variant].python or (found is not None and found <= _PYTHON_IN_DEFAULT_UNTIL)
