"""Objects of a bucket: documents in the bucket's scope, contents in the blob store.

Written by Workers through their bindings, over the API and by the control route; what they hold keeps a bucket alive.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Self

from emulator.blobs import Blobs
from emulator.clock import hex_id
from emulator.state import State
from emulator.store import Document, Store

OBJECT = "r2_object"
UPLOAD = "r2_upload"
PART = "r2_part"
_COPY = 1024 * 1024
LONGEST_KEY = 1024  # bytes
HTTP_FIELDS = {
    "content-type": "contentType",
    "content-language": "contentLanguage",
    "content-disposition": "contentDisposition",
    "content-encoding": "contentEncoding",
    "cache-control": "cacheControl",
    "expires": "cacheExpiry",
}
"""What an object keeps of a client's headers, and as what."""
ALGORITHMS = ("md5", "sha1", "sha256", "sha384", "sha512")


@dataclass(frozen=True)
class Content:
    """What was received, already in the blob store."""

    digest: str  # SHA-256, its name there
    size: int
    checksums: dict[str, str]  # by algorithm, in hex


@dataclass
class Details:
    """What a client says about an object beside its content."""

    http: Document = field(default_factory=dict)
    custom: dict[str, str] = field(default_factory=dict)
    checksums: tuple[str, ...] = ()  # of which algorithms the object tells
    etag: str = ""  # where it is not the MD5
    storage_class: str = "Standard"


class Receiver:
    """Takes content in pieces into a temporary file, hashing it on the way; not finished in the block, it is gone."""

    def __init__(self, blobs: Blobs, algorithms: Iterable[str] = ()) -> None:
        self._blobs = blobs
        self._path: Path = blobs.new_file()
        self._file: BinaryIO = self._path.open("wb")
        self._hashes = {name: hashlib.new(name, usedforsecurity=False) for name in {"md5", "sha256", *algorithms}}
        self._size = 0

    def add(self, data: bytes) -> None:
        """The next piece."""
        self._file.write(data)
        self._size += len(data)
        for each in self._hashes.values():
            each.update(data)

    @property
    def size(self) -> int:
        """Bytes taken so far."""
        return self._size

    @property
    def checksums(self) -> dict[str, str]:
        """Of what was taken so far, in hex by algorithm."""
        return {name: each.hexdigest() for name, each in self._hashes.items()}

    def finish(self) -> Content:
        """All pieces are there: keep the content."""
        self._file.close()
        checksums = self.checksums
        self._blobs.adopt(self._path, checksums["sha256"])
        return Content(checksums["sha256"], self._size, checksums)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)


def receive(blobs: Blobs, content: bytes) -> Content:
    """Content that is there in one piece."""
    with Receiver(blobs) as receiver:
        receiver.add(content)
        return receiver.finish()


def get(store: Store, bucket: str, key: str) -> Document | None:
    """An object's document; `bucket` is the scope of the bucket's things."""
    return store.get(OBJECT, bucket, key)


def put(state: State, bucket: str, key: str, content: Content, details: Details) -> Document:
    """Write an object, replacing the former one."""
    document: Document = {
        "key": key,
        "size": content.size,
        "etag": details.etag or content.checksums["md5"],
        "version": hex_id(),
        "uploaded": int(state.clock.time() * 1000),
        "http": details.http,
        "custom": details.custom,
        "checksums": {name: content.checksums[name] for name in details.checksums},
        "sha256": content.digest,
        "storage_class": details.storage_class,
    }
    return state.store.put(OBJECT, bucket, key, document)


def folded(found: Iterable[Document], prefix: str, delimiter: str) -> Iterator[Document]:
    """Objects, and once each what they have in common up to a delimiter; `last` is the last key covered."""
    folder: Document | None = None
    for each in found:
        inside, cut_at, _ = each["key"][len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
        name = f"{prefix}{inside}{cut_at}" if cut_at else None
        if folder and name == folder["folder"]:
            folder["last"] = each["key"]
            continue
        folder = {"folder": name, "last": each["key"]} if name else None
        yield folder or {"object": each, "last": each["key"]}


def delete(store: Store, bucket: str, keys: Iterable[str]) -> None:
    """Remove objects; those that are not there are no error."""
    for key in keys:
        store.delete(OBJECT, bucket, key)


def create_upload(store: Store, bucket: str, key: str, details: Details) -> str:
    """Begin an upload in parts; its id."""
    upload = hex_id()
    told = {"http": details.http, "custom": details.custom, "storage_class": details.storage_class}
    store.put(UPLOAD, bucket, upload, {"key": key, **told})
    return upload


def find_upload(store: Store, bucket: str, upload: str, key: str) -> Document | None:
    """An upload under way of this key."""
    found = store.get(UPLOAD, bucket, upload)
    return found if found and found["key"] == key else None


def put_part(store: Store, bucket: str, upload: str, number: int, content: Content) -> str:
    """Keep a part; its etag."""
    etag = hex_id()
    body = {"number": number, "etag": etag, "size": content.size, "md5": content.checksums["md5"]}
    store.put(PART, f"{bucket}/{upload}", str(number), {**body, "sha256": content.digest})
    return etag


def joined(blobs: Blobs, parts: list[Document]) -> Content:
    """The content of all parts in one; takes its time where they are large."""
    with Receiver(blobs) as receiver:
        for part in parts:
            with blobs.path(part["sha256"]).open("rb") as file:
                while piece := file.read(_COPY):
                    receiver.add(piece)
        return receiver.finish()


def complete(state: State, bucket: str, upload: str, parts: list[Document], content: Content) -> Document:
    """Make one object of the parts; an object of several parts has an etag of its own kind."""
    begun = state.store.get(UPLOAD, bucket, upload) or {}
    etag = hashlib.md5(b"".join(bytes.fromhex(part["md5"]) for part in parts), usedforsecurity=False).hexdigest()
    storage_class = begun.get("storage_class", "Standard")  # of an upload that an earlier version has begun
    details = Details(begun["http"], begun["custom"], etag=f"{etag}-{len(parts)}", storage_class=storage_class)
    done = put(state, bucket, begun["key"], content, details)
    abort(state.store, bucket, upload)
    return done


def abort(store: Store, bucket: str, upload: str) -> None:
    """Forget an upload and its parts."""
    store.delete_all(PART, f"{bucket}/{upload}")
    store.delete(UPLOAD, bucket, upload)


def forget_uploads(store: Store, bucket: str) -> None:
    """Forget all uploads of a bucket, which do not keep it alive."""
    for upload in store.keys(UPLOAD, bucket):
        abort(store, bucket, upload)


def sweep(state: State) -> set[str]:
    """The blobs that objects and parts need."""
    documents = (*state.store.everywhere(OBJECT), *state.store.everywhere(PART))
    return {document["sha256"] for _, _, document in documents}
