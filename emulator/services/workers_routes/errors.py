"""Refusals of routes."""

from emulator.errors import REST_FACTS, Failure
from emulator.services.workers.errors import INVALID

__all__ = ["INVALID"]

_CODES = f"{REST_FACTS}; text inferred"

NO_ROUTE = Failure(404, 10009, "Route not found.", _CODES)
NO_SCRIPT = Failure(400, 10019, "The script {script} of the route does not exist.", _CODES)
PATTERN_TAKEN = Failure(409, 10020, "A route with the same pattern already exists.", "public issue threads")
BAD_PATTERN = Failure(400, 10022, "Invalid route pattern {pattern}: {problem}.", _CODES)
