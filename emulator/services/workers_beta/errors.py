"""Refusals of the newer view."""

from emulator.errors import REST_FACTS, Failure, Source, inferred
from emulator.services.durable_objects.errors import NO_CLASS
from emulator.services.workers.errors import INVALID, NAME_TAKEN

__all__ = ["INVALID", "NAME_TAKEN", "NO_CLASS"]

_codes = Source(f"{REST_FACTS}; text inferred")

NO_WORKER = _codes(404, 10007, "This Worker does not exist on your account.")
NO_VERSION = _codes(404, 10071, "Worker version not found.")
NO_VERSIONS = Failure(404, 10222, "This Worker has no versions.", "code from wrangler 4.158.0; text inferred")
LIVE_VERSION = inferred(400, 10336, "A version that serves traffic cannot be deleted.")
