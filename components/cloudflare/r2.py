"""R2 buckets, and what is set for each."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from pulumi import Input, Output

from .bridged_resource import BridgedResource


class _R2BucketArgs(TypedDict):
    account_id: Input[str]
    name: Input[str]
    jurisdiction: NotRequired[Input[str | None]]
    location: NotRequired[Input[str | None]]


class R2Bucket(BridgedResource[_R2BucketArgs]):
    """A bucket."""

    resource_type = "cloudflare:index/r2Bucket:R2Bucket"
    name: Output[str]


class OfBucket(TypedDict):
    """The bucket that something is set for."""

    account_id: Input[str]
    bucket_name: Input[str]
    jurisdiction: NotRequired[Input[str | None]]


class _R2ManagedDomainArgs(OfBucket):
    enabled: Input[bool]


class R2ManagedDomain(BridgedResource[_R2ManagedDomainArgs]):
    """Whether a bucket is open to the public on r2.dev."""

    resource_type = "cloudflare:index/r2ManagedDomain:R2ManagedDomain"


class _LifecycleConditions(TypedDict):
    prefix: Input[str]


class _AbortCondition(TypedDict):
    type: Input[str]
    max_age: Input[int]


class _AbortTransition(TypedDict, total=False):
    condition: Input[_AbortCondition]


class _DeleteCondition(TypedDict):
    type: Input[str]
    max_age: NotRequired[Input[int]]


class _DeleteTransition(TypedDict, total=False):
    condition: Input[_DeleteCondition]


class _LifecycleRule(TypedDict):
    id: Input[str]
    enabled: Input[bool]
    conditions: Input[_LifecycleConditions]
    delete_objects_transition: NotRequired[Input[_DeleteTransition]]
    abort_multipart_uploads_transition: NotRequired[Input[_AbortTransition]]


class _R2BucketLifecycleArgs(OfBucket):
    rules: NotRequired[Input[Sequence[Input[_LifecycleRule]]]]


class R2BucketLifecycle(BridgedResource[_R2BucketLifecycleArgs]):
    """All lifecycle rules of a bucket."""

    resource_type = "cloudflare:index/r2BucketLifecycle:R2BucketLifecycle"


class _LockCondition(TypedDict):
    type: Input[str]
    max_age_seconds: NotRequired[Input[int]]


class _LockRule(TypedDict):
    id: Input[str]
    enabled: Input[bool]
    condition: Input[_LockCondition]
    prefix: NotRequired[Input[str]]


class _R2BucketLockArgs(OfBucket):
    rules: NotRequired[Input[Sequence[Input[_LockRule]]]]


class R2BucketLock(BridgedResource[_R2BucketLockArgs]):
    """All lock rules of a bucket."""

    resource_type = "cloudflare:index/r2BucketLock:R2BucketLock"


class _CorsAllowed(TypedDict):
    methods: Input[Sequence[Input[str]]]
    origins: Input[Sequence[Input[str]]]
    headers: NotRequired[Input[Sequence[Input[str]]]]


class CorsRule(TypedDict):
    """A rule for pages of other origins."""

    allowed: Input[_CorsAllowed]
    id: NotRequired[Input[str]]
    expose_headers: NotRequired[Input[Sequence[Input[str]]]]
    max_age_seconds: NotRequired[Input[float]]


class _R2BucketCorsArgs(OfBucket):
    rules: NotRequired[Input[Sequence[Input[CorsRule]]]]


class R2BucketCors(BridgedResource[_R2BucketCorsArgs]):
    """Which pages may use a bucket from a browser."""

    resource_type = "cloudflare:index/r2BucketCors:R2BucketCors"
