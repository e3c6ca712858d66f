"""Refusals of custom domains."""

from emulator.errors import REST_FACTS, Failure, Source, inferred
from emulator.services.workers.errors import INVALID, NO_SCRIPT

__all__ = ["INVALID", "NO_SCRIPT"]

_codes = Source(f"{REST_FACTS}; text inferred")

NO_DOMAIN = _codes(404, 100114, "Custom domain not found.")
BAD_HOSTNAME = inferred(400, 100115, "{hostname} cannot be a custom domain: the account has no zone for it.")
IN_USE = _codes(409, 100116, "Hostname {hostname} is already in use by the Worker {service}.")
HAS_RECORDS = Failure(
    409,
    100117,
    "Hostname {hostname} already has externally managed DNS records (A, CNAME, etc). Either delete them, try a"
    " different hostname, or use the option 'override_existing_dns_record' to override.",
    "public issue threads",
)
