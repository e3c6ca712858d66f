"""Refusals of zones."""

from emulator.errors import Source, inferred

_threads = Source("answers quoted in public issue threads")

ZONE_EXISTS = _threads(400, 1061, "{name} already exists")
BAD_ZONE_NAME = inferred(400, 1105, "{name} is not a valid domain name")
NO_ACCOUNT = _threads(403, 1068, 'Permission denied: requires permission "com.cloudflare.api.account.zone.create"')
INVALID = inferred(400, 1006, "Invalid request: {problem}")
