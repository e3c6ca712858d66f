"""Images that lie on this machine as an OCI image layout, taken into the registry without copying them over HTTP.

A blob becomes a second name of the same file where the file system allows it. What the registry has already is not
read again.
"""

import asyncio
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

from emulator.state import State
from emulator.store import Document

from . import errors, manifests
from .images import Repository, digest_of, files
from .names import algorithm_of, hex_of, is_digest, is_repository, is_tag

_TAG = "org.opencontainers.image.ref.name"


async def take(state: State, repository_name: str, folder: Path) -> Document:
    """Put every tagged image of the layout into the repository; the digest of each tag, and how many blobs were new."""
    if not is_repository(repository_name):
        raise errors.INVALID(problem="repository is not a repository name")
    repository = Repository(state, repository_name)
    tags: dict[str, str] = {}
    added = 0
    for entry in _index(folder):
        tag, digest = str((entry.get("annotations") or {}).get(_TAG, "")), _digest(entry)
        if not is_tag(tag):
            raise errors.INVALID(problem=f"the layout has an image without a tag: {digest}")
        content = _blob(folder, digest).read_bytes()
        if digest_of(content, algorithm_of(digest)) != digest:
            raise errors.INVALID(problem=f"a blob of the layout is not what its digest says: {digest}")
        for blob in _blobs_of(content):
            added += await _take_blob(repository, folder, blob)
        with state.store.transaction():
            media_type = entry.get("mediaType", manifests.OCI_MANIFEST)
            manifest = manifests.read(repository, content, media_type, algorithm_of(digest))
            repository.put_manifest(manifest, content)
            repository.tag(tag, digest)
        tags[tag] = digest
    return {"repository": repository_name, "tags": tags, "added": added}


def _index(folder: Path) -> list[Document]:
    try:
        index = json.loads((folder / "index.json").read_bytes())
        entries = index["manifests"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise errors.INVALID(problem=f"folder is no OCI image layout: {folder}") from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise errors.INVALID(problem=f"the index of the layout lists no images: {folder}")
    return entries


def _blobs_of(manifest: bytes) -> list[str]:
    try:
        value: Any = json.loads(manifest)
        entries = [value["config"], *value["layers"]]
    except (ValueError, KeyError, TypeError) as error:
        raise errors.INVALID(problem="the layout has an image whose manifest cannot be read") from error
    return [_digest(entry) for entry in entries]


def _digest(entry: Any) -> str:
    digest = entry.get("digest") if isinstance(entry, dict) else None
    if not isinstance(digest, str) or not is_digest(digest):
        raise errors.INVALID(problem="the layout has an entry without a sha256 or sha512 digest")
    return digest


def _blob(folder: Path, digest: str) -> Path:
    path = folder / "blobs" / algorithm_of(digest) / hex_of(digest)
    if not path.is_file():
        raise errors.INVALID(problem=f"the layout lacks a blob: {digest}")
    return path


async def _take_blob(repository: Repository, folder: Path, digest: str) -> int:
    """Take a blob that is not there yet; how many that were."""
    known = repository.blob(digest)
    if known is not None and known.exists():
        return 0
    source = _blob(folder, digest)
    # On a thread, since a layer may take seconds.
    await asyncio.to_thread(_adopt, repository.state, source, digest)
    with repository.state.store.transaction():
        repository.add_blob(digest, source.stat().st_size)
    return 1


def _adopt(state: State, source: Path, digest: str) -> None:
    with source.open("rb") as content:
        if hashlib.file_digest(content, algorithm_of(digest)).hexdigest() != hex_of(digest):
            raise errors.INVALID(problem=f"a blob of the layout is not what its digest says: {digest}")
    store = files(state)
    copy = store.new_file()
    copy.unlink()
    try:
        os.link(source, copy)
    except OSError:  # another disk, or a file of somebody else
        shutil.copyfile(source, copy)
    store.adopt(copy, hex_of(digest))
