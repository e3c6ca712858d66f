"""An image that is a base image and some files: what a deployment's own Dockerfile would add."""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from emulator.base_image.layout import Blob, Layout

_TAG = "org.opencontainers.image.ref.name"
_GZIP = "application/vnd.oci.image.layer.v1.tar+gzip"


def with_files(base: Path, tag: str, files: Mapping[str, Path], folder: Path) -> Path:
    """Write a layout whose only image, of the same tag, has these files and folders on top; all belong to root."""
    below, layout = Layout(base), Layout(folder)
    index = json.loads((base / "index.json").read_bytes())
    (entry,) = (each for each in index["manifests"] if each["annotations"][_TAG] == tag)
    manifest = json.loads(below.path(entry["digest"]).read_bytes())
    config = json.loads(below.path(manifest["config"]["digest"]).read_bytes())
    for each in manifest["layers"]:
        layout.adopt(Blob(each["digest"], each["size"], "", ""), below)
    content = _tar(files)
    config["rootfs"]["diff_ids"].append(_digest(content))
    manifest["layers"].append(_added(layout, _GZIP, gzip.compress(content, mtime=0)))
    manifest["config"] = _added(layout, manifest["config"]["mediaType"], json.dumps(config).encode())
    layout.finish({tag: _added(layout, manifest["mediaType"], json.dumps(manifest).encode())})
    return folder


def _tar(files: Mapping[str, Path]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, source in files.items():
            archive.add(source, name, filter=_of_root)
    return packed.getvalue()


def _of_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = "root"
    return entry


def _added(layout: Layout, media_type: str, content: bytes) -> dict[str, Any]:
    digest = _digest(content)
    layout.path(digest).write_bytes(content)
    return {"mediaType": media_type, "digest": digest, "size": len(content)}


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
