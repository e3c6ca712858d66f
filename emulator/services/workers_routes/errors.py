"""Refusals of routes."""

from emulator.errors import REST_FACTS, Failure, Source
from emulator.services.workers.errors import INVALID

__all__ = ["INVALID"]

_codes = Source(f"{REST_FACTS}; text inferred")

NO_ROUTE = _codes(404, 10009, "Route not found.")
NO_SCRIPT = _codes(400, 10019, "The script {script} of the route does not exist.")
PATTERN_TAKEN = Failure(409, 10020, "A route with the same pattern already exists.", "public issue threads")
BAD_PATTERN = _codes(400, 10022, "Invalid route pattern {pattern}: {problem}.")
