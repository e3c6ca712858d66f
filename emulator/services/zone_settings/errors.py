"""Refusals of zone settings."""

from emulator.errors import Failure

_THREADS = "answers quoted in public issue threads and repositories"

UNDEFINED = Failure(400, 1003, "Undefined zone setting: {setting}", _THREADS)
INVALID = Failure(400, 1007, "Invalid value for zone setting {setting}", _THREADS)
NOT_EDITABLE = Failure(400, 1015, "Not allowed to edit setting for {setting}", _THREADS)
