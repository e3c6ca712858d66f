"""API tokens of an account, and the permission groups they can be given."""

from collections.abc import Sequence
from typing import Final, TypedDict

import pulumi
from pulumi import Input, Output

from .bridged_resource import BridgedResource, call, call_output

_LIST: Final = "cloudflare:index/getAccountApiTokenPermissionGroupsList:getAccountApiTokenPermissionGroupsList"


class _PermissionGroupId(TypedDict):
    id: Input[str]


class _TokenPolicy(TypedDict):
    effect: Input[str]
    permission_groups: Input[Sequence[Input[_PermissionGroupId]]]
    resources: Input[str]


class _AccountTokenArgs(TypedDict):
    account_id: Input[str]
    name: Input[str]
    policies: Input[Sequence[Input[_TokenPolicy]]]


class AccountToken(BridgedResource[_AccountTokenArgs]):
    """An API token of the account."""

    resource_type = "cloudflare:index/accountToken:AccountToken"
    secret_outputs = ("value",)
    value: Output[str]


@pulumi.output_type
class PermissionGroup:
    """A permission group."""

    id: str
    name: str


@pulumi.output_type
class PermissionGroups:
    """The permission groups that were found."""

    results: Sequence[PermissionGroup]


def get_account_api_token_permission_groups_list(
    account_id: str, scope: str, parent: pulumi.Resource | None = None
) -> PermissionGroups:
    """List the permission groups of a scope."""
    return call(_LIST, {"accountId": account_id, "scope": scope}, PermissionGroups, parent)


def get_account_api_token_permission_groups_list_output(
    account_id: Input[str], scope: str, parent: pulumi.Resource | None = None
) -> Output[PermissionGroups]:
    """List the permission groups of a scope once the account is known."""
    return call_output(_LIST, {"accountId": account_id, "scope": scope}, PermissionGroups, parent)
