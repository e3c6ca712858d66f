"""R2: where buckets may lie, what their S3 keys are made of, and where the Sandbox SDK puts backups.

Source: Cloudflare's documentation of R2 and of API tokens, @cloudflare/sandbox 0.12.10. 2026-11-16.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

Jurisdiction = Literal["default", "eu", "fedramp"]
Location = Literal["apac", "eeur", "enam", "oc", "weur", "wnam"]

DEFAULT_JURISDICTION: Final[Jurisdiction] = "default"
JURISDICTION_HEADER: Final = "cf-r2-jurisdiction"
"""Tells the API where the buckets lie that a request is about."""
LOCATIONS: Final[Mapping[str, frozenset[str]]] = {
    "default": frozenset({"apac", "eeur", "enam", "oc", "weur", "wnam"}),
    "eu": frozenset({"eeur", "weur"}),
    "fedramp": frozenset({"enam", "wnam"}),
}
"""Location hints that make sense, by jurisdiction."""

BACKUP_PREFIX: Final = "backups/"
"""The SDK keeps each backup below this; it deletes none."""
BACKUP_DAYS: Final = 3
"""A backup can be restored for this long unless a call says otherwise."""
DAY_SECONDS: Final = 86_400
LONGEST_KEEP_DAYS: Final = 3650

TOKEN_SCOPE: Final = "com.cloudflare.edge.r2.bucket"  # noqa: S105 - the name of a scope
READ_AND_WRITE: Final = ("Workers R2 Storage Bucket Item Read", "Workers R2 Storage Bucket Item Write")
"""Permission groups that together are what the dashboard calls Object Read & Write."""


def endpoint(account_id: str, jurisdiction: str) -> str:
    """Return the S3 endpoint of a jurisdiction's buckets: an origin without a path, as the SDK demands."""
    place = "" if jurisdiction == DEFAULT_JURISDICTION else f".{jurisdiction}"
    return f"https://{account_id}{place}.r2.cloudflarestorage.com"


def token_resources(account_id: str, jurisdiction: str, bucket: str) -> str:
    """Return the resources of a token that reaches one bucket, as text.

    The bridged plugin compares it with the API's answer as text: a space more would be a change on every run.
    """
    return json.dumps({f"{TOKEN_SCOPE}.{account_id}_{jurisdiction}_{bucket}": "*"}, separators=(",", ":"))


def secret_access_key(token_value: str) -> str:
    """Return the S3 secret that belongs to a token; its access key id is the token's id."""
    return hashlib.sha256(token_value.encode()).hexdigest()


def permission_groups(ids: Iterable[str]) -> list[dict[str, str]]:
    """Return permission groups in the order the API answers with: any other is a change on every run."""
    return [{"id": each} for each in sorted(set(ids))]


def delete_rule(rule_id: str, prefix: str, days: int) -> dict[str, Any]:
    """Return the lifecycle rule that deletes objects of this age."""
    return {
        "id": rule_id,
        "enabled": True,
        "conditions": {"prefix": prefix},
        "delete_objects_transition": {"condition": {"type": "Age", "max_age": days * DAY_SECONDS}},
    }


def abort_rule() -> dict[str, Any]:
    """Return the lifecycle rule that clears away uploads nobody finished within a day."""
    return {
        "id": "abort unfinished uploads",
        "enabled": True,
        "conditions": {"prefix": ""},
        "abort_multipart_uploads_transition": {"condition": {"type": "Age", "max_age": DAY_SECONDS}},
    }


def lock_rule(days: int) -> dict[str, Any]:
    """Return the rule that keeps backups of up to this age from being deleted or overwritten by anyone."""
    return {
        "id": "keep backups",
        "enabled": True,
        "prefix": BACKUP_PREFIX,
        "condition": {"type": "Age", "max_age_seconds": days * DAY_SECONDS},
    }
