"""The stand-in base image that set-up has made."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from emulator.base_image import layers, programs
from tools.progress import Board
from tools.setup import base_image
from tools.setup.toolchain import Toolchain


@dataclass(frozen=True)
class Image:
    """A layout, and what reads its layers."""

    folder: Path
    made_of: layers.Layers

    def tags(self) -> dict[str, str]:
        index = json.loads((self.folder / "index.json").read_text())
        return {each["annotations"]["org.opencontainers.image.ref.name"]: each["digest"] for each in index["manifests"]}

    def document(self, digest: str) -> Any:
        return json.loads(self.blob(digest).read_text())

    def blob(self, digest: str) -> Path:
        return self.folder / "blobs" / "sha256" / digest.removeprefix("sha256:")

    def manifest(self, tag: str) -> Any:
        return self.document(self.tags()[tag])

    def config(self, tag: str) -> Any:
        return self.document(self.manifest(tag)["config"]["digest"])

    def tar(self, digest: str, target: Path) -> Path:
        """Decompress a layer with the compressor it was made by."""
        arguments = ["-q", "-d", "-f", "-o", str(target), str(self.blob(digest))]
        programs.run(self.made_of.folder / "programs", layers.COMPRESSOR, arguments)
        return target


@pytest.fixture(scope="session")
def image(tools_provided: Toolchain) -> Image:
    """Fails, never skips, when set-up could not make it."""
    assert tools_provided.base_image, "set-up has made no base image; its output says why"
    return Image(tools_provided.base_image, layers.load(base_image.layers(Board())))
