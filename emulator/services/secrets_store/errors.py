"""Refusals of the Secrets Store."""

from emulator.errors import Failure, inferred

NO_STORE = Failure(404, 1001, "store_not_found", "code and text as wrangler 4.158.0 shows them")
STORE_EXISTS = Failure(
    409, 1002, "maximum_stores_exceeded: an account may have one store", "Cloudflare's documentation"
)
NAME_TAKEN = inferred(409, 1004, "secret_name_already_exists: {name}")
NO_SECRET = inferred(404, 1003, "secret_not_found")
FULL = Failure(400, 1005, "secret_limit_exceeded: an account may have {limit} secrets", "Cloudflare's documentation")
INVALID = inferred(400, 1000, "{problem}")
