"""Refusals of Queues."""

from emulator.errors import Failure

NO_QUEUE = Failure(404, 11000, "Queue not found.")
BAD_NAME = Failure(400, 11003, "Queue name is invalid: 1 to 63 lower-case letters, digits and hyphens.")
NAME_TAKEN = Failure(409, 11009, "Queue name '{name}' is already taken.")
CONSUMER_EXISTS = Failure(409, 11004, "Queue already has a consumer.")
NO_CONSUMER = Failure(404, 11002, "Consumer not found.", "inferred")
NOTIFIED = Failure(400, 11017, "Queue is in use by an event notification.")
NO_PULL = Failure(405, 11018, "Queue has no consumer of type http_pull, which pulling needs.", "inferred")
TOO_LARGE = Failure(413, 11010, "A message must be at most 128,000 bytes.", "inferred")
INVALID = Failure(400, 11005, "Request body is invalid: {problem}.", "inferred")
