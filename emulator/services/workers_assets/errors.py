"""Refusals of assets uploads."""

from emulator.errors import inferred
from emulator.services.workers.errors import INVALID

__all__ = ["INVALID", "NO_SESSION"]

NO_SESSION = inferred(401, 10000, "The token of the assets upload session is not valid or has expired.")
