"""Failures every service shares, and the type all failures have.

A `Failure` is one line of an error catalogue: HTTP status, Cloudflare's code, text, and where we know it from.
Calling it makes the `ApiError` to raise; the server turns that into Cloudflare's envelope.
"""

from dataclasses import dataclass
from typing import Any

REST_FACTS = "error catalogue of live calls (@distilled.cloud/cloudflare 0.30.3), 2026-10"


class ApiError(Exception):
    """A refusal the client gets as an envelope with `success: false`."""

    def __init__(
        self, status: int, errors: list[dict[str, Any]], *, headers: dict[str, str] | None = None, body: Any = None
    ) -> None:
        super().__init__(f"{status}: {errors}")
        self.status = status
        self.errors = errors
        self.headers = headers or {}
        self.body = body  # replaces the envelope where a service has a form of its own


@dataclass(frozen=True)
class Failure:
    """One entry of an error catalogue; `text` may hold named fields to fill when it is raised."""

    status: int
    code: int
    text: str
    source: str = REST_FACTS

    def __call__(self, *, meta: dict[str, Any] | None = None, **fields: object) -> ApiError:
        """Make the exception to raise."""
        error: dict[str, Any] = {"code": self.code, "message": self.text.format(**fields) if fields else self.text}
        if meta is not None:
            error["meta"] = meta
        return ApiError(self.status, [error])


_PROBED = "answers of api.cloudflare.com as quoted in public issue threads"

NO_ROUTE = Failure(404, 7003, "Could not route to {path}, perhaps your object identifier is invalid?")
NO_METHOD = Failure(405, 7001, "Method {method} not available for that URI.")
NO_CREDENTIALS = Failure(400, 9106, "Missing X-Auth-Key, X-Auth-Email or Authorization headers", _PROBED)
BAD_AUTHORIZATION = Failure(400, 6003, "Invalid request headers", _PROBED)
NO_GLOBAL_KEYS = Failure(403, 9103, "Unknown X-Auth-Key or X-Auth-Email")
UNKNOWN_TOKEN = Failure(401, 10000, "Authentication error")
INVALID_TOKEN = Failure(401, 1000, "Invalid API Token", _PROBED)
FORBIDDEN = Failure(403, 10000, "Authentication error")
FORBIDDEN_ZONE = Failure(403, 9109, "Unauthorized to access requested resource")
BAD_JSON = Failure(400, 6007, "Malformed JSON in request body", _PROBED)
TOO_LARGE = Failure(413, 413, "Request entity too large: the limit is {limit} bytes", "inferred")
BAD_QUERY = Failure(400, 6003, "Invalid query parameter {name}: {problem}", "inferred")
NOT_HERE = Failure(
    400, 7000, "The emulator does not have {method} {path}: docs/emulator.md lists what it has.", "the emulator's own"
)
INTERNAL = Failure(500, 10001, "Internal error of the emulator: see its log", "the emulator's own")


def no_route(path: str) -> ApiError:
    """Cloudflare gives two errors for a path it does not know."""
    error = NO_ROUTE(path=path)
    error.errors.append({"code": 7000, "message": "No route for that URI"})
    return error
