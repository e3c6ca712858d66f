"""Refusals of the control routes."""

from emulator.errors import own

OWN = "the emulator's own"

INVALID = own(400, 1, "{problem}")
NO_FAULT = own(404, 2, "There is no such fault rule.")
EMPTY_FAULT = own(400, 3, "A fault rule needs a status, retry_after, delay_ms or drop.")
