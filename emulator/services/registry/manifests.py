"""Reading a pushed manifest: its kind, what it refers to, and whether all of that is there."""

import json
from typing import Any

from emulator.calls import parse_json
from emulator.errors import ApiError
from emulator.store import Document

from . import errors
from .images import Repository, digest_of
from .names import is_digest

LIMIT = 4 * 1024 * 1024
"""Bytes of a manifest, the least a registry must take."""

OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
OCI_INDEX = "application/vnd.oci.image.index.v1+json"
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
DOCKER_LIST = "application/vnd.docker.distribution.manifest.list.v2+json"
IMAGES, INDEXES = (OCI_MANIFEST, DOCKER_MANIFEST), (OCI_INDEX, DOCKER_LIST)


def read(repository: Repository, content: bytes, content_type: str, algorithm: str = "sha256") -> Document:
    """The document of a manifest, known by its digest of that algorithm, whose references exist in the repository."""
    value = _parse(content)
    media_type = _media_type(value, content_type)
    document: Document = {
        "digest": digest_of(content, algorithm),
        "media_type": media_type,
        "size": len(content),
        "subject": _digest(value["subject"]) if value.get("subject") is not None else "",
        "artifact_type": _artifact_type(value),
        "annotations": _annotations(value),
        "blobs": [],
        "manifests": [],
    }
    if media_type in INDEXES:
        document["manifests"] = [_digest(entry) for entry in _list(value, "manifests")]
        missing = [digest for digest in document["manifests"] if repository.manifest(digest) is None]
    else:
        layers = _list(value, "layers")
        document["blobs"] = [_digest(entry) for entry in [value.get("config"), *layers]]
        # Layers with addresses of their own are fetched from there and need not be here.
        needed = [value["config"], *(layer for layer in layers if not layer.get("urls"))]
        missing = [entry["digest"] for entry in needed if repository.blob(entry["digest"]) is None]
    if missing:
        raise errors.MANIFEST_BLOB_UNKNOWN(detail=missing)
    return document


def descriptor(manifest: Document) -> Document:
    """How an index names a manifest."""
    entry = {"mediaType": manifest["media_type"], "digest": manifest["digest"], "size": manifest["size"]}
    if manifest["artifact_type"]:
        entry["artifactType"] = manifest["artifact_type"]
    if manifest["annotations"]:
        entry["annotations"] = manifest["annotations"]
    return entry


def referrers_index(manifests: list[Document]) -> bytes:
    """The answer of the referrers list."""
    entries = [descriptor(manifest) for manifest in manifests]
    return json.dumps({"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": entries}).encode()


def _parse(content: bytes) -> Document:
    try:
        value = parse_json(content)
    except ApiError as error:
        raise errors.MANIFEST_INVALID(problem="not JSON") from error
    if not isinstance(value, dict) or value.get("schemaVersion") != 2:
        raise errors.MANIFEST_INVALID(problem="schemaVersion must be 2")
    return value


def _media_type(value: Document, content_type: str) -> str:
    declared = content_type.partition(";")[0].strip()
    inner = value.get("mediaType", declared)
    if declared not in (*IMAGES, *INDEXES):
        raise errors.MANIFEST_INVALID(problem=f"the media type {declared or 'of the request'} is not known")
    if inner != declared:
        raise errors.MANIFEST_INVALID(problem="mediaType is not what Content-Type says")
    return declared


def _list(value: Document, name: str) -> list[Any]:
    entries = value.get(name)
    if not isinstance(entries, list):
        raise errors.MANIFEST_INVALID(problem=f"{name} must be an array")
    return entries


def _digest(entry: Any) -> str:
    if not isinstance(entry, dict) or not isinstance(entry.get("digest"), str) or not is_digest(entry["digest"]):
        raise errors.MANIFEST_INVALID(problem="a descriptor has no sha256 or sha512 digest")
    return str(entry["digest"])


def _artifact_type(value: Document) -> str:
    config = value.get("config")
    fallback = config.get("mediaType") if isinstance(config, dict) else ""
    found = value.get("artifactType") or fallback
    return found if isinstance(found, str) else ""


def _annotations(value: Document) -> dict[str, str]:
    found = value.get("annotations") or {}
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise errors.MANIFEST_INVALID(problem="annotations must be texts")
    return found
