"""Cloudflare Access: applications, who may pass, and tokens for machines."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from pulumi import Input, Output

from .bridged_resource import BridgedResource


class _ZeroTrustAccessServiceTokenArgs(TypedDict):
    name: Input[str]
    account_id: NotRequired[Input[str]]
    duration: NotRequired[Input[str]]


class ZeroTrustAccessServiceToken(BridgedResource[_ZeroTrustAccessServiceTokenArgs]):
    """Credentials of a machine."""

    resource_type = "cloudflare:index/zeroTrustAccessServiceToken:ZeroTrustAccessServiceToken"
    former_types = ("cloudflare:index/accessServiceToken:AccessServiceToken",)
    secret_outputs = ("client_secret",)
    client_id: Output[str]
    client_secret: Output[str]


class _Email(TypedDict):
    email: Input[str]


class _EmailDomain(TypedDict):
    domain: Input[str]


class _Group(TypedDict):
    id: Input[str]


class _ServiceToken(TypedDict):
    token_id: Input[str]


class _Include(TypedDict, total=False):
    email: Input[_Email]
    email_domain: Input[_EmailDomain]
    group: Input[_Group]
    service_token: Input[_ServiceToken]


class _ZeroTrustAccessPolicyArgs(TypedDict):
    account_id: Input[str]
    name: Input[str]
    decision: Input[str]
    includes: NotRequired[Input[Sequence[Input[_Include]]]]
    session_duration: NotRequired[Input[str]]


class ZeroTrustAccessPolicy(BridgedResource[_ZeroTrustAccessPolicyArgs]):
    """Who may pass."""

    resource_type = "cloudflare:index/zeroTrustAccessPolicy:ZeroTrustAccessPolicy"
    former_types = ("cloudflare:index/accessPolicy:AccessPolicy",)


class _ApplicationPolicy(TypedDict, total=False):
    id: Input[str]
    precedence: Input[int]


class _ZeroTrustAccessApplicationArgs(TypedDict, total=False):
    account_id: Input[str]
    name: Input[str]
    type: Input[str]
    domain: Input[str]
    session_duration: Input[str]
    app_launcher_visible: Input[bool]
    http_only_cookie_attribute: Input[bool]
    service_auth401_redirect: Input[bool | None]
    policies: Input[Sequence[Input[_ApplicationPolicy]]]


class ZeroTrustAccessApplication(BridgedResource[_ZeroTrustAccessApplicationArgs]):
    """What Access protects."""

    resource_type = "cloudflare:index/zeroTrustAccessApplication:ZeroTrustAccessApplication"
    former_types = ("cloudflare:index/accessApplication:AccessApplication",)
    aud: Output[str]
