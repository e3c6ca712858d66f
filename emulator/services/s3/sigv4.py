"""AWS Signature Version 4: what a request says of its signature, and what that signature has to be. Pure.

Paths and queries are read once, here, decoded: what is signed and what is acted on cannot be two things. Judged in
`tests/emulator/services/s3/test_signature.py` by signatures that botocore and aws4fetch have made.
"""

import hashlib
import hmac
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, unquote_to_bytes

from . import errors

_ALGORITHM = "AWS4-HMAC-SHA256"
_STAMP = "%Y%m%dT%H%M%SZ"
_SKEW = timedelta(minutes=15)
_LONGEST = 7 * 86_400
_REGIONS = ("auto", "us-east-1", "", "wnam", "enam", "weur", "eeur", "apac", "oc")
_SIGNATURE = "X-Amz-Signature"
UNSIGNED = "UNSIGNED-PAYLOAD"
EMPTY = hashlib.sha256(b"").hexdigest()


def _decoded(text: str) -> bytes:
    """S3 takes a plus sign for a space, in paths too."""
    return unquote_to_bytes(text.replace("+", " "))


@dataclass(frozen=True)
class Request:
    """A request as it came: path and query as they were sent, names of headers in lower case."""

    method: str
    raw_path: str
    raw_query: str
    fields: tuple[tuple[str, str], ...]
    path: bytes = field(init=False)
    pairs: tuple[tuple[bytes, bytes], ...] = field(init=False)
    headers: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        parts = [part.partition("=") for part in self.raw_query.split("&") if part]
        joined: dict[str, str] = {}
        for name, value in self.fields:
            joined[name] = f"{joined[name]},{value}" if name in joined else value
        object.__setattr__(self, "path", _decoded(self.raw_path))
        object.__setattr__(self, "pairs", tuple((_decoded(name), _decoded(value)) for name, _, value in parts))
        object.__setattr__(self, "headers", joined)

    @property
    def query(self) -> dict[str, str]:
        """Parameters by name; one that is sent twice is refused, so that nobody has to choose."""
        try:
            named = [(name.decode(), value.decode()) for name, value in self.pairs]
        except UnicodeDecodeError:
            raise errors.INVALID(problem="The query is not UTF-8.") from None
        twice = [name for name, count in Counter(name for name, _ in named).items() if count > 1]
        if twice:
            raise errors.INVALID(problem=f"The query parameter {twice[0]} must be given once.")
        return dict(named)


@dataclass(frozen=True)
class Signed:
    """What a request says of its signature."""

    access_key: str
    scope: str  # date, region, service and a fixed word
    stamp: str
    names: tuple[str, ...]  # of the headers that are signed
    signature: str
    payload: str  # the hash of the body, or a word in its place
    expires: int | None = None  # seconds for which an address that carries its signature is good

    @property
    def time(self) -> datetime:
        """When it was signed."""
        return datetime.strptime(self.stamp, _STAMP).replace(tzinfo=UTC)


def read(request: Request) -> Signed:
    """What the request says; an S3Error when it says nothing, or nothing that makes sense."""
    query = request.query
    in_query, in_header = "X-Amz-Algorithm" in query or _SIGNATURE in query, "authorization" in request.headers
    if in_query and in_header:
        raise errors.INVALID(problem="Only one auth mechanism allowed")
    if not in_query and not in_header:
        raise errors.NO_SIGNATURE()
    signed = _from_query(request, query) if in_query else _from_header(request)
    _check_names(request, signed)
    return signed


def _from_header(request: Request) -> Signed:
    algorithm, _, rest = request.headers["authorization"].partition(" ")
    if algorithm != _ALGORITHM:
        raise errors.BAD_AUTHORIZATION(problem=f"the algorithm must be {_ALGORITHM}.")
    parts = dict(part.strip().partition("=")[::2] for part in rest.split(","))
    if not {"Credential", "SignedHeaders", "Signature"} <= set(parts):
        raise errors.BAD_AUTHORIZATION(problem="Credential, SignedHeaders and Signature are required.")
    payload = request.headers.get("x-amz-content-sha256")
    if payload is None:
        raise errors.INVALID(problem="Missing required header for this request: x-amz-content-sha256")
    stamp = request.headers.get("x-amz-date", "")
    key, scope = _credential(parts["Credential"], stamp, errors.BAD_AUTHORIZATION)
    return Signed(key, scope, stamp, tuple(parts["SignedHeaders"].split(";")), parts["Signature"], payload)


def _from_query(request: Request, query: Mapping[str, str]) -> Signed:
    needed = [f"X-Amz-{name}" for name in ("Algorithm", "Credential", "Date", "Expires", "SignedHeaders", "Signature")]
    if missing := [name for name in needed if name not in query]:
        raise errors.BAD_QUERY(problem=f"Query-string authentication requires the parameter {missing[0]}")
    if query["X-Amz-Algorithm"] != _ALGORITHM:
        raise errors.BAD_QUERY(problem=f"X-Amz-Algorithm only supports {_ALGORITHM}")
    expires = query["X-Amz-Expires"]
    if not (expires.isascii() and expires.isdigit() and len(expires) < 7 and 1 <= int(expires) <= _LONGEST):
        raise errors.BAD_QUERY(problem=f"X-Amz-Expires must be a number from 1 to {_LONGEST}")
    key, scope = _credential(query["X-Amz-Credential"], query["X-Amz-Date"], errors.BAD_QUERY)
    names = tuple(query["X-Amz-SignedHeaders"].split(";"))
    payload = query.get("X-Amz-Content-Sha256") or request.headers.get("x-amz-content-sha256") or UNSIGNED
    return Signed(key, scope, query["X-Amz-Date"], names, query[_SIGNATURE], payload, int(expires))


def _credential(text: str, stamp: str, refusal: errors.Refusal) -> tuple[str, str]:
    key, _, scope = text.partition("/")
    date, _, rest = scope.partition("/")
    region, _, service = rest.partition("/")
    try:
        datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)
    except ValueError:
        raise refusal(problem="the date must be like 20260131T235959Z.") from None
    if service != "s3/aws4_request" or date != stamp[:8]:
        raise refusal(problem="the credential must be like KEY/20260131/auto/s3/aws4_request, of the request's date.")
    if region not in _REGIONS:
        raise errors.BAD_REGION(region=region)
    if len(key) != 32:
        raise errors.BAD_KEY_LENGTH(length=len(key))
    return key, scope


def _check_names(request: Request, signed: Signed) -> None:
    """Whoever holds an address must not add a header that changes what it does."""
    if not all(name.isascii() for name in signed.names):
        raise errors.BAD_AUTHORIZATION(problem="names of signed headers are ASCII.")
    meant = {name for name in request.headers if name.startswith("x-amz-")} | {"host"}
    if left := sorted(meant - set(signed.names)):
        raise errors.UNSIGNED_HEADERS(names=", ".join(left))


def check_time(signed: Signed, now: datetime) -> None:
    """Refuse what is signed for another time."""
    if signed.expires is None:
        if abs(now - signed.time) > _SKEW:
            raise errors.SKEWED()
    elif now > signed.time + timedelta(seconds=signed.expires):
        raise errors.EXPIRED()
    elif signed.time - now > _SKEW:
        raise errors.NOT_YET()


def check(request: Request, signed: Signed, secret: str) -> None:
    """Refuse a signature that the holder of the secret has not made for this request."""
    wanted = _hmac(signing_key(signed, secret), _string_to_sign(request, signed)).hex()
    if not hmac.compare_digest(wanted.encode(), signed.signature.encode()):
        raise errors.MISMATCH()


def signing_key(signed: Signed, secret: str) -> bytes:
    """The key that signs requests, and chunks of them, on one day."""
    key = f"AWS4{secret}".encode()
    for part in signed.scope.split("/"):
        key = _hmac(key, part)
    return key


def chunk_signature(key: bytes, signed: Signed, previous: str, digest: str) -> str:
    """The signature of one chunk, which follows the signature before it."""
    return _hmac(key, "\n".join((f"{_ALGORITHM}-PAYLOAD", signed.stamp, signed.scope, previous, EMPTY, digest))).hex()


def _string_to_sign(request: Request, signed: Signed) -> str:
    pairs = [(name, value) for name, value in request.pairs if name != _SIGNATURE.encode()]
    query = "&".join("=".join(pair) for pair in sorted((_quoted(name), _quoted(value)) for name, value in pairs))
    headers = "".join(f"{name}:{' '.join(request.headers.get(name, '').split())}\n" for name in signed.names)
    canonical = (request.method, quote(request.path, safe="/"), query, headers, ";".join(signed.names), signed.payload)
    digest = hashlib.sha256("\n".join(canonical).encode("latin-1")).hexdigest()
    return f"{_ALGORITHM}\n{signed.stamp}\n{signed.scope}\n{digest}"


def _quoted(value: bytes) -> str:
    return quote(value, safe="")


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()
