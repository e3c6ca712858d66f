"""Refusals of API tokens."""

from emulator.errors import Failure

NO_TOKEN = Failure(404, 1003, "Token not found.")
NO_GROUP = Failure(400, 1001, "Permission group {group} does not exist.")
BAD_TOKEN = Failure(400, 400, "Invalid API token: {problem}.")
