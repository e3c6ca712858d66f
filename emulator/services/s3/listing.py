"""Lists of objects, in both versions that S3 has, and of buckets."""

import base64
import binascii
from collections.abc import Callable
from functools import partial
from urllib.parse import quote

from emulator.calls import Raw
from emulator.clock import parse_stamp
from emulator.paging import cursor_for, cut
from emulator.services.r2 import objects
from emulator.services.r2.object_rules import RefusalError
from emulator.store import Document

from . import documents, errors
from .ask import Ask

_Encode = Callable[[str], str]
_MOST = 1000
_LAST = "\U0010ffff"  # after everything that begins alike


async def list_objects(ask: Ask) -> Raw:
    """Tell the objects of a bucket by key; version 1 goes on after a key, version 2 after a token or a key."""
    second = "list-type" in ask.query
    if second and ask.query["list-type"] != "2":
        raise errors.INVALID(problem="list-type must be 2.")
    prefix, delimiter = ask.query.get("prefix", ""), ask.query.get("delimiter", "")
    size = _size(ask)
    after = _after_token(ask) if second else _after_marker(ask, delimiter)
    found = ask.state.store.select(objects.OBJECT, ask.place, order="key", prefix=prefix, after=after or None)
    shown, more = cut(list(objects.folded(found, prefix, delimiter)), size)
    encode = _encoding(ask)
    head: list[documents.Node] = [("Name", ask.bucket.name), ("Prefix", encode(prefix)), ("MaxKeys", str(size))]
    head += [(name, encode(ask.query[asked])) for asked, name in _ECHOED[second].items() if asked in ask.query]
    head.append(("IsTruncated", "true" if more else "false"))
    if second:
        head.append(("KeyCount", str(len(shown))))
        head += [("NextContinuationToken", cursor_for(shown[-1]["last"]))] if more else []
    elif more:
        head.append(("NextMarker", encode(shown[-1].get("folder") or shown[-1]["last"])))
    return documents.answer("ListBucketResult", head + [_row(each, encode) for each in shown])


_ECHOED = {
    True: {"delimiter": "Delimiter", "start-after": "StartAfter", "encoding-type": "EncodingType"}
    | {"continuation-token": "ContinuationToken"},
    False: {"delimiter": "Delimiter", "marker": "Marker", "encoding-type": "EncodingType"},
}


def _row(each: Document, encode: _Encode) -> documents.Node:
    if "folder" in each:
        return ("CommonPrefixes", [("Prefix", encode(each["folder"]))])
    found = each["object"]
    return (
        "Contents",
        [
            ("Key", encode(found["key"])),
            ("LastModified", documents.stamp(found["uploaded"])),
            ("ETag", f'"{found["etag"]}"'),
            ("Size", str(found["size"])),
            ("StorageClass", "STANDARD"),
        ],
    )


def _encoding(ask: Ask) -> _Encode:
    """Names as the client wants them: as they are, or encoded where XML has no place for some characters."""
    kind = ask.query.get("encoding-type")
    if kind not in (None, "url"):
        raise errors.INVALID(problem="Invalid Encoding Method specified in Request")
    return partial(quote, safe="/") if kind == "url" else str


def _size(ask: Ask) -> int:
    text = ask.query.get("max-keys", str(_MOST))
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= _MOST):
        raise RefusalError(400, 10022, "MaxKeys params must be positive integer <= 1000.")
    return int(text)


def _after_token(ask: Ask) -> str:
    token = ask.query.get("continuation-token")
    if token is None:
        return ask.query.get("start-after", "")
    try:
        return base64.urlsafe_b64decode(token.encode()).decode()
    except (binascii.Error, ValueError):
        raise errors.INVALID(problem="The continuation token provided is incorrect") from None


def _after_marker(ask: Ask, delimiter: str) -> str:
    """A marker that is a common beginning stands for all that begins like it."""
    marker = ask.query.get("marker", "")
    return marker + _LAST if delimiter and marker.endswith(delimiter) else marker


async def list_buckets(ask: Ask) -> Raw:
    """Tell the account's buckets of this jurisdiction."""
    found = ask.state.store.select("r2_bucket", ask.bucket.place, order="key")
    rows: list[documents.Node] = [
        ("Bucket", [("Name", each["name"]), ("CreationDate", documents.stamp(_milliseconds(each["creation_date"])))])
        for each in found
    ]
    owner: list[documents.Node] = [("ID", ask.bucket.account), ("DisplayName", ask.bucket.account)]
    return documents.answer("ListAllMyBucketsResult", [("Buckets", rows), ("Owner", owner)])


def _milliseconds(text: str) -> int:
    moment = parse_stamp(text)
    return int(moment.timestamp() * 1000) if moment else 0


async def head_bucket(ask: Ask) -> Raw:
    """Whether the bucket is there."""
    ask.bucket_document()
    return Raw(b"", None, headers={"x-amz-bucket-region": "auto"})


async def bucket_location(ask: Ask) -> Raw:
    """Where the bucket is."""
    return documents.answer("LocationConstraint", str(ask.bucket_document()["location"]).upper())
