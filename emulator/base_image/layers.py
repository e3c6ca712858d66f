"""The layers that hold no code of ours: Debian's packages, Node, and Python with its packages.

They are made once for a set of materials, since they take long and change rarely.
"""

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from . import configuration, packages, programs, python
from .layer import Layer
from .layout import Blob, Layout
from .packages import Package
from .system import System

COMPRESSOR: Final = "usr/bin/zstd"
MANIFEST: Final = "etc/stand-in"
"""A file of the image that says what it is and lists what it is made from."""
_RECORD: Final = "layers.json"


@dataclass(frozen=True)
class Materials:
    """Folders that hold what the layers are made from."""

    packages: Path
    """`base/*.deb`, `python/*.deb` and `sources.list`."""
    node: Path
    """Node as its wheel unpacks: `bin`, `lib`."""
    wheels: Path
    """Python's packages as `pip install --target` unpacks them."""


@dataclass(frozen=True)
class Layers:
    """What was made: blobs in a layout, and a compressor for layers to come."""

    folder: Path
    debian: Blob
    node: Blob
    python: Blob

    @property
    def layout(self) -> Layout:
        """Where the blobs are."""
        return Layout(self.folder)


def make(materials: Materials, folder: Path) -> Layers:
    """Make the layers in an empty folder."""
    base, extra = packages.read(materials.packages / "base"), packages.read(materials.packages / "python")
    kept = folder / "kept"
    layout, system = Layout(folder), System(kept)
    with Layer(folder / "debian.tar") as debian:
        configuration.folders(debian)
        system.install(debian, base)
        configuration.settings(debian, kept, (materials.packages / "sources.list").read_text())
        debian.file(MANIFEST, _listed(_versions(base)))
    with Layer(folder / "node.tar", below=debian.paths) as node:
        _add_node(node, materials.node)
    with Layer(folder / "python.tar", below=node.paths) as extras:
        system.install(extras, extra)
        version = python.version_of(extra)
        python.add_wheels(extras, materials.wheels, version, kept)
        python.compile_all(extras, version, kept)
        versions = _versions(base) | _versions(extra) | _wheel_versions(materials.wheels)
        extras.file(MANIFEST, _listed(versions), replace=True)
    made = Layers(
        folder,
        layout.add_layer(folder / "debian.tar", kept, "packages of the distribution"),
        layout.add_layer(folder / "node.tar", kept, "Node with npm"),
        layout.add_layer(folder / "python.tar", kept, "Python with its packages"),
    )
    programs.copy(kept, COMPRESSOR, folder / "programs")
    shutil.rmtree(kept)
    record = {name: value for name, value in asdict(made).items() if name != "folder"}
    (folder / _RECORD).write_text(json.dumps(record, indent=1) + "\n")
    return made


def load(folder: Path) -> Layers:
    """Return the layers that were made in a folder."""
    record = json.loads((folder / _RECORD).read_text())
    debian, node, python_layer = (Blob(**record[name]) for name in ("debian", "node", "python"))
    return Layers(folder, debian, node, python_layer)


def _add_node(layer: Layer, node: Path) -> None:
    """Add Node where its own archives put it. Headers for compiled modules stay out: there is no compiler either."""
    with (node / "bin" / "node").open("rb") as program:
        layer.stream("usr/local/bin/node", program, (node / "bin" / "node").stat().st_size, 0o755)
    for name, script in (("npm", "npm/bin/npm-cli.js"), ("npx", "npm/bin/npx-cli.js")):
        layer.file(f"usr/local/lib/node_modules/{script}", (node / "lib/node_modules" / script).read_bytes(), 0o755)
        layer.symlink(f"usr/local/bin/{name}", f"../lib/node_modules/{script}")
    layer.tree(node / "lib" / "node_modules" / "npm", "usr/local/lib/node_modules/npm")


def _listed(versions: dict[str, str]) -> str:
    lines = (f"{name} {versions[name]}" for name in sorted(versions))
    return "\n".join(["A stand-in for cloudflare/sandbox, not the official image. It is made from:", *lines, ""])


def _versions(found: tuple[Package, ...]) -> dict[str, str]:
    return {package.name: package.version for package in found}


def _wheel_versions(wheels: Path) -> dict[str, str]:
    stems = (path.name.removesuffix(".dist-info").partition("-") for path in wheels.glob("*.dist-info"))
    return {f"{name} (wheel)": version for name, _, version in stems}
