"""Refusals of API tokens."""

from emulator.errors import Failure

_THREADS = "title of terraform-provider-cloudflare issue 5233; the rest of the wording is inferred"

NO_TOKEN = Failure(404, 1003, "Token not found.")
NO_GROUP = Failure(400, 1001, "Permission group {group} does not exist.")
BAD_TOKEN = Failure(400, 400, "Invalid API token: {problem}.")
NOT_NESTED = Failure(400, 1001, "Must nest zone under specific account resource.", _THREADS)
FOREIGN = Failure(400, 1001, "Resource {resource} does not belong to the account.", "inferred")
