"""Refusals of D1."""

from emulator.errors import Failure

_THREADS = "codes and texts quoted in public issue threads"

NO_DATABASE = Failure(404, 7404, "The database {id} could not be found", _THREADS)
NAME_TAKEN = Failure(400, 7502, "Database with name '{name}' already exists", _THREADS)
BAD_QUERY = Failure(400, 7500, "{problem}", _THREADS)
NO_FILE = Failure(400, 7400, "The file {name} was not uploaded, or its content is not what its etag says", "inferred")
NO_TASK = Failure(400, 7400, "There is no {kind} at the bookmark {bookmark}", "inferred")
NO_ADDRESS = Failure(403, 7403, "This address is not valid, or no longer", "inferred")
TOO_LARGE = Failure(413, 7413, "A file must be at most {limit} bytes here", "the emulator's own")
INVALID = Failure(400, 7400, "The request is malformed: {problem}", "inferred")
