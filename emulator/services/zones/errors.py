"""Refusals of zones."""

from emulator.errors import Failure

_THREADS = "answers quoted in public issue threads"

ZONE_EXISTS = Failure(400, 1061, "{name} already exists", _THREADS)
BAD_ZONE_NAME = Failure(400, 1105, "{name} is not a valid domain name", "inferred")
NO_ACCOUNT = Failure(
    403, 1068, 'Permission denied: requires permission "com.cloudflare.api.account.zone.create"', _THREADS
)
INVALID = Failure(400, 1006, "Invalid request: {problem}", "inferred")
