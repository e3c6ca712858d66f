"""Refusals of the runtime's control routes."""

from emulator.errors import Failure

OWN = "the emulator's own"

NO_SCRIPT = Failure(404, 1, "There is no live version of this Worker.", OWN)
INVALID = Failure(400, 2, "{problem}", OWN)
NOT_RUNNING = Failure(503, 3, "{problem}", OWN)
