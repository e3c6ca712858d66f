"""Refusals of certificate packs."""

from emulator.errors import Failure

NO_PACK = Failure(404, 1408, "Certificate pack not found.")
INVALID = Failure(400, 1434, "Invalid certificate pack order: {problem}.", "inferred")
FOREIGN_HOST = Failure(400, 1414, "The host {host} is not part of the zone.", "inferred")
NO_APEX = Failure(400, 1449, "The certificate pack must include the zone apex.", "inferred")
UNIVERSAL = Failure(
    400,
    1434,
    "The universal certificate is switched off in ssl/universal/settings, not deleted or changed.",
    "inferred",
)
