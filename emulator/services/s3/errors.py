"""Refusals of the S3 endpoint, as XML with S3's names; R2's own codes have such a name each."""

from dataclasses import dataclass
from xml.sax.saxutils import escape

from emulator.calls import Raw

_R2 = "Cloudflare's page of R2 error codes, 2026-11"
_SEEN = "answers of R2 as quoted in public issue threads"
_S3 = "the S3 API reference"
XML_TYPE = "application/xml"


class S3Error(Exception):
    """A refusal the client gets as XML."""

    def __init__(self, status: int, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.status, self.code, self.text = status, code, text

    def reply(self) -> Raw:
        """The document."""
        body = f"<Error><Code>{self.code}</Code><Message>{escape(self.text)}</Message></Error>"
        return Raw(f'<?xml version="1.0" encoding="UTF-8"?>{body}'.encode(), XML_TYPE, self.status)


@dataclass(frozen=True)
class Refusal:
    """One entry of the catalogue; `text` may hold named fields."""

    status: int
    code: str
    text: str
    source: str

    def __call__(self, **fields: object) -> S3Error:
        """Make the exception to raise."""
        return S3Error(self.status, self.code, self.text.format(**fields) if fields else self.text)


NO_SIGNATURE = Refusal(400, "InvalidArgument", "Authorization", _SEEN)
BAD_KEY_LENGTH = Refusal(400, "InvalidArgument", "Credential access key has length {length}, should be 32", _SEEN)
UNKNOWN_KEY = Refusal(401, "Unauthorized", "Unauthorized", _R2)
DENIED = Refusal(403, "AccessDenied", "Access Denied", _R2)
UNSIGNED_HEADERS = Refusal(
    403, "AccessDenied", "There were headers present in the request which were not signed: {names}", _S3
)
MISMATCH = Refusal(
    403,
    "SignatureDoesNotMatch",
    "The request signature we calculated does not match the signature you provided. "
    "Check your secret access key and signing method.",
    _R2,
)
SKEWED = Refusal(
    403, "RequestTimeTooSkewed", "The difference between the request time and the server's time is too large.", _S3
)
EXPIRED = Refusal(400, "ExpiredRequest", "Request has expired", _R2)
NOT_YET = Refusal(403, "AccessDenied", "Request is not yet valid", _S3)
BAD_AUTHORIZATION = Refusal(
    400, "AuthorizationHeaderMalformed", "The authorization header is malformed; {problem}", _S3
)
BAD_QUERY = Refusal(400, "AuthorizationQueryParametersError", "{problem}", _S3)
BAD_REGION = Refusal(
    400,
    "InvalidRegionName",
    "The region name '{region}' is not valid. Must be one of: wnam, enam, weur, eeur, apac, oc, auto",
    _SEEN,
)
INVALID = Refusal(400, "InvalidArgument", "{problem}", _S3)
BAD_HASH = Refusal(
    400,
    "XAmzContentSHA256Mismatch",
    "The provided 'x-amz-content-sha256' header does not match what was computed.",
    _S3,
)
BAD_DIGEST = Refusal(400, "BadDigest", "The {name} you specified did not match what we received.", _R2)
INCOMPLETE = Refusal(400, "IncompleteBody", "The body is not what its headers and chunks announce: {problem}.", _R2)
NO_LENGTH = Refusal(411, "MissingContentLength", "You must provide the Content-Length HTTP header.", _S3)
TOO_LARGE = Refusal(400, "EntityTooLarge", "Your proposed upload exceeds the maximum allowed object size.", _R2)
BAD_XML = Refusal(400, "MalformedXML", "The XML you provided was not well formed or did not have what it must.", _R2)
BAD_NAME = Refusal(400, "InvalidObjectName", "The specified object name is not valid.", _R2)
NO_METHOD = Refusal(405, "MethodNotAllowed", "The specified method is not allowed against this resource.", _S3)
NOT_HERE = Refusal(501, "NotImplemented", "{what} is not implemented in the emulator.", "the emulator's own")
MISDIRECTED = Refusal(421, "MisdirectedRequest", "This address serves R2's S3 endpoint alone.", "the emulator's own")

NAMES = {
    10006: (404, "NoSuchBucket"),
    10007: (404, "NoSuchKey"),
    10011: (400, "EntityTooSmall"),
    10020: (400, "InvalidObjectName"),
    10022: (400, "InvalidMaxKeys"),
    10024: (404, "NoSuchUpload"),
    10025: (400, "InvalidPart"),
    10031: (412, "PreconditionFailed"),
    10039: (416, "InvalidRange"),
    10048: (400, "InvalidPart"),
}
"""Status and name of R2's codes, as far as `services/r2/object_rules.py` refuses with them."""
