"""Small images made here: for tests, and as stand-ins for base images that cannot be fetched.

A seeded image is one layer for linux/amd64, the same bytes for the same recipe, and says in its labels that it is a
stand-in.
"""

import base64
import binascii
import gzip
import io
import json
import tarfile
from dataclasses import dataclass, field
from typing import Any

from emulator.state import State
from emulator.store import Document

from . import errors, manifests
from .images import Repository, digest_of, files
from .names import is_repository, is_tag

LABEL = "stand-in"
_EPOCH = "1970-01-01T00:00:00Z"


@dataclass(frozen=True)
class Recipe:
    """What an image is made from."""

    repository: str
    tags: tuple[str, ...]
    labels: dict[str, str] = field(default_factory=dict)
    env: tuple[str, ...] = ()
    entrypoint: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()
    files: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    docker: bool = False
    """Docker's media types instead of OCI's."""


def recipe_of(body: Document) -> Recipe:
    """Read the body of the control route."""
    if not is_repository(body["repository"]):
        raise errors.INVALID(problem="repository is not a repository name")
    if not all(is_tag(tag) for tag in body["tags"]):
        raise errors.INVALID(problem="tags must be tags")
    if not all(path.strip("/") and "\0" not in path for path in body.get("files", {})):
        raise errors.INVALID(problem="files must be named by their paths")
    return Recipe(
        body["repository"],
        tuple(body["tags"]),
        body.get("labels", {}),
        tuple(body.get("env", ())),
        tuple(body.get("entrypoint", ())),
        tuple(body.get("cmd", ())),
        {path: (_decode(path, file), int(file.get("mode", 0o644))) for path, file in body.get("files", {}).items()},
        body.get("docker", False),
    )


def seed(state: State, recipe: Recipe) -> Document:
    """Put the image into the registry; its repository, digest and tags."""
    repository = Repository(state, recipe.repository)
    layer_tar = _tar(recipe)
    layer = gzip.compress(layer_tar, mtime=0)
    config = json.dumps(_config(recipe, digest_of(layer_tar)), sort_keys=True).encode()
    content = json.dumps(_manifest(recipe, config, layer), sort_keys=True).encode()
    with state.store.transaction():
        for blob in (config, layer):
            files(state).put(blob)
            repository.add_blob(digest_of(blob), len(blob))
        media_type = manifests.DOCKER_MANIFEST if recipe.docker else manifests.OCI_MANIFEST
        manifest = manifests.read(repository, content, media_type)
        repository.put_manifest(manifest, content)
        for tag in recipe.tags:
            repository.tag(tag, manifest["digest"])
    return {"repository": recipe.repository, "digest": manifest["digest"], "tags": list(recipe.tags)}


def _decode(path: str, file: Document) -> bytes:
    try:
        return base64.b64decode(file["content"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise errors.INVALID(problem=f"files.{path}.content must be base64") from error


def _tar(recipe: Recipe) -> bytes:
    note = f"stand-in for {recipe.repository}\n".encode()
    contents = {"etc/stand-in": (note, 0o644), **{path.lstrip("/"): file for path, file in recipe.files.items()}}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, (content, mode) in sorted(contents.items()):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(content), mode
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def _config(recipe: Recipe, diff_id: str) -> Document:
    inner: dict[str, Any] = {"Labels": {**recipe.labels, LABEL: "true"}}
    for name, values in (("Env", recipe.env), ("Entrypoint", recipe.entrypoint), ("Cmd", recipe.cmd)):
        if values:
            inner[name] = list(values)
    return {
        "architecture": "amd64",
        "os": "linux",
        "created": _EPOCH,
        "config": inner,
        "rootfs": {"type": "layers", "diff_ids": [diff_id]},
        "history": [{"created": _EPOCH, "created_by": "emulator: stand-in"}],
    }


def _manifest(recipe: Recipe, config: bytes, layer: bytes) -> Document:
    family = "application/vnd.docker" if recipe.docker else "application/vnd.oci"
    config_type = f"{family}.container.image.v1+json" if recipe.docker else f"{family}.image.config.v1+json"
    layer_type = f"{family}.image.rootfs.diff.tar.gzip" if recipe.docker else f"{family}.image.layer.v1.tar+gzip"
    return {
        "schemaVersion": 2,
        "mediaType": manifests.DOCKER_MANIFEST if recipe.docker else manifests.OCI_MANIFEST,
        "config": {"mediaType": config_type, "digest": digest_of(config), "size": len(config)},
        "layers": [{"mediaType": layer_type, "digest": digest_of(layer), "size": len(layer)}],
    }
