"""The function of our plugin that mints credentials for the image registry of an account: to wait for, or an output."""

from collections.abc import Sequence
from typing import Any, Final

import pulumi
from pulumi import Input

from ..lookup import Question
from ..provider.registry_credentials.declaration import DECLARATION
from .sandbox import RegistryCredentials

_QUESTION: Final = Question("registry credentials")


def wait_for_registry_credentials(account_id: str, parent: pulumi.Resource) -> RegistryCredentials:
    """Mint credentials for the account's image registry now; the password is plain here, and empty in previews."""
    options = pulumi.InvokeOptions(parent=parent)
    minted: RegistryCredentials = _QUESTION.answered(
        lambda: pulumi.runtime.invoke(DECLARATION.token, {"accountId": account_id}, options).value
    )
    return minted


def get_registry_credentials(
    account_id: Input[str],
    *,
    permissions: Input[Sequence[str]] | None = None,
    expiration_minutes: Input[int] | None = None,
    registry: Input[str] | None = None,
    opts: pulumi.InvokeOutputOptions | None = None,
) -> pulumi.Output[RegistryCredentials]:
    """Mint credentials for the account's image registry; the result is secret, its password empty in previews."""
    arguments = {
        "accountId": account_id,
        "permissions": permissions,
        "expirationMinutes": expiration_minutes,
        "registry": registry,
    }
    found: pulumi.Output[Any] = pulumi.runtime.invoke_output(
        DECLARATION.token, arguments, opts or pulumi.InvokeOutputOptions()
    )
    return pulumi.Output.secret(_QUESTION.told(found))
