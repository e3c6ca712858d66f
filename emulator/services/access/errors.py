"""Refusals of Access."""

from emulator.errors import Failure

_THREADS = "codes and texts quoted in public issue threads"

NO_GROUP = Failure(404, 12130, "access.api.error.group_not_found", "inferred")
INVALID = Failure(400, 12130, "access.api.error.invalid_request: {problem}", _THREADS)
APP_EXISTS = Failure(409, 11010, "access.api.error.application_already_exists", _THREADS)
NO_APP = Failure(404, 11021, "access.api.error.not_found: application not found", "inferred")
NO_POLICY = Failure(404, 11021, "access.api.error.not_found: policy not found", "inferred")
NO_SERVICE_TOKEN = Failure(404, 11021, "access.api.error.not_found: service token not found", "inferred")
UNKNOWN_POLICY = Failure(400, 12130, "access.api.error.invalid_request: policy {policy} does not exist", "inferred")
POLICY_IN_USE = Failure(
    400, 12130, "access.api.error.invalid_request: the policy is in use by {count} application(s)", "inferred"
)
REUSABLE = Failure(
    400,
    12130,
    "access.api.error.invalid_request: policy {policy} is reusable: change it at access/policies of the account",
    "Cloudflare's API reference; code and text inferred",
)
