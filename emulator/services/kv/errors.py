"""Refusals of Workers KV."""

from emulator.errors import Source, inferred

_threads = Source("texts quoted in public issue threads, codes from the error catalogue, 2026-10")

NO_NAMESPACE = _threads(404, 10013, "namespace not found")
TITLE_TAKEN = _threads(400, 10014, "a namespace with this account ID and title already exists")
NO_TITLE = _threads(400, 10019, "invalid namespace title: {problem}")
NO_KEY = _threads(404, 10009, "key not found")
BAD_KEY = inferred(400, 10029, "invalid key: it must be 1 to 512 bytes and not . or ..")
BAD_EXPIRATION = inferred(400, 10021, "Invalid {name}: must be at least 60 seconds in the future")
BAD_BULK = inferred(400, 10012, "invalid bulk request: {problem}")
BAD_METADATA = inferred(400, 10028, "metadata must be JSON of at most 1024 bytes")
