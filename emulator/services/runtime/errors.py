"""Refusals of the runtime's control routes."""

from emulator.errors import own

OWN = "the emulator's own"

NO_SCRIPT = own(404, 1, "There is no live version of this Worker.")
INVALID = own(400, 2, "{problem}")
NOT_RUNNING = own(503, 3, "{problem}")
