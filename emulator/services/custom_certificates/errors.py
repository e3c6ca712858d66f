"""Refusals of custom certificates."""

from emulator.errors import Failure

_DOCS = "Cloudflare's documentation, Custom certificates: Troubleshooting"
_AGAIN = "Please check your input and try again."

NO_CERTIFICATE = Failure(404, 1002, "Invalid custom certificate identifier", "inferred")
NOT_A_CERTIFICATE = Failure(400, 1002, "Invalid certificate.", _DOCS)
FULL = Failure(400, 1212, "You have reached the maximum number of custom certificates.", _DOCS)
TWIN = Failure(400, 1220, "This certificate has already been submitted.", _DOCS)
INVALID = Failure(400, 1434, "The SSL attribute is invalid: {problem}. " + _AGAIN, _DOCS)
NO_LEAF = Failure(400, 2101, f"The certificate chain you uploaded has no leaf certificates. {_AGAIN}", _DOCS)
FOREIGN = Failure(
    400, 2103, f"The certificate chain you uploaded does not include any hostnames from your zone. {_AGAIN}", _DOCS
)
NOT_A_KEY = Failure(400, 2106, f"The private key you uploaded is invalid. {_AGAIN}", _DOCS)
NO_PAIR = Failure(400, 2200, "The certificate and private key pair you uploaded is invalid", _DOCS)
