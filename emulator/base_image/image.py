"""The images: the layers with a server on top, and a tag for each variant, in one layout."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .layer import Layer
from .layers import Layers
from .layout import Blob, Layout

SERVER: Final = "/container-server/sandbox"
LAUNCHER: Final = "/container-server/launcher"
"""The server looks for it beside itself, and does without where it is not."""
LABEL: Final = "stand-in"

_PORT: Final = "3000/tcp"
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ABOUT: Final = "Made on this machine because the official image could not be fetched; not the official image."


@dataclass(frozen=True)
class Variant:
    """A variant of the official image: the end of its tag, and how it differs."""

    suffix: str
    note: str
    python: bool = False
    pools: tuple[int, int, int] = (0, 3, 3)
    """Interpreters that wait for work: Python, JavaScript, TypeScript. As in the official images."""
    ports: tuple[str, ...] = (_PORT,)


# There is none of the variant for musl: it would have to be made from Alpine's packages.
VARIANTS: Final = (
    Variant("", "the default variant, without Python"),
    Variant("-python", "the variant with Python", python=True, pools=(3, 3, 3)),
    # OpenCode itself comes from npm; the tag is there so that what builds on it can be built.
    Variant("-opencode", "the default variant, without Python and without the OpenCode CLI", ports=(_PORT, "4096/tcp")),
)


@dataclass(frozen=True)
class Programs:
    """Files that are our own."""

    server: Path
    launcher: Path
    """Starts commands for the server."""


def make(layers: Layers, programs: Programs, version: str, folder: Path) -> Layout:
    """Make the layout of all variants for one version of the SDK in an empty folder."""
    layout = Layout(folder)
    top = _server_layer(layout, layers, programs)
    tags = {}
    for variant in VARIANTS:
        below = [layers.debian, layers.node, *([layers.python] if variant.python else [])]
        for blob in below:
            layout.adopt(blob, layers.layout)
        title = f"Stand-in for docker.io/cloudflare/sandbox:{version}{variant.suffix}"
        about = {
            "org.opencontainers.image.title": title,
            "org.opencontainers.image.description": f"{title}: {variant.note}. {_ABOUT}",
            "org.opencontainers.image.version": version,
        }
        config = _config(variant, version, {**about, LABEL: "true"})
        tags[f"{version}{variant.suffix}"] = layout.add_image((*below, top), config, about)
    layout.finish(tags)
    return layout


def _server_layer(layout: Layout, layers: Layers, programs: Programs) -> Blob:
    """Add the layer that is our own, the same for all variants."""
    tar = layout.folder / "server.tar"
    with Layer(tar) as layer:
        for path, file in ((LAUNCHER, programs.launcher), (SERVER, programs.server)):
            with file.open("rb") as program:
                layer.stream(path.lstrip("/"), program, file.stat().st_size, 0o755)
    return layout.add_layer(tar, layers.folder / "programs", "the sandbox server of the stand-in")


def _config(variant: Variant, version: str, labels: dict[str, str]) -> dict[str, Any]:
    env = {"PATH": _PATH, "LANG": "C.UTF-8", "SANDBOX_VERSION": version}
    for language, least in zip(("PYTHON", "JAVASCRIPT", "TYPESCRIPT"), variant.pools, strict=True):
        env[f"{language}_POOL_MIN_SIZE"] = str(least)
    return {
        "Env": [f"{name}={value}" for name, value in env.items()],
        "WorkingDir": "/container-server",
        "ExposedPorts": {port: {} for port in variant.ports},
        "Entrypoint": [SERVER],
        "Labels": labels,
    }
