"""Failures every service shares, and the type all failures have.

A `Failure` is one line of an error catalogue: HTTP status, Cloudflare's code, text, and where we know it from, which is
what makes it: `inferred(404, 11000, "Queue not found.")`.
Calling it makes the `ApiError` to raise; the server turns that into Cloudflare's envelope.
"""

from dataclasses import dataclass
from typing import Any

from .schema import Check, problems

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
    source: str

    def __call__(self, *, meta: dict[str, Any] | None = None, **fields: object) -> ApiError:
        """Make the exception to raise."""
        error: dict[str, Any] = {"code": self.code, "message": self.text.format(**fields) if fields else self.text}
        if meta is not None:
            error["meta"] = meta
        return ApiError(self.status, [error])

    def unless(self, check: Check, value: object) -> None:
        """Raise it, with the first `{problem}`, unless the value passes the check."""
        if found := problems(check, value):
            raise self(problem=found[0])


@dataclass(frozen=True)
class Source:
    """Where failures are known from; calling it makes an entry of a catalogue."""

    source: str

    def __call__(self, status: int, code: int, text: str) -> Failure:
        """One failure known from here."""
        return Failure(status, code, text, self.source)


catalogued, inferred, own = Source(REST_FACTS), Source("inferred"), Source("the emulator's own")
_probed = Source("answers of api.cloudflare.com as quoted in public issue threads")

NO_ROUTE = catalogued(404, 7003, "Could not route to {path}, perhaps your object identifier is invalid?")
NO_METHOD = catalogued(405, 7001, "Method {method} not available for that URI.")
NO_CREDENTIALS = _probed(400, 9106, "Missing X-Auth-Key, X-Auth-Email or Authorization headers")
BAD_AUTHORIZATION = _probed(400, 6003, "Invalid request headers")
NO_GLOBAL_KEYS = catalogued(403, 9103, "Unknown X-Auth-Key or X-Auth-Email")
UNKNOWN_TOKEN = catalogued(401, 10000, "Authentication error")
INVALID_TOKEN = _probed(401, 1000, "Invalid API Token")
FORBIDDEN = catalogued(403, 10000, "Authentication error")
FORBIDDEN_ZONE = catalogued(403, 9109, "Unauthorized to access requested resource")
BAD_JSON = _probed(400, 6007, "Malformed JSON in request body")
BAD_BODY = inferred(400, 10026, "{problem}")
TOO_LARGE = inferred(413, 413, "Request entity too large: the limit is {limit} bytes")
BAD_QUERY = inferred(400, 6003, "Invalid query parameter {name}: {problem}")
NOT_HERE = own(400, 7000, "The emulator does not have {method} {path}: docs/emulator.md lists what it has.")
INTERNAL = own(500, 10001, "Internal error of the emulator: see its log")


def no_route(path: str) -> ApiError:
    """Cloudflare gives two errors for a path it does not know."""
    error = NO_ROUTE(path=path)
    error.errors.append({"code": 7000, "message": "No route for that URI"})
    return error
