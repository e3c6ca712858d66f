"""Refusals of rulesets."""

from emulator.errors import Failure

_THREADS = "quoted in public issue threads"

NO_RULESET = Failure(404, 10001, "could not find ruleset {ruleset}")
NO_ENTRYPOINT = Failure(404, 10003, "could not find entrypoint ruleset in the {phase} phase")
NO_RULE = Failure(404, 10002, "could not find rule {rule}", "inferred")
INVALID = Failure(400, 20011, "invalid JSON: {problem}", "inferred")
BAD_PHASE = Failure(400, 20019, "'{phase}' is not a valid value for phase", _THREADS)
PHASE_TAKEN = Failure(
    400,
    20217,
    "'{kind}' is not a valid value for kind because exceeded maximum number of {kind} rulesets for the phase",
    _THREADS,
)
FROZEN = Failure(400, 20018, "'{field}' cannot be changed", "inferred")
BAD_KIND = Failure(400, 20020, "'{kind}' is not a valid value for kind", "inferred")
