"""The bridged Cloudflare SDK, of which only the modules that are used get loaded.

`bridged.R2Bucket` is `pulumi_cloudflare.R2Bucket`; nothing is imported before the first such name is asked for, and
then only the module that defines it, with the nested types that it names: all 780 take a second or two.
A program that imports `pulumi_cloudflare` itself, before or after, has the whole package with the very same classes.
"""

import re
from typing import TYPE_CHECKING, Any

from . import shell

if TYPE_CHECKING:
    from pulumi_cloudflare import (
        AccountToken,
        CertificatePack,
        DnsRecord,
        Queue,
        R2Bucket,
        R2BucketCors,
        R2BucketLifecycle,
        R2BucketLock,
        R2ManagedDomain,
        WorkersCronTrigger,
        WorkersKvNamespace,
        WorkersRoute,
        ZeroTrustAccessApplication,
        ZeroTrustAccessPolicy,
        ZeroTrustAccessServiceToken,
        get_account_api_token_permission_groups_list_output,
        get_zone_output,
    )

__all__ = [
    "AccountToken",
    "CertificatePack",
    "DnsRecord",
    "Queue",
    "R2Bucket",
    "R2BucketCors",
    "R2BucketLifecycle",
    "R2BucketLock",
    "R2ManagedDomain",
    "WorkersCronTrigger",
    "WorkersKvNamespace",
    "WorkersRoute",
    "ZeroTrustAccessApplication",
    "ZeroTrustAccessPolicy",
    "ZeroTrustAccessServiceToken",
    "get_account_api_token_permission_groups_list_output",
    "get_zone_output",
]


def _module_of(name: str) -> str:
    """Give the module of a class or function: `R2Bucket` is in `r2_bucket`, `get_zone_output` in `get_zone`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower().removesuffix("_output")


def _from_sdk(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; list it there to use it")
    found = globals()[name] = getattr(shell.module(_module_of(name)), name)
    return found


if not TYPE_CHECKING:  # a module with this function has any name in the eyes of a type checker
    __getattr__ = _from_sdk
