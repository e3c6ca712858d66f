"""R2 bindings: workerd's requests, answered from the objects the emulator keeps.

A request is JSON in a header or at the beginning of the body, an answer JSON at the beginning of the body; what follows
is content. The shapes are those of workerd's `r2-api.capnp` of 2026-10.
"""

import base64
from collections.abc import AsyncIterator, Callable

from emulator.calls import JSON_TYPE, Call, Raw, dump, parse_json
from emulator.errors import ApiError
from emulator.paging import cursor_for, cut
from emulator.services.r2 import object_rules, objects
from emulator.services.r2.object_rules import RefusalError, check_key
from emulator.services.r2.objects import ALGORITHMS, Content, Details, Receiver
from emulator.store import Document

_SIZE = "cf-r2-metadata-size"
_MOST = 1000
_MOST_WITH_FIELDS = 100
_LARGEST_REQUEST = 1024 * 1024


async def answer(call: Call, bucket: str) -> Raw:
    """One request of a binding to the bucket of this scope."""
    try:
        _check_bucket(call, bucket)
        if call.method == "GET":
            asked = parse_json(call.headers.get("cf-r2-request", "").encode("latin-1"))
            return _READS[asked["method"]](call, bucket, asked)
        return await _change(call, bucket)
    except RefusalError as refusal:
        return _refused(refusal)
    except (ApiError, KeyError, TypeError, ValueError):
        return _refused(RefusalError(400, 10029, "The request of the binding is not understood."))


def _refused(refusal: RefusalError) -> Raw:
    """As workerd reads it."""
    headers = {"cf-r2-error": dump({"version": 1, "v4code": refusal.code, "message": refusal.text}).decode()}
    if refusal.body:
        headers[_SIZE] = str(len(refusal.body))
    return Raw(refusal.body, JSON_TYPE, refusal.status, headers)


def _check_bucket(call: Call, bucket: str) -> None:
    place, _, name = bucket.rpartition("/")
    if not call.store.has("r2_bucket", place, name):
        raise object_rules.no_bucket()


def _head(call: Call, bucket: str, asked: Document) -> Raw:
    return _told(_shown(_existing(call, bucket, asked)))


def _get(call: Call, bucket: str, asked: Document) -> Raw:
    found = _existing(call, bucket, asked)
    if not object_rules.condition_holds(asked.get("onlyIf"), found):
        raise object_rules.failed_condition(dump(_shown(found)))
    first, length = object_rules.window(asked, found["size"])
    told = dump({**_shown(found), "range": {"offset": str(first), "length": str(length)}})
    path = call.state.blobs.path(found["sha256"])
    return Raw(path, "application/octet-stream", headers={_SIZE: str(len(told))}, window=(first, length), prefix=told)


def _list(call: Call, bucket: str, asked: Document) -> Raw:
    include = asked.get("include") or []
    limit = asked.get("limit", _MOST)
    if not 0 < limit <= _MOST:
        raise RefusalError(400, 10022, "MaxKeys params must be positive integer <= 1000.")
    limit = min(limit, _MOST_WITH_FIELDS) if include else limit
    prefix, delimiter = asked.get("prefix", ""), asked.get("delimiter") or ""
    cursor = base64.urlsafe_b64decode(asked["cursor"]).decode() if asked.get("cursor") else ""
    after = max(asked.get("startAfter") or "", cursor) or None
    found = call.store.select(objects.OBJECT, bucket, order="key", prefix=prefix, after=after)
    listed, more = cut(list(objects.folded(found, prefix, delimiter)), limit)
    shown = [_shown(each["object"], http=0 in include, custom=1 in include) for each in listed if "object" in each]
    answer: Document = {"objects": shown, "truncated": more}
    answer["delimitedPrefixes"] = [each["folder"] for each in listed if "folder" in each]
    return _told({**answer, "cursor": cursor_for(listed[-1]["last"])} if more else answer)


_READS: dict[str, Callable[[Call, str, Document], Raw]] = {"head": _head, "get": _get, "list": _list}


async def _change(call: Call, bucket: str) -> Raw:
    """Requests with a body: what is asked comes first in it."""
    size = int(call.headers[_SIZE])
    if size > _LARGEST_REQUEST:
        raise RefusalError(400, 10012, "Your metadata headers exceed the maximum allowed metadata size.")
    pieces, rest = call.stream(), b""
    while len(rest) < size:
        rest += await anext(pieces)
    asked = parse_json(rest[:size])
    if asked["method"] in _UPLOADS:
        content = await _received(call, asked, rest[size:], pieces)
        with call.store.transaction():
            return _UPLOADS[asked["method"]](call, bucket, asked, content)
    with call.store.transaction():
        return _CHANGES[asked["method"]](call, bucket, asked)


async def _received(call: Call, asked: Document, first: bytes, pieces: AsyncIterator[bytes]) -> Content:
    with Receiver(call.state.blobs, [name for name in ALGORITHMS if name in asked]) as receiver:
        receiver.add(first)
        async for piece in pieces:
            receiver.add(piece)
        return receiver.finish()


def _put(call: Call, bucket: str, asked: Document, content: Content) -> Raw:
    key = check_key(asked["object"])
    given = tuple(name for name in ALGORITHMS if name in asked)
    for name in given:
        wanted = base64.b64decode(asked[name]).hex() if name == "md5" else asked[name].lower()
        if wanted != content.checksums[name]:
            text = f"The {name.upper()} checksum you specified did not match what we received."
            raise RefusalError(400, 10037, text)
    if not object_rules.condition_holds(asked.get("onlyIf"), objects.get(call.store, bucket, key)):
        raise object_rules.failed_condition()
    details = _details(asked)
    details.checksums = ("md5", *(name for name in given if name != "md5"))
    return _told(_shown(objects.put(call.state, bucket, key, content, details)))


def _upload_part(call: Call, bucket: str, asked: Document, content: Content) -> Raw:
    _upload(call, bucket, asked)
    return _told({"etag": objects.put_part(call.store, bucket, asked["uploadId"], asked["partNumber"], content)})


_UPLOADS: dict[str, Callable[[Call, str, Document, Content], Raw]] = {"put": _put, "uploadPart": _upload_part}


def _delete(call: Call, bucket: str, asked: Document) -> Raw:
    objects.delete(call.store, bucket, [asked["object"]] if "object" in asked else asked["objects"])
    return _told({})


def _create_upload(call: Call, bucket: str, asked: Document) -> Raw:
    key = check_key(asked["object"])
    return _told({"uploadId": objects.create_upload(call.store, bucket, key, _details(asked))})


def _complete_upload(call: Call, bucket: str, asked: Document) -> Raw:
    _upload(call, bucket, asked)
    stored = call.store.select(objects.PART, f"{bucket}/{asked['uploadId']}")
    parts = object_rules.parts_of(stored, asked["parts"])
    content = objects.joined(call.state.blobs, parts)
    return _told(_shown(objects.complete(call.state, bucket, asked["uploadId"], parts, content)))


def _abort_upload(call: Call, bucket: str, asked: Document) -> Raw:
    _upload(call, bucket, asked)
    objects.abort(call.store, bucket, asked["uploadId"])
    return _told({})


_CHANGES: dict[str, Callable[[Call, str, Document], Raw]] = {
    "delete": _delete,
    "createMultipartUpload": _create_upload,
    "completeMultipartUpload": _complete_upload,
    "abortMultipartUpload": _abort_upload,
}


def _existing(call: Call, bucket: str, asked: Document) -> Document:
    found = objects.get(call.store, bucket, check_key(asked["object"]))
    if found is None:
        raise object_rules.no_key()
    return found


def _upload(call: Call, bucket: str, asked: Document) -> None:
    if objects.find_upload(call.store, bucket, asked["uploadId"], asked["object"]) is None:
        raise object_rules.no_upload()


def _details(asked: Document) -> Details:
    return Details(asked.get("httpFields") or {}, {each["k"]: each["v"] for each in asked.get("customFields") or ()})


def _shown(found: Document, *, http: bool = True, custom: bool = True) -> Document:
    numbers = {str(number): found["checksums"].get(name) for number, name in enumerate(ALGORITHMS)}
    return {
        "name": found["key"],
        "version": found["version"],
        "size": str(found["size"]),
        "etag": found["etag"],
        "uploaded": str(found["uploaded"]),
        "httpFields": found["http"] if http else {},
        "customFields": [{"k": name, "v": value} for name, value in found["custom"].items()] if custom else [],
        "checksums": {number: value for number, value in numbers.items() if value},
    }


def _told(body: Document) -> Raw:
    content = dump(body)
    return Raw(content, headers={_SIZE: str(len(content))})
