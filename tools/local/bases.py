"""Where the base images of the local stack come from.

Where Docker Hub answers, the official ones are used, always. Where it does not, a stand-in takes their names in the
emulator's registry, and where that cannot be made either, an image without an operating system: with it the stack can
be deployed, but no sandbox starts.
"""

import base64
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from tools.errors import SetupError
from tools.local.emulator import Emulated
from tools.local.hub import Hub
from tools.paths import sdk_version
from tools.progress import Board
from tools.setup import base_image
from tools.setup.toolchain import Toolchain

_REPOSITORY: Final = "cloudflare/sandbox"
_VARIANTS: Final = ("default", "python", "opencode", "musl")
_SERVER: Final = "/container-server/sandbox"


@dataclass(frozen=True)
class Bases:
    """How base images are had on this machine."""

    mirror: str
    """Address of the registry that a builder asks in place of Docker Hub; empty for the Hub itself."""
    note: str
    """What people should know about it; empty when the official images are used."""
    ready: Callable[[str], str]
    """Returns the reference under which a variant can be deployed as it is."""
    variants: tuple[str, ...] = _VARIANTS
    has_system: bool = True
    """Whether they have an operating system, which installing packages needs."""

    def require(self, variant: str, packages: Sequence[str] = ()) -> None:
        """Refuse a variant that is not to be had here, and settings that install packages where none can be."""
        if packages and not self.has_system:
            why = "the base image on this machine has no operating system, as neither Docker Hub nor Debian is reached"
            raise SetupError(
                f"{' and '.join(packages)} cannot be installed",
                why,
                "Remove the setting meanwhile, or use another machine",
            )
        if variant not in self.variants:
            why = "Docker Hub does not answer, and there is no stand-in for this variant"
            raise SetupError(
                f"the image variant {variant} cannot be had", why, f"Use one of {', '.join(self.variants)} meanwhile"
            )


def chosen(tools: Toolchain, cloudflare: Emulated) -> Bases:
    """Ask Docker Hub once, and put stand-ins in place where it does not answer."""
    hub = Hub.of_this_machine()
    reason = hub.why_not()
    if not reason:
        return _official(hub, cloudflare)
    try:
        with closing(Board()) as board:
            layout = tools.base_image or base_image.provide(board)
    except SetupError as error:
        note = f"Sandboxes have no image here and cannot start: {hub.name} does not answer ({reason}), and {error}."
        return _empty(cloudflare, note)
    note = f"A stand-in for the official base image is used: {hub.name} does not answer ({reason})."
    return _stand_in(cloudflare, layout, note)


def _official(hub: Hub, cloudflare: Emulated) -> Bases:
    def ready(variant: str) -> str:
        with closing(Board()) as board:
            layout = hub.fetch(_REPOSITORY, _tag(variant), board)
        return _reference(_taken(cloudflare, layout)[_tag(variant)])

    return Bases(hub.mirror, "", ready)


def _stand_in(cloudflare: Emulated, layout: Path, note: str) -> Bases:
    tags = _taken(cloudflare, layout)
    variants = tuple(variant for variant in _VARIANTS if _tag(variant) in tags)

    def ready(variant: str) -> str:
        bases.require(variant)
        return _reference(tags[_tag(variant)])

    bases = Bases(_registry(cloudflare), note, ready, variants)
    return bases


def _empty(cloudflare: Emulated, note: str) -> Bases:
    reference = seed_empty(cloudflare)
    return Bases(_registry(cloudflare), note, lambda _: reference, has_system=False)


def seed_empty(cloudflare: Emulated) -> str:
    """Put an image without an operating system in place of every variant, and give its reference.

    Files can be copied into it, packages cannot be installed, and no sandbox starts.
    """
    server = b"#!/bin/sh\necho 'this stand-in has no sandbox server' >&2\nexit 1\n"
    recipe = {
        "repository": _REPOSITORY,
        "tags": [_tag(variant) for variant in _VARIANTS],
        "env": [f"SANDBOX_VERSION={sdk_version()}"],
        "entrypoint": [_SERVER],
        "files": {_SERVER: {"content": base64.b64encode(server).decode(), "mode": 0o755}},
    }
    return _reference(cloudflare.control("/registry/images", recipe)["digest"])


def _taken(cloudflare: Emulated, layout: Path) -> dict[str, str]:
    """Have the emulator's registry take what it lacks of a layout; the digest of each tag."""
    taken = cloudflare.control("/registry/layouts", {"repository": _REPOSITORY, "folder": str(layout)})
    tags: dict[str, str] = taken["tags"]
    return tags


def _registry(cloudflare: Emulated) -> str:
    return f"http://{urlsplit(cloudflare.base_url).netloc}"


def _tag(variant: str) -> str:
    return sdk_version() if variant == "default" else f"{sdk_version()}-{variant}"


def _reference(digest: str) -> str:
    return f"docker.io/{_REPOSITORY}@{digest}"
