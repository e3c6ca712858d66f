"""Operations on one object, or on several that are deleted."""

from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any

from emulator.calls import Raw
from emulator.services.r2 import object_rules, objects
from emulator.services.r2.bodies import STORAGE_CLASSES
from emulator.store import Document

from . import documents, errors
from .ask import Ask

_META = "x-amz-meta-"
_LARGEST_META = 8192
_SECOND = 1000  # milliseconds
_CLASSES = {"STANDARD": "Standard", "STANDARD_IA": "InfrequentAccess"}
_S3_CLASSES = {name: wire for wire, name in _CLASSES.items()}
_OVERRIDES = ("content-type", "content-language", "expires", "cache-control", "content-disposition", "content-encoding")


def details(ask: Ask) -> objects.Details:
    """What a client says of an object in headers."""
    custom = {name.removeprefix(_META): value for name, value in ask.headers.items() if name.startswith(_META)}
    if sum(len(name) + len(value) for name, value in custom.items()) > _LARGEST_META:
        raise errors.S3Error(400, "MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size.")
    http = {inner: ask.headers[outer] for outer, inner in objects.HTTP_FIELDS.items() if outer in ask.headers}
    if encodings := [each.strip() for each in http.pop("contentEncoding", "").split(",")]:
        kept = ",".join(each for each in encodings if each and each != "aws-chunked")
        http |= {"contentEncoding": kept} if kept else {}
    wanted = ask.headers.get("x-amz-storage-class")
    if wanted is not None and wanted not in _CLASSES:
        raise errors.S3Error(400, "InvalidStorageClass", "The storage class you specified is not valid.")
    storage_class = _CLASSES[wanted] if wanted else ask.bucket_document()["storage_class"]
    return objects.Details(http, custom, storage_class=storage_class)


async def put_object(ask: Ask) -> Raw:
    """Write an object; what a failed condition, signature or checksum forbids leaves nothing behind."""
    object_rules.check_key(ask.key)
    told = details(ask)
    _require(_condition(ask), objects.get(ask.state.store, ask.place, ask.key))
    content = await ask.body.keep(ask.call.stream(), ask.state.blobs)
    with ask.state.store.transaction():
        _require(_condition(ask), objects.get(ask.state.store, ask.place, ask.key))
        done = objects.put(ask.state, ask.place, ask.key, content, told)
    return Raw(b"", None, headers={"etag": f'"{done["etag"]}"', "x-amz-version-id": done["version"]})


async def copy_object(ask: Ask) -> Raw:
    """Write an object from another's content, which the caller must be able to read."""
    object_rules.check_key(ask.key)
    found = copied(ask)
    _require(_condition(ask, "x-amz-copy-source-"), found)
    directive = ask.headers.get("x-amz-metadata-directive", "COPY")
    if directive not in ("COPY", "REPLACE"):
        raise errors.INVALID(problem="x-amz-metadata-directive must be COPY or REPLACE.")
    told = details(ask)
    if directive == "COPY":
        told.http, told.custom = found["http"], found["custom"]
    told.etag, told.checksums = found["etag"], tuple(found["checksums"])
    content = objects.Content(found["sha256"], found["size"], found["checksums"])
    with ask.state.store.transaction():
        done = objects.put(ask.state, ask.place, ask.key, content, told)
    return documents.answer(
        "CopyObjectResult", [("LastModified", documents.stamp(done["uploaded"])), ("ETag", f'"{done["etag"]}"')]
    )


def copied(ask: Ask) -> Document:
    """The object that is copied."""
    bucket, key = ask.source()
    ask.who.require(bucket, write=False, keys=(key,))
    if not ask.state.store.has("r2_bucket", bucket.place, bucket.name):
        raise object_rules.no_bucket()
    return _existing(ask, bucket.scope, key)


def _existing(ask: Ask, scope: str, key: str) -> Document:
    found = objects.get(ask.state.store, scope, key)
    if found is None:
        raise object_rules.no_key()
    return found


async def get_object(ask: Ask) -> Raw:
    """Read an object or a part of it; of HEAD the answer has no body."""
    found = _existing(ask, ask.place, ask.key)
    condition = _condition(ask)
    if not object_rules.condition_holds(condition, found):
        if condition and not _is_changed(condition, found):
            return Raw(b"", None, 304, {"etag": f'"{found["etag"]}"', "last-modified": _date(found["uploaded"])})
        raise object_rules.failed_condition()
    headers = _headers(found)
    for name in _OVERRIDES:
        if (value := ask.query.get(f"response-{name}")) is not None:
            headers[name] = value
    content_type = headers.pop("content-type", "application/octet-stream")
    path, size, asked = ask.state.blobs.path(found["sha256"]), found["size"], ask.headers.get("range", "")
    first, length = object_rules.window({"rangeHeader": asked}, size)
    if not asked or (first, length) == (0, size):
        return Raw(path, content_type, headers=headers)
    headers["content-range"] = f"bytes {first}-{first + length - 1}/{size}"
    return Raw(path, content_type, 206, headers, window=(first, length))


def _headers(found: Document) -> dict[str, str]:
    names = {inner: outer for outer, inner in objects.HTTP_FIELDS.items()}
    headers = {names[name]: _http_value(name, value) for name, value in found["http"].items() if name in names}
    headers |= {f"{_META}{name}": value for name, value in found["custom"].items()}
    if found.get("storage_class", STORAGE_CLASSES[0]) != STORAGE_CLASSES[0]:
        headers["x-amz-storage-class"] = _S3_CLASSES[found["storage_class"]]
    headers |= {"etag": f'"{found["etag"]}"', "last-modified": _date(found["uploaded"]), "accept-ranges": "bytes"}
    return {name: value for name, value in headers.items() if value.isprintable()}


def _http_value(name: str, value: Any) -> str:
    """Workers write the date of expiry as milliseconds."""
    return _date(int(value)) if name == "cacheExpiry" and str(value).isdigit() else str(value)


def _date(milliseconds: int) -> str:
    return format_datetime(datetime.fromtimestamp(milliseconds // 1000, UTC), usegmt=True)


async def delete_object(ask: Ask) -> Raw:
    """Remove an object; one that is not there is no error."""
    with ask.state.store.transaction():
        objects.delete(ask.state.store, ask.place, [ask.key])
    return Raw(b"", None, 204)


async def delete_objects(ask: Ask) -> Raw:
    """Remove up to a thousand objects; each is told apart."""
    keys, quiet = documents.deletions(await ask.body.read(ask.call.stream(), documents.LARGEST))
    ask.who.require(ask.bucket, write=True, keys=tuple(keys))
    with ask.state.store.transaction():
        objects.delete(ask.state.store, ask.place, keys)
    return documents.answer("DeleteResult", [] if quiet else [("Deleted", [("Key", key)]) for key in keys])


def _require(condition: Document | None, found: Document | None) -> None:
    if not object_rules.condition_holds(condition, found):
        raise object_rules.failed_condition()


def _condition(ask: Ask, prefix: str = "") -> Document | None:
    """Conditions of HTTP in the form that R2 judges; to HTTP the second that is named is still before."""
    condition: Document = {}
    for header, name in (("if-match", "etagMatches"), ("if-none-match", "etagDoesNotMatch")):
        if (value := ask.headers.get(prefix + header)) is not None:
            condition[name] = [_etag(each.strip()) for each in value.split(",")]
    for header, name in (("if-unmodified-since", "uploadedBefore"), ("if-modified-since", "uploadedAfter")):
        if (value := ask.headers.get(prefix + header)) is not None:
            condition[name] = _moment(value) + (_SECOND if name == "uploadedBefore" else 0)
    return {**condition, "secondsGranularity": True} if condition else None


def _etag(text: str) -> Document:
    return {"type": "wildcard"} if text == "*" else {"type": "strong", "value": text.removeprefix("W/").strip('"')}


def _moment(text: str) -> int:
    try:
        return int(parsedate_to_datetime(text).timestamp() * 1000)
    except ValueError:
        raise errors.INVALID(problem="A date in a condition must be like Sat, 31 Jan 2026 23:59:59 GMT.") from None


def _is_changed(condition: Document, found: Document) -> bool:
    """Whether it is not the client's own copy that a condition spares it: then the answer is 412."""
    positive: Document = {name: condition[name] for name in ("etagMatches", "uploadedBefore") if name in condition}
    return not object_rules.condition_holds({**positive, "secondsGranularity": True}, found)
