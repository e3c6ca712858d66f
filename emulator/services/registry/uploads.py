"""Uploads of blobs, in one piece or in chunks.

Bytes go to a file that becomes the blob by a rename once its digest was checked. The document of an upload says how
many bytes count: what an interrupted request wrote beyond that is cut off before the next chunk, so a killed process
leaves an upload as it was after its last answered chunk. Layers are never held in memory.
"""

import asyncio
import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from emulator.calls import Call
from emulator.clock import uuid_id
from emulator.state import State
from emulator.store import Document

from . import errors
from .images import Repository, files
from .names import algorithm_of, hex_of, is_digest

_RANGE = re.compile(r"(?:bytes[ =])?(\d{1,18})-(\d{1,18})(?:/(?:\d{1,18}|\*))?")
_LIFE = 7 * 86400.0

_writing: set[tuple[Path, str]] = set()
"""Uploads a request is writing to, by state folder and id."""


def begin(repository: Repository) -> Document:
    """Open an upload."""
    state = repository.state
    upload: Document = {"id": uuid_id(), "file": files(state).new_file().name, "size": 0, "at": state.clock.time()}
    return state.store.put(repository.kind("upload"), repository.name, upload["id"], upload)


def find(repository: Repository, upload_id: str) -> Document:
    """An open upload."""
    upload = repository.state.store.get(repository.kind("upload"), repository.name, upload_id)
    if upload is None:
        raise errors.UPLOAD_UNKNOWN()
    return upload


async def append(call: Call, repository: Repository, upload: Document) -> Document:
    """Add the request's body; all of it or, when the request breaks off, nothing."""
    with _alone(repository.state, upload["id"]):
        return await _append(call, repository, find(repository, upload["id"]))


async def finish(call: Call, repository: Repository, upload: Document, digest: str) -> int:
    """Add the request's body, check the digest, make it a blob; its size."""
    if not is_digest(digest):
        raise errors.DIGEST_FORM()
    state = repository.state
    with _alone(state, upload["id"]):
        before = find(repository, upload["id"])
        upload = await _append(call, repository, before)
        found = await _hash(state, upload, algorithm_of(digest))
        if found != hex_of(digest):
            # The chunk of this request does not count, so that the client may send the right one.
            _write(repository, before)
            raise errors.DIGEST_INVALID(detail={"digest": digest})
        with state.store.transaction():
            files(state).adopt(_path(state, upload), found)
            repository.add_blob(digest, upload["size"])
            state.store.delete(repository.kind("upload"), repository.name, upload["id"])
    return int(upload["size"])


def cancel(repository: Repository, upload: Document) -> None:
    """Drop an upload and its bytes."""
    with _alone(repository.state, upload["id"]), repository.state.store.transaction():
        repository.state.store.delete(repository.kind("upload"), repository.name, upload["id"])
        _path(repository.state, upload).unlink(missing_ok=True)


def sweep(state: State) -> None:
    """Remove uploads nobody came back to, and files no upload knows."""
    known: set[str] = set()
    oldest = state.clock.time() - _LIFE
    for name in state.store.scopes("image_upload"):
        for upload in state.store.select("image_upload", name):
            if upload["at"] < oldest:
                state.store.delete("image_upload", name, upload["id"])
            else:
                known.add(upload["file"])
    for path in (state.folder / "blobs" / "images" / "incoming").glob("*"):
        if path.name not in known:
            path.unlink(missing_ok=True)


async def _append(call: Call, repository: Repository, upload: Document) -> Document:
    _check_range(call, upload["size"])
    path = _path(repository.state, upload)
    try:
        file = path.open("r+b")
    except FileNotFoundError as error:
        raise errors.UPLOAD_UNKNOWN() from error
    with file:
        file.truncate(upload["size"])
        file.seek(upload["size"])
        async for chunk in call.stream():
            file.write(chunk)
        size = file.tell()
    _check_length(call, size - upload["size"])
    find(repository, upload["id"])  # a reset may have come between
    return _write(repository, {**upload, "size": size})


def _write(repository: Repository, upload: Document) -> Document:
    return repository.state.store.put(repository.kind("upload"), repository.name, upload["id"], upload)


def _check_range(call: Call, size: int) -> None:
    """A chunk that says where it begins must begin where the upload ends."""
    header = call.headers.get("content-range")
    if header is None:
        return
    match = _RANGE.fullmatch(header.strip())
    if match is None:
        raise errors.UPLOAD_INVALID(problem="Content-Range must be first-last")
    if int(match[1]) != size or int(match[2]) < int(match[1]):
        raise errors.UPLOAD_RANGE(headers={"range": shown_range(size)})


def _check_length(call: Call, received: int) -> None:
    header = call.headers.get("content-range")
    match = _RANGE.fullmatch(header.strip()) if header else None
    if match is not None and int(match[2]) - int(match[1]) + 1 != received:
        raise errors.UPLOAD_INVALID(problem="Content-Range does not fit the length of the chunk")


def shown_range(size: int) -> str:
    """What an upload holds, as the Range header of its answers says it."""
    return f"0-{max(size - 1, 0)}"


def _path(state: State, upload: Document) -> Path:
    return state.folder / "blobs" / "images" / "incoming" / str(upload["file"])


async def _hash(state: State, upload: Document, algorithm: str) -> str:
    """The hash of what was uploaded; on a thread, since a layer may take seconds."""
    try:
        found = await asyncio.to_thread(_file_hash, _path(state, upload), algorithm)
    except FileNotFoundError as error:
        raise errors.UPLOAD_UNKNOWN() from error
    if not _path(state, upload).exists():  # a reset came between
        raise errors.UPLOAD_UNKNOWN()
    return found


def _file_hash(path: Path, algorithm: str) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


@contextmanager
def _alone(state: State, upload_id: str) -> Iterator[None]:
    """One request at a time per upload: two would mix their bytes."""
    key = (state.folder, upload_id)
    if key in _writing:
        raise errors.UPLOAD_BUSY()
    _writing.add(key)
    try:
        yield
    finally:
        _writing.discard(key)
