"""Refusals of the Containers API.

They are double encoded: the message of the envelope is itself JSON with a string code and, often, details. Clients
match on the string; the numbers are those seen in live answers where any were.
"""

import json
from dataclasses import dataclass
from typing import Any

from emulator.errors import ApiError, Failure

WRANGLER = "codes of wrangler's Containers client, 4.158, 2026-11"
_SEEN = "answers quoted in public issue threads and fixtures, 2026"


@dataclass(frozen=True)
class ContainerFailure:
    """One entry of the catalogue."""

    status: int
    number: int
    code: str
    source: str = WRANGLER

    def __call__(self, **details: Any) -> ApiError:
        """Make the exception to raise."""
        inner: dict[str, Any] = {"error": self.code}
        if details:
            inner["details"] = details
        message = json.dumps(inner, separators=(",", ":"))
        return ApiError(self.status, [{"code": self.number, "message": message}])

    def about(self, details: dict[str, str]) -> ApiError:
        """The same, with details by path of the field."""
        return self(**details)


INVALID = ContainerFailure(400, 1000, "VALIDATE_INPUT", _SEEN)
NO_APPLICATION = ContainerFailure(404, 1609, "APPLICATION_NOT_FOUND", _SEEN)
NO_NAMESPACE = ContainerFailure(400, 1000, "DURABLE_OBJECT_NOT_FOUND", _SEEN)
NOT_ENABLED = ContainerFailure(400, 1607, "DURABLE_OBJECT_NOT_CONTAINER_ENABLED", _SEEN)
NAMESPACE_TAKEN = ContainerFailure(400, 1608, "DURABLE_OBJECT_ALREADY_HAS_APPLICATION", _SEEN)
NO_IMAGE = ContainerFailure(400, 1000, "IMAGE_REGISTRY_DOESNT_CONTAIN_IMAGE")
REGISTRY_UNKNOWN = ContainerFailure(400, 1000, "IMAGE_REGISTRY_NOT_CONFIGURED")
BASE_LIMITS = ContainerFailure(400, 1000, "SURPASSED_BASE_LIMITS")
TOTAL_LIMITS = ContainerFailure(400, 1000, "SURPASSED_TOTAL_LIMITS")
LOCATION = ContainerFailure(400, 1000, "LOCATION_NOT_ALLOWED")
NO_JOBS = ContainerFailure(400, 1000, "JOB_CREATE_NOT_ALLOWED")
NO_ROLLOUT = ContainerFailure(404, 1000, "ROLLOUT_NOT_FOUND", "inferred")
ROLLOUT_ACTIVE = ContainerFailure(400, 1000, "ROLLOUT_IN_USE", "inferred: wrangler's client says it must not be in use")
NO_INSTANCE = ContainerFailure(404, 1000, "INSTANCE_NOT_FOUND", "inferred")
NO_REGISTRY = ContainerFailure(404, 1000, "IMAGE_REGISTRY_NOT_FOUND")
REGISTRY_EXISTS = ContainerFailure(409, 1000, "IMAGE_REGISTRY_ALREADY_EXISTS")
REGISTRY_PUBLIC = ContainerFailure(409, 1000, "IMAGE_REGISTRY_IS_PUBLIC")
REGISTRY_REFUSED = ContainerFailure(403, 1000, "IMAGE_REGISTRY_NOT_ALLOWED")
REGISTRY_USED = ContainerFailure(409, 1000, "IMAGE_REGISTRY_IS_REFERENCED", "inferred name; 409 is documented")

OWN = "the emulator's own"
BAD_CONTROL = Failure(400, 1, "{problem}", OWN)
TOO_MANY = Failure(409, 2, "The application already runs as many instances as max_instances allows.", OWN)
"""The last two are of the control routes."""
