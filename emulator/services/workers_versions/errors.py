"""Refusals of versions and deployments."""

from emulator.errors import REST_FACTS, Failure, inferred
from emulator.services.durable_objects.errors import BINDING_NEEDS_EXPORT, LIFECYCLE_BETWEEN, NO_CLASS
from emulator.services.workers.errors import INVALID, NO_VERSION, SECRETS_CHANGED, VERSION_EXPORTS

__all__ = [
    "BINDING_NEEDS_EXPORT",
    "INVALID",
    "LIFECYCLE_BETWEEN",
    "NO_CLASS",
    "NO_VERSION",
    "SECRETS_CHANGED",
    "VERSION_EXPORTS",
]

MIGRATION = Failure(
    400,
    10211,
    "Version upload failed. It includes a Durable Object migration, and migrations must be fully applied by a"
    " deployment that is not versioned.",
    "code and meaning quoted in cloudflare-docs 32982",
)
NO_DEPLOYMENT = Failure(404, 10336, "Deployment not found.", f"{REST_FACTS}; text inferred")
LIVE_DEPLOYMENT = Failure(
    400, 10335, "The latest deployment is serving traffic and cannot be deleted.", "refused by the SDK; code inferred"
)
BAD_SHARES = inferred(400, 10021, "{problem}")
