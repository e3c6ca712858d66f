"""Refusals of triggers."""

from emulator.errors import REST_FACTS, Failure, Source, inferred
from emulator.services.workers.errors import INVALID

__all__ = ["INVALID"]

_wrangler = Source("codes wrangler 4.158.0 acts on; text inferred")

NO_SUBDOMAIN = _wrangler(404, 10007, "This account has no workers.dev subdomain.")
NEEDS_SUBDOMAIN = _wrangler(400, 10063, "You need to register a workers.dev subdomain first.")
SUBDOMAIN_EXISTS = Failure(
    409, 10036, "This account already has a workers.dev subdomain.", f"{REST_FACTS}; text inferred"
)
SUBDOMAIN_TAKEN = _wrangler(409, 10031, "The subdomain {name} is not available.")
SUBDOMAIN_FREE = _wrangler(404, 10032, "The subdomain {name} is available.")
BAD_CRON = inferred(400, 10100, "Invalid cron expression: {cron}")
NO_WEBSOCKET = inferred(426, 10057, "A tail is a WebSocket: ask for the address with Upgrade: websocket.")
NO_TAIL = inferred(404, 10057, "Tail not found.")
