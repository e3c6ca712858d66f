"""Refusals of the Secrets Store."""

from emulator.errors import Failure

NO_STORE = Failure(404, 1001, "store_not_found", "code and text as wrangler 4.158.0 shows them")
STORE_EXISTS = Failure(
    409, 1002, "maximum_stores_exceeded: an account may have one store", "Cloudflare's documentation"
)
NAME_TAKEN = Failure(409, 1004, "secret_name_already_exists: {name}", "inferred")
NO_SECRET = Failure(404, 1003, "secret_not_found", "inferred")
FULL = Failure(400, 1005, "secret_limit_exceeded: an account may have {limit} secrets", "Cloudflare's documentation")
INVALID = Failure(400, 1000, "{problem}", "inferred")
