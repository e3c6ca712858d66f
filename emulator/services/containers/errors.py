"""Refusals of the Containers API.

They are double encoded: the message of the envelope is itself JSON with a string code and, often, details. Clients
match on the string; the numbers are those seen in live answers where any were.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from emulator.errors import ApiError, Failure, own
from emulator.schema import Check, Report

WRANGLER = "codes of wrangler's Containers client, 4.158, 2026-11"
_SEEN = "answers quoted in public issue threads and fixtures, 2026"
_NAMES = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}
_MISSING = object()


class _ByPath(Report):
    """What is wrong with a body, all of it, by the path of the field."""

    def __init__(self) -> None:
        super().__init__()
        self._strange: dict[str, list[str]] = {}

    def by_path(self) -> dict[str, str]:
        """The last problem of each path."""
        return {path or ".": problem for path, problem in self.told}

    def wrong_type(self, path: str, wanted: str, value: Any) -> None:
        received = "null" if value is None else _NAMES.get(type(value), "undefined")
        self.tell(path, f"expected {wanted}, received {received}")

    def not_whole(self, path: str) -> None:
        self.tell(path, "expected int, received number")

    def not_among(self, path: str, choices: Sequence[object]) -> None:
        wanted = "|".join(f'"{each}"' if isinstance(each, str) else str(each) for each in choices)
        self.tell(path, f"expected one of {wanted}" if len(choices) > 1 else f"expected {wanted}")

    def out_of_range(self, path: str, value: float, least: float | None, most: float | None) -> None:
        self.tell(path, f"expected number to be {_bound(value, least, most)}")

    def wrong_length(self, path: str, length: int, least: int, most: int | None) -> None:
        self.tell(path, f"expected string to have {_bound(length, least, most)} characters")

    def wrong_count(self, path: str, least: int, most: int | None) -> None:
        self.tell(path, f"expected array to have {least} to {'any' if most is None else most} items")

    def missing(self, path: str, check: Check) -> None:
        check(_MISSING, path, self)

    def unknown(self, path: str, name: str) -> None:
        strange = self._strange.setdefault(path, [])
        strange.append(f'"{name}"')
        self.tell(path, f"unrecognized key{'s' if len(strange) > 1 else ''}: {', '.join(strange)}")


def _bound(value: float, least: float | None, most: float | None) -> str:
    return f">={least}" if least is not None and value < least else f"<={most}"


class ContainerFailure(Failure):
    """One entry of the catalogue; its text is the string that clients match on."""

    def __call__(self, *, meta: dict[str, Any] | None = None, **details: object) -> ApiError:  # noqa: ARG002 - none here
        """Make the exception to raise."""
        return self.about(details)

    def about(self, details: Mapping[str, object]) -> ApiError:
        """The same, with details by path of the field."""
        inner = {"error": self.text, **({"details": details} if details else {})}
        return ApiError(self.status, [{"code": self.code, "message": json.dumps(inner, separators=(",", ":"))}])

    def unless(self, check: Check, value: object) -> None:
        """Raise it, with all problems by path, unless the value passes the check."""
        report = _ByPath()
        check(value, "", report)
        if report.told:
            raise self.about(report.by_path())


INVALID = ContainerFailure(400, 1000, "VALIDATE_INPUT", _SEEN)
NO_APPLICATION = ContainerFailure(404, 1609, "APPLICATION_NOT_FOUND", _SEEN)
NO_NAMESPACE = ContainerFailure(400, 1000, "DURABLE_OBJECT_NOT_FOUND", _SEEN)
NOT_ENABLED = ContainerFailure(400, 1607, "DURABLE_OBJECT_NOT_CONTAINER_ENABLED", _SEEN)
NAMESPACE_TAKEN = ContainerFailure(400, 1608, "DURABLE_OBJECT_ALREADY_HAS_APPLICATION", _SEEN)
NO_IMAGE = ContainerFailure(400, 1000, "IMAGE_REGISTRY_DOESNT_CONTAIN_IMAGE", WRANGLER)
REGISTRY_UNKNOWN = ContainerFailure(400, 1000, "IMAGE_REGISTRY_NOT_CONFIGURED", WRANGLER)
BASE_LIMITS = ContainerFailure(400, 1000, "SURPASSED_BASE_LIMITS", WRANGLER)
TOTAL_LIMITS = ContainerFailure(400, 1000, "SURPASSED_TOTAL_LIMITS", WRANGLER)
LOCATION = ContainerFailure(400, 1000, "LOCATION_NOT_ALLOWED", WRANGLER)
NO_JOBS = ContainerFailure(400, 1000, "JOB_CREATE_NOT_ALLOWED", WRANGLER)
NO_ROLLOUT = ContainerFailure(404, 1000, "ROLLOUT_NOT_FOUND", "inferred")
ROLLOUT_ACTIVE = ContainerFailure(400, 1000, "ROLLOUT_IN_USE", "inferred: wrangler's client says it must not be in use")
NO_INSTANCE = ContainerFailure(404, 1000, "INSTANCE_NOT_FOUND", "inferred")
NO_REGISTRY = ContainerFailure(404, 1000, "IMAGE_REGISTRY_NOT_FOUND", WRANGLER)
REGISTRY_EXISTS = ContainerFailure(409, 1000, "IMAGE_REGISTRY_ALREADY_EXISTS", WRANGLER)
REGISTRY_PUBLIC = ContainerFailure(409, 1000, "IMAGE_REGISTRY_IS_PUBLIC", WRANGLER)
REGISTRY_REFUSED = ContainerFailure(403, 1000, "IMAGE_REGISTRY_NOT_ALLOWED", WRANGLER)
REGISTRY_USED = ContainerFailure(409, 1000, "IMAGE_REGISTRY_IS_REFERENCED", "inferred name; 409 is documented")

OWN = "the emulator's own"
BAD_CONTROL = own(400, 1, "{problem}")
TOO_MANY = own(409, 2, "The application already runs as many instances as max_instances allows.")
"""The last two are of the control routes."""
