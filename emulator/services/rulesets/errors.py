"""Refusals of rulesets."""

from emulator.errors import Source, catalogued, inferred

_threads = Source("quoted in public issue threads")

NO_RULESET = catalogued(404, 10001, "could not find ruleset {ruleset}")
NO_ENTRYPOINT = catalogued(404, 10003, "could not find entrypoint ruleset in the {phase} phase")
NO_RULE = inferred(404, 10002, "could not find rule {rule}")
INVALID = inferred(400, 20011, "invalid JSON: {problem}")
BAD_PHASE = _threads(400, 20019, "'{phase}' is not a valid value for phase")
PHASE_TAKEN = _threads(
    400,
    20217,
    "'{kind}' is not a valid value for kind because exceeded maximum number of {kind} rulesets for the phase",
)
FROZEN = inferred(400, 20018, "'{field}' cannot be changed")
BAD_KIND = inferred(400, 20020, "'{kind}' is not a valid value for kind")
