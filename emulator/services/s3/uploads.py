"""Uploads in parts."""

import asyncio

from emulator.calls import Raw
from emulator.services.r2 import object_rules, objects
from emulator.services.r2.objects import Content, Receiver
from emulator.store import Document

from . import documents, errors
from .ask import Ask
from .objects import copied, details

_MOST_PARTS = 10_000
_COPY = 1024 * 1024


async def create(ask: Ask) -> Raw:
    """Begin an upload."""
    object_rules.check_key(ask.key)
    with ask.state.store.transaction():
        upload = objects.create_upload(ask.state.store, ask.place, ask.key, details(ask))
    names = [("Bucket", ask.bucket.name), ("Key", ask.key), ("UploadId", upload)]
    return documents.answer("InitiateMultipartUploadResult", names)  # type: ignore[arg-type]  # a list is invariant


def _upload(ask: Ask) -> str:
    upload = ask.query["uploadId"]
    if objects.find_upload(ask.state.store, ask.place, upload, ask.key) is None:
        raise object_rules.no_upload()
    return upload


def _number(ask: Ask) -> int:
    text = ask.query["partNumber"]
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= _MOST_PARTS):
        raise errors.INVALID(problem=f"Part number must be an integer between 1 and {_MOST_PARTS}, inclusive")
    return int(text)


async def put_part(ask: Ask) -> Raw:
    """Take one part."""
    _upload(ask)
    number = _number(ask)
    content = await ask.body.keep(ask.call.stream(), ask.state.blobs)
    with ask.state.store.transaction():
        etag = objects.put_part(ask.state.store, ask.place, _upload(ask), number, content)
    return Raw(b"", None, headers={"etag": f'"{etag}"'})


async def copy_part(ask: Ask) -> Raw:
    """Take one part from an object, or from a range of it."""
    _upload(ask)
    number, found = _number(ask), copied(ask)
    asked = ask.headers.get("x-amz-copy-source-range", "")
    first, length = object_rules.window({"rangeHeader": asked}, found["size"])
    content = await asyncio.to_thread(_excerpt, ask, found, first, length)
    with ask.state.store.transaction():
        etag = objects.put_part(ask.state.store, ask.place, _upload(ask), number, content)
    modified = documents.stamp(int(ask.state.clock.time() * 1000))
    return documents.answer("CopyPartResult", [("LastModified", modified), ("ETag", f'"{etag}"')])


def _excerpt(ask: Ask, found: Document, first: int, length: int) -> Content:
    with Receiver(ask.state.blobs) as receiver, ask.state.blobs.path(found["sha256"]).open("rb") as file:
        file.seek(first)
        while piece := file.read(min(_COPY, length)):
            length -= len(piece)
            receiver.add(piece)
        return receiver.finish()


async def list_parts(ask: Ask) -> Raw:
    """Tell which parts are there."""
    upload = _upload(ask)
    after = _whole(ask, "part-number-marker", 0, _MOST_PARTS)
    most = _whole(ask, "max-parts", 1000, 1000)
    stored = ask.state.store.select(objects.PART, f"{ask.place}/{upload}")
    left = sorted((each for each in stored if each["number"] > after), key=lambda each: int(each["number"]))
    shown: list[documents.Node] = [
        ("Part", [("PartNumber", str(each["number"])), ("ETag", f'"{each["etag"]}"'), ("Size", str(each["size"]))])
        for each in left[:most]
    ]
    head: list[documents.Node] = [("Bucket", ask.bucket.name), ("Key", ask.key), ("UploadId", upload)]
    head += [("PartNumberMarker", str(after)), ("MaxParts", str(most))]
    head += [("IsTruncated", "true" if len(left) > most else "false")]
    if len(left) > most:
        head.append(("NextPartNumberMarker", str(left[most - 1]["number"])))
    return documents.answer("ListPartsResult", head + shown)


def _whole(ask: Ask, name: str, default: int, most: int) -> int:
    text = ask.query.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise errors.INVALID(problem=f"{name} must be a whole number.")
    return min(int(text), most)


async def complete(ask: Ask) -> Raw:
    """Make one object of the parts that the body names."""
    upload = _upload(ask)
    chosen = documents.parts(await ask.body.read(ask.call.stream(), documents.LARGEST))
    numbers = [each["part"] for each in chosen]
    if numbers != sorted(set(numbers)):
        raise errors.S3Error(400, "InvalidPartOrder", "The list of parts was not in ascending order.")
    parts = object_rules.parts_of(ask.state.store.select(objects.PART, f"{ask.place}/{upload}"), chosen)
    content = await asyncio.to_thread(objects.joined, ask.state.blobs, parts)
    with ask.state.store.transaction():
        done = objects.complete(ask.state, ask.place, _upload(ask), parts, content)
    location = f"https://{ask.headers['host']}/{ask.bucket.name}/{ask.key}"
    names: list[documents.Node] = [("Location", location), ("Bucket", ask.bucket.name), ("Key", ask.key)]
    return documents.answer("CompleteMultipartUploadResult", [*names, ("ETag", f'"{done["etag"]}"')])


async def abort(ask: Ask) -> Raw:
    """Forget an upload."""
    with ask.state.store.transaction():
        objects.abort(ask.state.store, ask.place, _upload(ask))
    return Raw(b"", None, 204)


async def list_uploads(ask: Ask) -> Raw:
    """Tell which uploads are under way; all of them, however many."""
    prefix, store = ask.query.get("prefix", ""), ask.state.store
    begun = [(key, store.get(objects.UPLOAD, ask.place, key)) for key in store.keys(objects.UPLOAD, ask.place)]
    shown: list[documents.Node] = [
        ("Upload", [("Key", each["key"]), ("UploadId", upload)])
        for upload, each in sorted(((upload, each) for upload, each in begun if each), key=lambda pair: pair[1]["key"])
        if each["key"].startswith(prefix)
    ]
    head: list[documents.Node] = [("Bucket", ask.bucket.name), ("Prefix", prefix), ("IsTruncated", "false")]
    return documents.answer("ListMultipartUploadsResult", head + shown)
