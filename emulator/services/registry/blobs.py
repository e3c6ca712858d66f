"""Handlers for blobs and their uploads."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from emulator.calls import Call, Raw

from . import errors, rules, uploads
from .images import Repository, drop_file
from .names import is_digest, is_repository

_BYTES = "application/octet-stream"
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


async def get_blob(call: Call, name: str, digest: str) -> Raw:
    """A blob, whole or a range of it; HEAD asks whether it is there."""
    needs = ("pull", "push") if call.method == "HEAD" else ("pull",)
    repository = rules.repository_for(call, name, *needs)
    path = _existing(repository, digest)
    headers = {"docker-content-digest": digest, "accept-ranges": "bytes", "etag": f'"{digest}"'}
    window = _window(call.headers.get("range", ""), path.stat().st_size)
    if window is None:
        return Raw(path, _BYTES, headers=headers)
    first, length = window
    headers["content-range"] = f"bytes {first}-{first + length - 1}/{path.stat().st_size}"
    return Raw(path, _BYTES, 206, headers, window=window)


async def delete_blob(call: Call, name: str, digest: str) -> Raw:
    """Take a blob out of a repository."""
    repository = rules.repository_for(call, name, "push")
    _existing(repository, digest)
    with call.store.transaction():
        repository.delete_blob(digest)
        repository.forget_if_empty()
    drop_file(call.state, digest)
    return Raw(b"", None, 202)


async def start_upload(call: Call, name: str, upload_id: str) -> Raw:
    """Open an upload, take a blob over from another repository, or take the whole blob at once."""
    if upload_id:
        raise errors.UNSUPPORTED()
    repository = rules.repository_for(call, name, "push")
    if (mounted := _mount(call, repository)) is not None:
        return mounted
    with call.store.transaction():
        upload = uploads.begin(repository)
    if "digest" not in call.query:
        return _accepted(repository, upload, 202)
    try:
        return await _finish(call, repository, upload)
    except BaseException:
        uploads.cancel(repository, upload)  # the client never learnt its address, so nobody could go on with it
        raise


async def upload_status(call: Call, name: str, upload_id: str) -> Raw:
    """How far an upload is, for a client that goes on after a break."""
    repository = rules.repository_for(call, name, "push")
    return _accepted(repository, uploads.find(repository, upload_id), 204)


async def patch_upload(call: Call, name: str, upload_id: str) -> Raw:
    """Add a chunk."""
    repository = rules.repository_for(call, name, "push")
    upload = await uploads.append(call, repository, uploads.find(repository, upload_id))
    return _accepted(repository, upload, 202)


async def finish_upload(call: Call, name: str, upload_id: str) -> Raw:
    """Add the last chunk, if any, and make it a blob."""
    repository = rules.repository_for(call, name, "push")
    return await _finish(call, repository, uploads.find(repository, upload_id))


async def cancel_upload(call: Call, name: str, upload_id: str) -> Raw:
    """Drop an upload."""
    repository = rules.repository_for(call, name, "push")
    uploads.cancel(repository, uploads.find(repository, upload_id))
    return Raw(b"", None, 204)


def _existing(repository: Repository, digest: str) -> Path:
    if not is_digest(digest):
        raise errors.DIGEST_FORM()
    path = repository.blob(digest)
    if path is None or not path.exists():
        raise errors.BLOB_UNKNOWN(detail={"digest": digest})
    return path


def _mount(call: Call, repository: Repository) -> Raw | None:
    """Take a blob from a repository the same credentials may read; None means that it has to be uploaded."""
    digest, origin = call.query.get("mount", ""), call.query.get("from", "")
    if not is_digest(digest) or not is_repository(origin):
        return None
    source = Repository(call.state, origin)
    grant = rules.grant_of(call)
    foreign = source.account_id and (grant is None or source.account_id != grant.account_id)
    path = None if foreign else source.blob(digest)
    if path is None or not path.exists():
        return None
    with call.store.transaction():
        repository.add_blob(digest, path.stat().st_size)
    return _created(repository, digest)


async def _finish(call: Call, repository: Repository, upload: dict[str, Any]) -> Raw:
    digest = call.query.get("digest", "")
    await uploads.finish(call, repository, upload, digest)
    return _created(repository, digest)


def _created(repository: Repository, digest: str) -> Raw:
    headers = {"location": f"/v2/{repository.name}/blobs/{digest}", "docker-content-digest": digest}
    return Raw(b"", None, 201, headers)


def _accepted(repository: Repository, upload: dict[str, Any], status: int) -> Raw:
    headers = {
        "location": f"/v2/{repository.name}/blobs/uploads/{quote(upload['id'])}",
        "docker-upload-uuid": upload["id"],
        "range": uploads.shown_range(upload["size"]),
    }
    return Raw(b"", None, status, headers)


def _window(header: str, size: int) -> tuple[int, int] | None:
    """First byte and length of a range request; None for the whole blob."""
    match = _RANGE.fullmatch(header)
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        first, last = max(size - int(match[2]), 0), size - 1
    else:
        first, last = int(match[1]), min(int(match[2] or size - 1), size - 1)
    if first > last or first >= size:
        raise errors.RANGE(headers={"content-range": f"bytes */{size}"})
    return first, last - first + 1
