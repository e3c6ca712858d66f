"""Resources and functions of two plugins: those of pulumi-cloudflare as far as they are used, and all of our own.

Importing pulumi-cloudflare takes longer than all else a program does before its first resource; what is declared here
(`bridged_resource.py`) sends the engine the very same requests, which `tests/components/test_cloudflare.py` compares.
The classes of our own plugin (`sandbox.py`, on `plugin_resource.py`) are generated from its declarations.
"""

from .access import ZeroTrustAccessApplication, ZeroTrustAccessPolicy, ZeroTrustAccessServiceToken
from .r2 import CorsRule, OfBucket, R2Bucket, R2BucketCors, R2BucketLifecycle, R2BucketLock, R2ManagedDomain
from .tokens import (
    AccountToken,
    get_account_api_token_permission_groups_list,
    get_account_api_token_permission_groups_list_output,
)
from .workers import Queue, WorkersCronTrigger, WorkersKvNamespace, WorkersRoute
from .zones import CertificatePack, DnsRecord, get_zone, get_zone_output

__all__ = [
    "AccountToken",
    "CertificatePack",
    "CorsRule",
    "DnsRecord",
    "OfBucket",
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
    "get_account_api_token_permission_groups_list",
    "get_account_api_token_permission_groups_list_output",
    "get_zone",
    "get_zone_output",
]
