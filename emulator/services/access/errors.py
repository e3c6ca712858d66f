"""Refusals of Access."""

from emulator.errors import Failure, Source, inferred

_threads = Source("codes and texts quoted in public issue threads")

NO_GROUP = inferred(404, 12130, "access.api.error.group_not_found")
INVALID = _threads(400, 12130, "access.api.error.invalid_request: {problem}")
APP_EXISTS = _threads(409, 11010, "access.api.error.application_already_exists")
NO_APP = inferred(404, 11021, "access.api.error.not_found: application not found")
NO_POLICY = inferred(404, 11021, "access.api.error.not_found: policy not found")
NO_SERVICE_TOKEN = inferred(404, 11021, "access.api.error.not_found: service token not found")
UNKNOWN_POLICY = inferred(400, 12130, "access.api.error.invalid_request: policy {policy} does not exist")
POLICY_IN_USE = inferred(400, 12130, "access.api.error.invalid_request: the policy is in use by {count} application(s)")
REUSABLE = Failure(
    400,
    12130,
    "access.api.error.invalid_request: policy {policy} is reusable: change it at access/policies of the account",
    "Cloudflare's API reference; code and text inferred",
)
