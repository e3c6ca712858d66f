"""Layers that try to get out of the folder they are unpacked into."""

import hashlib
import io
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from emulator.engine.images import Image, Layer


def escaping_image(base: Image, folder: Path, secret: Path) -> Image:
    """An image whose top layer has links and names that lead out."""
    members = [
        _link("link", str(secret.parent)),
        _link("absolute", str(secret)),
        _link("up", "../" * 12 + str(secret).lstrip("/")),
        _file("../" * 12 + str(secret).lstrip("/")),
        _file("link/planted"),
        _file("absolute"),
        _link("absolute", str(secret)),
    ]
    return _with_layer(base, folder / "hostile.tar", members)


def image_with_links(base: Image, folder: Path, links: Mapping[str, str]) -> Image:
    """An image in which some files are links to places outside."""
    return _with_layer(base, folder / "links.tar", [_link(name, target) for name, target in links.items()])


def _with_layer(base: Image, blob: Path, members: list[tuple[tarfile.TarInfo, bytes]]) -> Image:
    with tarfile.open(blob, "w") as archive:
        for member, content in members:
            archive.addfile(member, io.BytesIO(content))
    diff_id = f"sha256:{hashlib.sha256(blob.read_bytes()).hexdigest()}"
    return replace(base, layers=(*base.layers, Layer(blob, "application/vnd.oci.image.layer.v1.tar", diff_id)))


def _link(name: str, target: str) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = tarfile.SYMTYPE, target
    return member, b""


def _file(name: str) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    content = b"planted by a layer\n"
    member.size = len(content)
    return member, content
