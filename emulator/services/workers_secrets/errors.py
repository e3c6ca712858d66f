"""Refusals of secrets."""

from emulator.errors import REST_FACTS, Failure
from emulator.services.workers.errors import BINDING_TWICE, INVALID

__all__ = ["BINDING_TWICE", "INVALID", "NO_SECRET"]

NO_SECRET = Failure(404, 10056, "The secret {name} does not exist.", f"{REST_FACTS}; text inferred")
