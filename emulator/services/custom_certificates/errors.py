"""Refusals of custom certificates."""

from emulator.errors import Source, inferred

_docs = Source("Cloudflare's documentation, Custom certificates: Troubleshooting")
_AGAIN = "Please check your input and try again."

NO_CERTIFICATE = inferred(404, 1002, "Invalid custom certificate identifier")
NOT_A_CERTIFICATE = _docs(400, 1002, "Invalid certificate.")
FULL = _docs(400, 1212, "You have reached the maximum number of custom certificates.")
TWIN = _docs(400, 1220, "This certificate has already been submitted.")
INVALID = _docs(400, 1434, "The SSL attribute is invalid: {problem}. " + _AGAIN)
NO_LEAF = _docs(400, 2101, f"The certificate chain you uploaded has no leaf certificates. {_AGAIN}")
FOREIGN = _docs(
    400, 2103, f"The certificate chain you uploaded does not include any hostnames from your zone. {_AGAIN}"
)
NOT_A_KEY = _docs(400, 2106, f"The private key you uploaded is invalid. {_AGAIN}")
NO_PAIR = _docs(400, 2200, "The certificate and private key pair you uploaded is invalid")
