"""`<account>.r2.cloudflarestorage.com`: which operation a request is, whether it may be done, and who does it."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from emulator.calls import Call, Raw
from emulator.registry import Fidelity, Mounted, Service
from emulator.services.r2 import rules
from emulator.services.r2.object_rules import RefusalError

from . import errors, keys, listing, objects, sigv4, uploads
from .ask import Ask, operation, split
from .errors import NAMES, S3Error
from .keys import Bucket
from .payload import Body
from .sigv4 import Request

DOMAIN = "r2.cloudflarestorage.com"
_SOURCE = "Cloudflare's pages on R2's S3 API, the S3 API reference; what aws4fetch, boto3, curl and s3fs ask for"
api = Service("s3", source=_SOURCE, date="2026-11-18")
_PLACES = "|".join(each for each in rules.JURISDICTIONS if each != "default")
_HOST = re.compile(
    rf"(?:([a-z0-9-]+)\.)?([0-9a-f]{{32}})(?:\.({_PLACES}))?\.{re.escape(DOMAIN)}(?:\.localhost)?(?::\d+)?"
)


@dataclass(frozen=True)
class _Operation:
    handler: Callable[[Ask], Awaitable[Raw]]
    write: bool
    method: str
    path: str
    note: str = ""
    fidelity: Fidelity = Fidelity.FULL


_BUCKET, _KEY = "/{bucket}", "/{bucket}/{key}"
_UPLOAD = _KEY + "?uploadId="
_OPERATIONS = {
    "ListBuckets": _Operation(listing.list_buckets, False, "GET", "/", "needs the account's R2, not a bucket's"),
    "HeadBucket": _Operation(listing.head_bucket, False, "HEAD", _BUCKET),
    "GetBucketLocation": _Operation(listing.bucket_location, False, "GET", _BUCKET + "?location"),
    "ListObjectsV2": _Operation(listing.list_objects, False, "GET", _BUCKET + "?list-type=2"),
    "ListObjects": _Operation(listing.list_objects, False, "GET", _BUCKET),
    "DeleteObjects": _Operation(objects.delete_objects, True, "POST", _BUCKET + "?delete"),
    "ListMultipartUploads": _Operation(
        uploads.list_uploads, False, "GET", _BUCKET + "?uploads", "one page", Fidelity.PARTIAL
    ),
    "GetObject": _Operation(objects.get_object, False, "GET", _KEY, "one range, conditions, response-* parameters"),
    "HeadObject": _Operation(objects.get_object, False, "HEAD", _KEY),
    "PutObject": _Operation(
        objects.put_object,
        True,
        "PUT",
        _KEY,
        "checksums MD5, SHA-1, SHA-256 and CRC32 are checked and not given back; others are refused; no SSE-C",
        Fidelity.PARTIAL,
    ),
    "CopyObject": _Operation(objects.copy_object, True, "PUT", _KEY, "with x-amz-copy-source"),
    "DeleteObject": _Operation(objects.delete_object, True, "DELETE", _KEY),
    "CreateMultipartUpload": _Operation(uploads.create, True, "POST", _KEY + "?uploads"),
    "UploadPart": _Operation(uploads.put_part, True, "PUT", _UPLOAD + "&partNumber="),
    "UploadPartCopy": _Operation(
        uploads.copy_part, True, "PUT", _UPLOAD + "&partNumber=", "with x-amz-copy-source, and a range of it"
    ),
    "ListParts": _Operation(uploads.list_parts, False, "GET", _UPLOAD),
    "CompleteMultipartUpload": _Operation(uploads.complete, True, "POST", _UPLOAD),
    "AbortMultipartUpload": _Operation(uploads.abort, True, "DELETE", _UPLOAD),
}
_READS, _WRITES = (f"Workers R2 Storage Bucket Item {right}" for right in ("Read", "Write"))
_ROWS = tuple(
    Mounted(
        each.method, each.path, _WRITES if each.write else _READS, each.fidelity, f"{name}; {each.note}".rstrip("; ")
    )
    for name, each in _OPERATIONS.items()
)
# Where several objects are meant, the operation itself asks for the right to each.
_LISTS = ("ListObjects", "ListObjectsV2", "ListMultipartUploads")
_WHOLE_BUCKET = ("HeadBucket", "GetBucketLocation", "DeleteObjects")


def _request(call: Call) -> Request:
    fields = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in call.scope["headers"])
    return Request(call.method, call.raw_path, call.query_string, fields)


def _target(call: Call, request: Request) -> tuple[Bucket, str]:
    """Bucket and key, by the path or with the bucket before the host."""
    found = _HOST.fullmatch(call.headers.get("host", "").lower())
    if found is None:
        raise errors.MISDIRECTED()
    before, account, place = found[1], found[2], found[3] or "default"
    name, key = (before, request.path.removeprefix(b"/").decode(errors="replace")) if before else split(request.path)
    return Bucket(account, place, name), key


def name_of(call: Call) -> str:
    """The operation's name, for the journal and for faults; whatever is wrong with the request."""
    try:
        request = _request(call)
        bucket, key = _target(call, request)
        return operation(request, bucket.name, key)
    except S3Error:
        return "none"


@api.host(DOMAIN, name_of, _ROWS)
async def serve(call: Call) -> Raw:
    """Do what a signed request asks for."""
    try:
        return await _serve(call)
    except RefusalError as refusal:
        return S3Error(*NAMES[refusal.code], refusal.text).reply()
    except S3Error as error:
        return error.reply()


async def _serve(call: Call) -> Raw:
    request = _request(call)
    bucket, key = _target(call, request)
    call.account_id = bucket.account
    signed = sigv4.read(request)
    session = request.query.get("X-Amz-Security-Token") or request.headers.get("x-amz-security-token", "")
    who = keys.find(call.state, bucket.account, signed.access_key, session)
    sigv4.check(request, signed, who.secret)
    # Clients sign by this machine's clock, which tests do not move.
    sigv4.check_time(signed, datetime.now(UTC))
    name = operation(request, bucket.name, key)
    wanted = _OPERATIONS[name]
    query = request.query
    body = Body(request.headers, signed, sigv4.signing_key(signed, who.secret))
    ask = Ask(call, request, bucket, key, query, who, body)
    if name == "ListBuckets":
        who.require_account(bucket.account)
    elif name in _LISTS:
        who.require(bucket, write=False, prefix=query.get("prefix", ""))
    elif name in _WHOLE_BUCKET:
        who.require_bucket(bucket, write=wanted.write)
    else:
        who.require(bucket, write=wanted.write, keys=(key,))
    return await wanted.handler(ask)
