"""Refusals of API tokens."""

from emulator.errors import Source, catalogued, inferred

_threads = Source("title of terraform-provider-cloudflare issue 5233; the rest of the wording is inferred")

NO_TOKEN = catalogued(404, 1003, "Token not found.")
NO_GROUP = catalogued(400, 1001, "Permission group {group} does not exist.")
BAD_TOKEN = catalogued(400, 400, "Invalid API token: {problem}.")
NOT_NESTED = _threads(400, 1001, "Must nest zone under specific account resource.")
FOREIGN = inferred(400, 1001, "Resource {resource} does not belong to the account.")
