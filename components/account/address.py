"""Where the API is asked, as the environment says."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from ..errors import UserError
from ..platform import api
from ..provider.api_client import is_loopback


def api_address(environment: Mapping[str, str]) -> str:
    """Return the address of the API; one that the token would reach in clear is refused."""
    address = environment.get(api.BASE_URL) or api.URL
    place = urlsplit(address)
    if place.scheme not in ("http", "https") or not place.hostname:
        raise UserError(f"{api.BASE_URL}: {address!r} is not a URL such as {api.URL}")
    if place.scheme == "http" and not is_loopback(place.netloc):
        raise UserError(f"{address}: the token would travel in clear; use https")
    return address
