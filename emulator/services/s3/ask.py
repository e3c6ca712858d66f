"""One request to the endpoint, read: which operation, on what, by whom."""

from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

from emulator.calls import Call
from emulator.services.r2 import object_rules
from emulator.state import State
from emulator.store import Document

from . import errors
from .keys import Bucket, Key
from .payload import Body
from .sigv4 import Request

# What S3 calls sub-resources: asked for by a name in the query, and of these none is here.
_ABSENT = frozenset(
    (
        *("accelerate", "acl", "analytics", "attributes", "cors", "encryption", "intelligent-tiering", "inventory"),
        *("legal-hold", "lifecycle", "logging", "metrics", "notification", "object-lock", "ownershipControls"),
        *("policy", "policyStatus", "publicAccessBlock", "replication", "requestPayment", "restore", "retention"),
        *("select", "tagging", "torrent", "versionId", "versioning", "versions", "website"),
    )
)


@dataclass(frozen=True)
class Ask:
    """What is asked, with a signature that is right."""

    call: Call
    request: Request
    bucket: Bucket
    key: str
    query: dict[str, str]
    who: Key
    body: Body
    headers: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "headers", dict(self.request.headers))

    @property
    def state(self) -> State:
        """Where everything is."""
        return self.call.state

    @property
    def place(self) -> str:
        """The scope of the bucket, which must exist."""
        self.bucket_document()
        return self.bucket.scope

    def bucket_document(self) -> Document:
        """What is known of the bucket."""
        found = self.state.store.get("r2_bucket", self.bucket.place, self.bucket.name)
        if found is None:
            raise object_rules.no_bucket()
        return found

    def source(self) -> tuple[Bucket, str]:
        """What `x-amz-copy-source` names."""
        path = unquote_to_bytes(self.headers["x-amz-copy-source"].partition("?")[0].replace("+", " "))
        name, key = split(path)
        if not name or not key:
            raise errors.INVALID(problem="x-amz-copy-source must be like /bucket/key.")
        return Bucket(self.bucket.account, self.bucket.jurisdiction, name), key


def split(path: bytes) -> tuple[str, str]:
    """Bucket and key of a path. Nothing is resolved in a key: `..` is a name like any other."""
    try:
        name, _, key = path.removeprefix(b"/").decode().partition("/")
    except UnicodeDecodeError:
        raise errors.BAD_NAME() from None
    return name, key


def operation(request: Request, bucket: str, key: str) -> str:
    """S3's name of what is asked for; pure."""
    query = {name.decode(errors="replace") for name, _ in request.pairs}
    if absent := sorted(query & _ABSENT):
        raise errors.NOT_HERE(what=f"The sub-resource {absent[0]}")
    found = _of_object(request, query) if key else _of_bucket(request.method, query) if bucket else None
    if not bucket and request.method == "GET":
        found = "ListBuckets"
    if found is None:
        raise errors.NO_METHOD()
    return found


def _of_bucket(method: str, query: set[str]) -> str | None:
    if method == "GET":
        named = {"location": "GetBucketLocation", "uploads": "ListMultipartUploads", "list-type": "ListObjectsV2"}
        return next((named[name] for name in named if name in query), "ListObjects")
    if method == "POST" and "delete" in query:
        return "DeleteObjects"
    if method in ("PUT", "DELETE"):
        raise errors.NOT_HERE(what="Making and deleting buckets over S3")
    return {"HEAD": "HeadBucket"}.get(method)


def _of_object(request: Request, query: set[str]) -> str | None:
    method, copies = request.method, "x-amz-copy-source" in request.headers
    if "uploadId" in query:
        part = ("UploadPartCopy" if copies else "UploadPart") if "partNumber" in query else None
        return {"GET": "ListParts", "PUT": part, "DELETE": "AbortMultipartUpload"}.get(
            method, "CompleteMultipartUpload" if method == "POST" else None
        )
    if method == "POST":
        return "CreateMultipartUpload" if "uploads" in query else None
    put = "CopyObject" if copies else "PutObject"
    return {"GET": "GetObject", "HEAD": "HeadObject", "PUT": put, "DELETE": "DeleteObject"}.get(method)
