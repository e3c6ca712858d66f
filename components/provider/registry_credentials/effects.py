"""getRegistryCredentials: short-lived credentials for the account's image registry, minted for one run."""

from typing import Any, Final

from ..api_client import Client
from ..property_types import Problem
from .declaration import DECLARATION

_USER: Final = "v1"  # of every account


def checked(arguments: dict[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """Return the arguments with defaults, and what is wrong with them."""
    record = DECLARATION.arguments
    given = record.filled(arguments)
    return given, list(record.problems(given, ()))


def previewed(client: Client | None, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return what a preview gets: nothing is minted, as that needs a permission that a preview must not need.

    Host and user name are those that minting will give, so that what is made of them does not look changed. A token
    that is missing or not known yet is no reason to fail: the engine takes no unknown values from a function.
    """
    local = client.local_host if client is not None else ""
    return {"host": local or arguments["registry"], "username": _USER, "password": ""}


def mint(client: Client, arguments: dict[str, Any]) -> dict[str, Any]:
    """Mint credentials."""
    path = f"/accounts/{arguments['accountId']}/containers/registries/{arguments['registry']}/credentials"
    body = {"permissions": arguments["permissions"], "expiration_minutes": arguments["expirationMinutes"]}
    found = client.call("POST", path, body=body).result
    return {"host": found["registry_host"], "username": found["username"], "password": found["password"]}
