"""Which account is asked, where, and with which token, as the environment says."""

import os
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from ..errors import UserError
from ..platform import api
from ..provider.api_client import Client, is_loopback

_NEEDED: Final = {
    api.ACCOUNT_ID: "the id of the account",
    api.TOKEN: "an API token of the account",
}


def account_client(environment: Mapping[str, str] = os.environ) -> tuple[Client, str]:
    """Return a client for the API, and the id of the account; what is not set is refused with what it should be."""
    for name, what in _NEEDED.items():
        if not environment.get(name):
            raise UserError(f"{name}: is not set; set it to {what}")
    return Client(environment[api.TOKEN], api_address(environment)), environment[api.ACCOUNT_ID]


def api_address(environment: Mapping[str, str]) -> str:
    """Return the address of the API; one that the token would reach in clear is refused."""
    address = environment.get(api.BASE_URL) or api.URL
    place = urlsplit(address)
    if place.scheme not in ("http", "https") or not place.hostname:
        raise UserError(f"{api.BASE_URL}: {address!r} is not a URL such as {api.URL}")
    if place.scheme == "http" and not is_loopback(place.netloc):
        raise UserError(f"{address}: the token would travel in clear; use https")
    return address
