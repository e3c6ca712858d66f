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
    """Return a client for the API, and the id of the account."""
    account_id = needed(environment, api.ACCOUNT_ID)
    return client(environment), account_id


def client(environment: Mapping[str, str] = os.environ) -> Client:
    """Return a client for the API, for what says itself in which account it is."""
    return Client(needed(environment, api.TOKEN), api_address(environment))


def needed(environment: Mapping[str, str], name: str) -> str:
    """Return the id of the account or the token; what is not set is refused with what it should be."""
    if found := environment.get(name):
        return found
    raise UserError(f"{name}: is not set; set it to {_NEEDED[name]}")


def api_address(environment: Mapping[str, str]) -> str:
    """Return the address of the API; one that the token would reach in clear is refused."""
    address = environment.get(api.BASE_URL) or api.URL
    place = urlsplit(address)
    if place.scheme not in ("http", "https") or not place.hostname:
        raise UserError(f"{api.BASE_URL}: {address!r} is not a URL such as {api.URL}")
    if place.scheme == "http" and not is_loopback(place.netloc):
        raise UserError(f"{address}: the token would travel in clear; use https")
    return address
