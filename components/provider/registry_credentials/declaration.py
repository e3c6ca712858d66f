"""What a program says to getRegistryCredentials, and what it gets."""

from typing import Final

from ...platform.containers import REGISTRY
from ..property_types import (
    ACCOUNT_ID,
    Declaration,
    Items,
    Number,
    Properties,
    Property,
    Text,
)

_ARGUMENTS: Final[Properties] = {
    "accountId": Property(ACCOUNT_ID, "Account of the registry.", required=True),
    "permissions": Property(
        Items(Text(choices=("push", "pull"))), "What they allow; both if left out.", default=["push", "pull"]
    ),
    "expirationMinutes": Property(Number(least=1, most=1440), "How long they are valid; 60 if left out.", default=60),
    "registry": Property(Text(), f"Registry; `{REGISTRY}` if left out.", default=REGISTRY),
}
_RESULT: Final[Properties] = {
    "host": Property(Text(), "Host to log in to.", required=True),
    "username": Property(Text(), "User name.", required=True),
    "password": Property(Text(), "Password; empty in previews.", required=True, secret=True),
}
DECLARATION: Final = Declaration(
    "getRegistryCredentials",
    "Mints short-lived credentials for the account's image registry; not in previews.",
    _ARGUMENTS,
    _RESULT,
)
