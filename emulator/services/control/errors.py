"""Refusals of the control routes."""

from emulator.errors import Failure

OWN = "the emulator's own"

INVALID = Failure(400, 1, "{problem}", OWN)
NO_FAULT = Failure(404, 2, "There is no such fault rule.", OWN)
EMPTY_FAULT = Failure(400, 3, "A fault rule needs a status, retry_after, delay_ms or drop.", OWN)
