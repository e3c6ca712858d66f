"""SandboxStorage: the R2 buckets of a stack by role, a KV namespace for conversations and a queue for events.

Every bucket is closed to the public and clears away unfinished uploads; backups go after their time. The Worker gets
`bindings`: their names are known before anything is made, their values may not be. R2 deletes no bucket that holds
objects and this component empties none: destroying a throw-away stack with objects in a bucket fails until they are
removed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from . import cloudflare
from .cloudflare.tokens import PermissionGroups
from .lookup import Question
from .naming import physical_name
from .platform import api, r2, storage
from .platform.bindings import KV_NAMESPACE, PLAIN_TEXT, QUEUE, R2_BUCKET, SECRET_TEXT
from .settings.storage import StorageSettings

TYPE: Final = "cloudflare-sandbox:index:SandboxStorage"
_GROUPS: Final = Question(
    what="the permission groups for the token of backups (storage.backups)",
    permission="Account API Tokens Write",
    setting=(
        f"set storage.backups.token to false and give the secrets {storage.BACKUP_KEY_ID} and {storage.BACKUP_SECRET} "
        "yourself"
    ),
)
Binding = dict[str, pulumi.Input[Any]]


@dataclass(frozen=True)
class StorageArgs:
    """What a SandboxStorage is made from."""

    settings: StorageSettings
    """The section `storage` of the settings."""
    account_id: pulumi.Input[str]
    prefix: tuple[str, ...]
    """Begins the name of everything that has none of its own in the settings."""
    lasting: bool = True
    """Whether what holds data is protected."""


class SandboxStorage(pulumi.ComponentResource):
    """What a stack keeps outside its sandboxes."""

    bucket_names: pulumi.Output[dict[str, str]]
    """Names of the buckets by role: files, backups, artifacts."""
    conversations_id: pulumi.Output[str | None]
    """Id of the KV namespace for conversations."""
    queue_name: pulumi.Output[str | None]
    """Name of the queue for events."""
    backup_access_key_id: pulumi.Output[str | None]
    """S3 key of the bucket for backups (secret)."""
    backup_secret_access_key: pulumi.Output[str | None]
    """S3 secret of the bucket for backups (secret)."""
    backup_endpoint: pulumi.Output[str | None]
    """S3 endpoint of the bucket for backups, where a jurisdiction has one of its own."""
    bindings: dict[str, Binding]
    """Bindings of the Worker by name, each with its type; secrets are secret."""

    def __init__(self, name: str, args: StorageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(TYPE, name, None, opts)
        self._name = name
        self._args = args
        self.bindings = {}
        settings = args.settings
        buckets = {role: self._bucket(role, each.name) for role, each in settings.buckets.items()}
        for role, bucket in buckets.items():
            self._close_and_tidy(role, bucket)
        if storage.FILES in buckets and settings.files.cors_origins:
            self._allow_browsers(buckets[storage.FILES])
        names: Any = {role: bucket.name for role, bucket in buckets.items()}
        self.bucket_names = pulumi.Output.from_input(names)
        self.backup_access_key_id = self.backup_secret_access_key = pulumi.Output.from_input(None)
        self.backup_endpoint = pulumi.Output.from_input(None)
        if storage.BACKUPS in buckets:
            self._serve_backups(buckets[storage.BACKUPS])
        self.conversations_id = self._conversations()
        self.queue_name = self._events()
        self.register_outputs(self.outputs())

    def outputs(self) -> dict[str, pulumi.Output[Any]]:
        """Return the outputs under the names that state uses."""
        return {
            "bucket_names": self.bucket_names,
            "conversations_id": self.conversations_id,
            "queue_name": self.queue_name,
            "backup_access_key_id": self.backup_access_key_id,
            "backup_secret_access_key": self.backup_secret_access_key,
            "backup_endpoint": self.backup_endpoint,
        }

    @property
    def _jurisdiction(self) -> str | None:
        jurisdiction = self._args.settings.jurisdiction
        return None if jurisdiction == r2.DEFAULT_JURISDICTION else jurisdiction

    def _child(self, *, holds_data: bool = False, **more: Any) -> pulumi.ResourceOptions:
        # Not `protect=False`: that would undo protection given to the whole component.
        return pulumi.ResourceOptions(parent=self, protect=True if holds_data and self._args.lasting else None, **more)

    def _bucket(self, role: str, own_name: str | None) -> cloudflare.R2Bucket:
        bucket = cloudflare.R2Bucket(
            f"{self._name}-{role}",
            {
                "account_id": self._args.account_id,
                "name": own_name or physical_name(*self._args.prefix, role),
                "jurisdiction": self._jurisdiction,
                "location": self._args.settings.location,
            },
            # The plugin would try to change the jurisdiction in place, which R2 cannot. The old bucket goes first:
            # while it holds objects R2 refuses that, and nothing else has changed by then.
            self._child(holds_data=True, replace_on_changes=["jurisdiction"], delete_before_replace=True),
        )
        self.bindings[storage.BINDINGS[role]] = _without_none(
            type=R2_BUCKET, bucket_name=bucket.name, jurisdiction=self._jurisdiction
        )
        return bucket

    def _of(self, bucket: cloudflare.R2Bucket) -> cloudflare.OfBucket:
        return {
            "account_id": self._args.account_id,
            "bucket_name": bucket.name,
            "jurisdiction": self._jurisdiction,
        }

    def _close_and_tidy(self, role: str, bucket: cloudflare.R2Bucket) -> None:
        named = self._of(bucket)
        cloudflare.R2ManagedDomain(f"{self._name}-{role}-public", {**named, "enabled": False}, self._child())
        # Deleting either of these leaves its rules in force, so they exist as long as the bucket: a rule is taken back
        # by sending the others. That of unfinished uploads is always sent, because setting any removes R2's own.
        cloudflare.R2BucketLifecycle(
            f"{self._name}-{role}-lifecycle", {**named, "rules": self._lifecycle(role)}, self._child()
        )
        if role == storage.BACKUPS:
            days = self._args.settings.backups.lock_days
            rules: list[Any] = [r2.lock_rule(days)] if days else []
            cloudflare.R2BucketLock(f"{self._name}-{role}-lock", {**named, "rules": rules}, self._child())

    def _lifecycle(self, role: str) -> list[Any]:
        settings = self._args.settings
        rules = [r2.abort_rule()]
        if role == storage.BACKUPS:
            rules.append(r2.delete_rule("delete old backups", r2.BACKUP_PREFIX, settings.backups.keep_days))
        if role == storage.ARTIFACTS and settings.artifacts.keep_days is not None:
            rules.append(r2.delete_rule("delete old artifacts", "", settings.artifacts.keep_days))
        return rules

    def _allow_browsers(self, bucket: cloudflare.R2Bucket) -> None:
        rule: cloudflare.CorsRule = {
            "id": "browsers",
            "allowed": {
                "methods": ["GET", "HEAD", "PUT"],
                "origins": list(self._args.settings.files.cors_origins),
                "headers": ["content-type"],
            },
            "expose_headers": ["etag"],
            "max_age_seconds": 3600,
        }
        cloudflare.R2BucketCors(f"{self._name}-files-cors", {**self._of(bucket), "rules": [rule]}, self._child())

    def _serve_backups(self, bucket: cloudflare.R2Bucket) -> None:
        account_id = pulumi.Output.from_input(self._args.account_id)
        self.bindings[storage.BACKUP_NAME] = {"type": PLAIN_TEXT, "text": bucket.name}
        self.bindings[api.ACCOUNT_ID] = {"type": PLAIN_TEXT, "text": account_id}
        jurisdiction = self._jurisdiction
        if jurisdiction is not None:
            self.backup_endpoint = account_id.apply(lambda account: r2.endpoint(account, jurisdiction))
            self.bindings[storage.BACKUP_ENDPOINT] = {"type": PLAIN_TEXT, "text": self.backup_endpoint}
        if not self._args.settings.backups.token:
            return
        token = self._backup_token(bucket, account_id)
        self.backup_access_key_id = pulumi.Output.secret(token.id)
        self.backup_secret_access_key = pulumi.Output.secret(token.value.apply(r2.secret_access_key))
        self.bindings[storage.BACKUP_KEY_ID] = {"type": SECRET_TEXT, "text": self.backup_access_key_id}
        self.bindings[storage.BACKUP_SECRET] = {"type": SECRET_TEXT, "text": self.backup_secret_access_key}

    def _backup_token(self, bucket: cloudflare.R2Bucket, account_id: pulumi.Output[str]) -> cloudflare.AccountToken:
        settings = self._args.settings
        ids = pulumi.Output.from_input(settings.backups.token_permission_groups or self._permission_groups())
        jurisdiction = settings.jurisdiction
        policy: Any = {
            "effect": "allow",
            "permission_groups": ids.apply(r2.permission_groups),
            "resources": pulumi.Output.all(account_id, bucket.name).apply(
                lambda named: r2.token_resources(named[0], jurisdiction, named[1])
            ),
        }
        return cloudflare.AccountToken(
            f"{self._name}-backups-token",
            {
                "account_id": account_id,
                "name": settings.backups.token_name or physical_name(*self._args.prefix, storage.BACKUPS),
                "policies": [policy],
            },
            self._child(),
        )

    def _permission_groups(self) -> pulumi.Output[Sequence[str]]:
        found = cloudflare.get_account_api_token_permission_groups_list_output(
            self._args.account_id, r2.TOKEN_SCOPE, self
        )
        return _GROUPS.told(found).apply(_ids)

    def _conversations(self) -> pulumi.Output[str | None]:
        settings = self._args.settings.conversations
        if not settings.enabled:
            return pulumi.Output.from_input(None)
        namespace = cloudflare.WorkersKvNamespace(
            f"{self._name}-conversations",
            {
                "account_id": self._args.account_id,
                "title": settings.name or physical_name(*self._args.prefix, storage.CONVERSATIONS),
            },
            self._child(holds_data=True),
        )
        self.bindings[storage.BINDINGS[storage.CONVERSATIONS]] = {"type": KV_NAMESPACE, "namespace_id": namespace.id}
        return namespace.id.apply(lambda namespace_id: namespace_id)

    def _events(self) -> pulumi.Output[str | None]:
        settings = self._args.settings.events
        if not settings.enabled:
            return pulumi.Output.from_input(None)
        queue = cloudflare.Queue(
            f"{self._name}-events",
            {
                "account_id": self._args.account_id,
                "queue_name": settings.name or physical_name(*self._args.prefix, storage.EVENTS),
            },
            self._child(holds_data=True),
        )
        self.bindings[storage.BINDINGS[storage.EVENTS]] = {"type": QUEUE, "queue_name": queue.queue_name}
        return queue.queue_name.apply(lambda queue_name: queue_name)


def _without_none(**fields: Any) -> Binding:
    return {name: value for name, value in fields.items() if value is not None}


def token_permission_groups(account_id: str, parent: pulumi.Resource) -> Sequence[str]:
    """Ask the account for the ids of what the token for backups may do, and wait for them."""
    return _ids(
        _GROUPS.answered(
            lambda: cloudflare.get_account_api_token_permission_groups_list(account_id, r2.TOKEN_SCOPE, parent)
        )
    )


def _ids(found: PermissionGroups) -> Sequence[str]:
    ids = {group.name: group.id for group in found.results}
    missing = [name for name in r2.READ_AND_WRITE if name not in ids]
    if missing:
        raise pulumi.RunError(
            f"storage.backups.token: the account has no permission group {missing[0]!r} to give a token; set "
            "token_permission_groups to the ids of the groups to use, or token to false"
        )
    return [ids[name] for name in r2.READ_AND_WRITE]
