"""Refusals of D1."""

from emulator.errors import Source, inferred, own

_threads = Source("codes and texts quoted in public issue threads")

NO_DATABASE = _threads(404, 7404, "The database {id} could not be found")
NAME_TAKEN = _threads(400, 7502, "Database with name '{name}' already exists")
BAD_QUERY = _threads(400, 7500, "{problem}")
NO_FILE = inferred(400, 7400, "The file {name} was not uploaded, or its content is not what its etag says")
NO_TASK = inferred(400, 7400, "There is no {kind} at the bookmark {bookmark}")
NO_ADDRESS = inferred(403, 7403, "This address is not valid, or no longer")
TOO_LARGE = own(413, 7413, "A file must be at most {limit} bytes here")
INVALID = inferred(400, 7400, "The request is malformed: {problem}")
