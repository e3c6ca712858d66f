"""An OCI image layout: blobs named by digest, and an index that has a manifest for every tag."""

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from . import programs

MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
_INDEX: Final = "application/vnd.oci.image.index.v1+json"
_CONFIG: Final = "application/vnd.oci.image.config.v1+json"
_LAYER: Final = "application/vnd.oci.image.layer.v1.tar+zstd"
_TAG: Final = "org.opencontainers.image.ref.name"
_CREATED: Final = "2026-01-01T00:00:00Z"
_CHUNK: Final = 1 << 20


@dataclass(frozen=True)
class Blob:
    """A layer that lies in a layout; `diff_id` is the digest of what it is unpacked."""

    digest: str
    size: int
    diff_id: str
    title: str


@dataclass(frozen=True)
class Layout:
    """A folder that is, or becomes, an image layout."""

    folder: Path

    def path(self, digest: str) -> Path:
        """Return where a blob lies."""
        return self.folder / "blobs" / "sha256" / digest.removeprefix("sha256:")

    def add_layer(self, tar: Path, kept: Path, title: str) -> Blob:
        """Compress a layer into the layout; the tar is removed."""
        diff_id = _digest_of(tar)
        packed = tar.with_suffix(".zst")
        # The number of threads does not change what comes out.
        programs.run(kept, "usr/bin/zstd", ["-q", "-3", "-T0", "--no-progress", "-o", str(packed), str(tar)])
        tar.unlink()
        digest, size = _digest_of(packed), packed.stat().st_size
        self.path(digest).parent.mkdir(parents=True, exist_ok=True)
        packed.replace(self.path(digest))
        return Blob(digest, size, diff_id, title)

    def adopt(self, blob: Blob, origin: "Layout") -> None:
        """Take a blob over from another layout, as a second name of the same file where that is possible."""
        target = self.path(blob.digest)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(origin.path(blob.digest), target)
        except FileExistsError:
            pass
        except OSError:
            shutil.copyfile(origin.path(blob.digest), target)

    def add_image(
        self, layers: tuple[Blob, ...], config: dict[str, Any], annotations: dict[str, str]
    ) -> dict[str, Any]:
        """Write the configuration and manifest of an image for linux/amd64; the manifest's descriptor."""
        described = {
            "architecture": "amd64",
            "os": "linux",
            "created": _CREATED,
            "config": config,
            "rootfs": {"type": "layers", "diff_ids": [layer.diff_id for layer in layers]},
            "history": [{"created": _CREATED, "created_by": layer.title} for layer in layers],
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": self._write(_CONFIG, described),
            "layers": [{"mediaType": _LAYER, "digest": each.digest, "size": each.size} for each in layers],
            "annotations": annotations,
        }
        return self._write(MANIFEST, manifest)

    def finish(self, tags: dict[str, dict[str, Any]]) -> None:
        """Write the index, which makes the folder a layout."""
        manifests = [{**manifest, "annotations": {_TAG: tag}} for tag, manifest in sorted(tags.items())]
        index = {"schemaVersion": 2, "mediaType": _INDEX, "manifests": manifests}
        (self.folder / "oci-layout").write_text(json.dumps({"imageLayoutVersion": "1.0.0"}) + "\n")
        (self.folder / "index.json").write_text(json.dumps(index, indent=1) + "\n")

    def _write(self, media_type: str, document: dict[str, Any]) -> dict[str, Any]:
        content = json.dumps(document, sort_keys=True).encode()
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        self.path(digest).write_bytes(content)
        return {"mediaType": media_type, "digest": digest, "size": len(content)}


def _digest_of(file: Path) -> str:
    with file.open("rb") as content:
        return f"sha256:{hashlib.file_digest(content, 'sha256').hexdigest()}"
