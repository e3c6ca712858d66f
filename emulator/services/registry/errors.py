"""Refusals of the registry, in the form of the OCI distribution specification."""

from dataclasses import dataclass
from typing import Any

from emulator.errors import ApiError, own

SPECIFICATION = "OCI distribution specification 1.1, error codes"
CHALLENGE = 'Basic realm="Cloudflare Container Registry"'


@dataclass(frozen=True)
class OciFailure:
    """One entry of the specification's error list; `text` may hold named fields."""

    status: int
    code: str
    text: str
    source: str = SPECIFICATION

    def __call__(self, *, detail: Any = None, headers: dict[str, str] | None = None, **fields: object) -> ApiError:
        """Make the exception to raise."""
        error: dict[str, Any] = {"code": self.code, "message": self.text.format(**fields) if fields else self.text}
        if detail is not None:
            error["detail"] = detail
        return ApiError(self.status, [error], headers=headers, body={"errors": [error]})


BLOB_UNKNOWN = OciFailure(404, "BLOB_UNKNOWN", "blob unknown to registry")
UPLOAD_INVALID = OciFailure(400, "BLOB_UPLOAD_INVALID", "blob upload invalid: {problem}")
UPLOAD_BUSY = OciFailure(409, "BLOB_UPLOAD_INVALID", "another request is writing to this upload", "inferred")
UPLOAD_RANGE = OciFailure(416, "BLOB_UPLOAD_INVALID", "the chunk does not begin where the upload ends")
UPLOAD_UNKNOWN = OciFailure(404, "BLOB_UPLOAD_UNKNOWN", "blob upload unknown to registry")
DIGEST_INVALID = OciFailure(400, "DIGEST_INVALID", "provided digest did not match uploaded content")
DIGEST_FORM = OciFailure(
    400, "DIGEST_INVALID", "the digest must be sha256: and 64 hexadecimal digits, or sha512: and 128"
)
MANIFEST_BLOB_UNKNOWN = OciFailure(400, "MANIFEST_BLOB_UNKNOWN", "manifest references a blob unknown to registry")
MANIFEST_INVALID = OciFailure(400, "MANIFEST_INVALID", "manifest invalid: {problem}")
MANIFEST_UNKNOWN = OciFailure(404, "MANIFEST_UNKNOWN", "manifest unknown to registry")
NAME_INVALID = OciFailure(400, "NAME_INVALID", "invalid repository name")
NAME_UNKNOWN = OciFailure(404, "NAME_UNKNOWN", "repository name not known to registry")
TAG_INVALID = OciFailure(400, "TAG_INVALID", "manifest tag did not match the allowed form")
SIZE_INVALID = OciFailure(413, "SIZE_INVALID", "the manifest is larger than {limit} bytes")
UNAUTHORIZED = OciFailure(401, "UNAUTHORIZED", "authentication required")
DENIED = OciFailure(403, "DENIED", "requested access to the resource is denied: {problem}")
UNSUPPORTED = OciFailure(405, "UNSUPPORTED", "the operation is unsupported")
NO_ROUTE = OciFailure(404, "NAME_UNKNOWN", "there is nothing at this path")
BAD_PAGE = OciFailure(400, "PAGINATION_NUMBER_INVALID", "invalid number of results requested")
RANGE = OciFailure(416, "RANGE_INVALID", "the blob has no such range")

OWN = "the emulator's own"
INVALID = own(400, 1, "{problem}")
"""Of the control routes."""


def unauthorized() -> ApiError:
    """Ask for credentials."""
    return UNAUTHORIZED(headers={"www-authenticate": CHALLENGE})
