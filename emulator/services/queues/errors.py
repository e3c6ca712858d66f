"""Refusals of Queues."""

from emulator.errors import catalogued, inferred

NO_QUEUE = catalogued(404, 11000, "Queue not found.")
BAD_NAME = catalogued(400, 11003, "Queue name is invalid: 1 to 63 lower-case letters, digits and hyphens.")
NAME_TAKEN = catalogued(409, 11009, "Queue name '{name}' is already taken.")
CONSUMER_EXISTS = catalogued(409, 11004, "Queue already has a consumer.")
NO_CONSUMER = inferred(404, 11002, "Consumer not found.")
NOTIFIED = catalogued(400, 11017, "Queue is in use by an event notification.")
NO_PULL = inferred(405, 11018, "Queue has no consumer of type http_pull, which pulling needs.")
TOO_LARGE = inferred(413, 11010, "A message must be at most 128,000 bytes.")
INVALID = inferred(400, 11005, "Request body is invalid: {problem}.")
