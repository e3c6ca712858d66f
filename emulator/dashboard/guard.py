"""Who may look: a browser on this machine, showing this page. No token is asked for, since nothing here is secret.

Another site's page must not read it through the visitor's browser: not by a host name that it points at loopback
(the Host header tells), not by a request across origins (Sec-Fetch-Site tells), not inside a frame.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_NAMES = ("127.0.0.1", "localhost", "[::1]")
_SITES = ("same-origin", "none")
METHODS = ("GET", "HEAD")


def refusal(method: str, headers: Mapping[str, str], address: str) -> tuple[int, str] | None:
    """Status and text for a request that is not answered; `address` is where the emulator listens."""
    port = urlsplit(address).port
    if headers.get("host", "") not in [f"{name}:{port}" for name in _NAMES]:
        return 403, f"The dashboard answers as 127.0.0.1:{port} or localhost:{port} only. Open it by that address."
    if headers.get("sec-fetch-site", "none") not in _SITES:
        return 403, "The dashboard does not answer other sites. Type its address, or open it from a bookmark."
    if method not in METHODS:
        return 405, "The dashboard only shows things: use GET. To change the account, call the API."
    return None
