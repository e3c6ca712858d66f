"""Refusals of certificate packs."""

from emulator.errors import catalogued, inferred

NO_PACK = catalogued(404, 1408, "Certificate pack not found.")
INVALID = inferred(400, 1434, "Invalid certificate pack order: {problem}.")
FOREIGN_HOST = inferred(400, 1414, "The host {host} is not part of the zone.")
NO_APEX = inferred(400, 1449, "The certificate pack must include the zone apex.")
UNIVERSAL = inferred(
    400, 1434, "The universal certificate is switched off in ssl/universal/settings, not deleted or changed."
)
