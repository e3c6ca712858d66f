"""Refusals of Workers KV."""

from emulator.errors import Failure

_THREADS = "texts quoted in public issue threads, codes from the error catalogue, 2026-10"

NO_NAMESPACE = Failure(404, 10013, "namespace not found", _THREADS)
TITLE_TAKEN = Failure(400, 10014, "a namespace with this account ID and title already exists", _THREADS)
NO_TITLE = Failure(400, 10019, "invalid namespace title: {problem}", _THREADS)
NO_KEY = Failure(404, 10009, "key not found", _THREADS)
BAD_KEY = Failure(400, 10029, "invalid key: it must be 1 to 512 bytes and not . or ..", "inferred")
BAD_EXPIRATION = Failure(400, 10021, "Invalid {name}: must be at least 60 seconds in the future", "inferred")
BAD_BULK = Failure(400, 10012, "invalid bulk request: {problem}", "inferred")
BAD_METADATA = Failure(400, 10028, "metadata must be JSON of at most 1024 bytes", "inferred")
