"""Refusals of triggers."""

from emulator.errors import REST_FACTS, Failure
from emulator.services.workers.errors import INVALID

__all__ = ["INVALID"]

_WRANGLER = "codes wrangler 4.158.0 acts on; text inferred"

NO_SUBDOMAIN = Failure(404, 10007, "This account has no workers.dev subdomain.", _WRANGLER)
NEEDS_SUBDOMAIN = Failure(400, 10063, "You need to register a workers.dev subdomain first.", _WRANGLER)
SUBDOMAIN_EXISTS = Failure(
    409, 10036, "This account already has a workers.dev subdomain.", f"{REST_FACTS}; text inferred"
)
SUBDOMAIN_TAKEN = Failure(409, 10031, "The subdomain {name} is not available.", _WRANGLER)
SUBDOMAIN_FREE = Failure(404, 10032, "The subdomain {name} is available.", _WRANGLER)
BAD_CRON = Failure(400, 10100, "Invalid cron expression: {cron}", "inferred")
NO_WEBSOCKET = Failure(426, 10057, "A tail is a WebSocket: ask for the address with Upgrade: websocket.", "inferred")
NO_TAIL = Failure(404, 10057, "Tail not found.", "inferred")
