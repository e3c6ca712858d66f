"""Refusals of zone settings."""

from emulator.errors import Source

_threads = Source("answers quoted in public issue threads and repositories")

UNDEFINED = _threads(400, 1003, "Undefined zone setting: {setting}")
INVALID = _threads(400, 1007, "Invalid value for zone setting {setting}")
NOT_EDITABLE = _threads(400, 1015, "Not allowed to edit setting for {setting}")
