"""SandboxStorage: the R2 buckets of a stack by role, a KV namespace for conversations and a queue for events.

Every bucket is closed to the public and clears away unfinished uploads; backups go after their time. The Worker gets
`bindings`: their names are known before anything is made, their values may not be. R2 deletes no bucket that holds
objects and this component empties none: destroying a throw-away stack with objects in a bucket fails until they are
removed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from . import bridged
from .lookup import Question
from .naming import physical_name
from .platform import r2
from .settings.storage import StorageSettings

TYPE: Final = "cloudflare-sandbox:index:SandboxStorage"
_GROUPS: Final = Question(
    what="the permission groups for the token of backups (storage.backups)",
    permission="Account API Tokens Write",
    setting="set storage.backups.token to false",
)
BINDINGS: Final[Mapping[str, str]] = {
    "files": "FILES_BUCKET",
    "backups": "BACKUP_BUCKET",
    "artifacts": "ARTIFACTS_BUCKET",
}
"""Names under which the Worker finds the buckets; the SDK looks for that of backups itself."""

Binding = dict[str, pulumi.Input[Any]]


@dataclass(frozen=True)
class StorageArgs:
    """What a SandboxStorage is made from."""

    settings: StorageSettings
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
        if "files" in buckets and settings.files.cors_origins:
            self._allow_browsers(buckets["files"])
        names: Any = {role: bucket.name for role, bucket in buckets.items()}
        self.bucket_names = pulumi.Output.from_input(names)
        self.backup_access_key_id = self.backup_secret_access_key = pulumi.Output.from_input(None)
        self.backup_endpoint = pulumi.Output.from_input(None)
        if "backups" in buckets:
            self._serve_backups(buckets["backups"])
        self.conversations_id = self._conversations()
        self.queue_name = self._events()
        self.register_outputs(self.outputs())

    def outputs(self) -> dict[str, pulumi.Output[Any]]:
        """Give the outputs under the names that state uses."""
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

    def _bucket(self, role: str, own_name: str | None) -> "bridged.R2Bucket":
        bucket = bridged.R2Bucket(
            f"{self._name}-{role}",
            account_id=self._args.account_id,
            name=own_name or physical_name(*self._args.prefix, role),
            jurisdiction=self._jurisdiction,
            location=self._args.settings.location,
            # The plugin would try to change the jurisdiction in place, which R2 cannot. The old bucket goes first:
            # while it holds objects R2 refuses that, and nothing else has changed by then.
            opts=self._child(holds_data=True, replace_on_changes=["jurisdiction"], delete_before_replace=True),
        )
        self.bindings[BINDINGS[role]] = _without_none(
            type="r2_bucket", bucket_name=bucket.name, jurisdiction=self._jurisdiction
        )
        return bucket

    def _close_and_tidy(self, role: str, bucket: "bridged.R2Bucket") -> None:
        named: dict[str, Any] = {
            "account_id": self._args.account_id,
            "bucket_name": bucket.name,
            "jurisdiction": self._jurisdiction,
        }
        bridged.R2ManagedDomain(f"{self._name}-{role}-public", **named, enabled=False, opts=self._child())
        # Deleting either of these leaves its rules in force, so they exist as long as the bucket: a rule is taken back
        # by sending the others. That of unfinished uploads is always sent, because setting any removes R2's own.
        bridged.R2BucketLifecycle(
            f"{self._name}-{role}-lifecycle", **named, rules=self._lifecycle(role), opts=self._child()
        )
        if role == "backups":
            days = self._args.settings.backups.lock_days
            rules: list[Any] = [r2.lock_rule(days)] if days else []
            bridged.R2BucketLock(f"{self._name}-{role}-lock", **named, rules=rules, opts=self._child())

    def _lifecycle(self, role: str) -> list[Any]:
        settings = self._args.settings
        rules = [r2.abort_rule()]
        if role == "backups":
            rules.append(r2.delete_rule("delete old backups", r2.BACKUP_PREFIX, settings.backups.keep_days))
        if role == "artifacts" and settings.artifacts.keep_days is not None:
            rules.append(r2.delete_rule("delete old artifacts", "", settings.artifacts.keep_days))
        return rules

    def _allow_browsers(self, bucket: "bridged.R2Bucket") -> None:
        allowed = {
            "methods": ["GET", "HEAD", "PUT"],
            "origins": list(self._args.settings.files.cors_origins),
            "headers": ["content-type"],
        }
        rules: list[Any] = [{"id": "browsers", "allowed": allowed, "expose_headers": ["etag"], "max_age_seconds": 3600}]
        bridged.R2BucketCors(
            f"{self._name}-files-cors",
            account_id=self._args.account_id,
            bucket_name=bucket.name,
            jurisdiction=self._jurisdiction,
            rules=rules,
            opts=self._child(),
        )

    def _serve_backups(self, bucket: "bridged.R2Bucket") -> None:
        account_id = pulumi.Output.from_input(self._args.account_id)
        self.bindings["BACKUP_BUCKET_NAME"] = {"type": "plain_text", "text": bucket.name}
        self.bindings["CLOUDFLARE_ACCOUNT_ID"] = {"type": "plain_text", "text": account_id}
        jurisdiction = self._jurisdiction
        if jurisdiction is not None:
            self.backup_endpoint = account_id.apply(lambda account: r2.endpoint(account, jurisdiction))
            self.bindings["BACKUP_BUCKET_ENDPOINT"] = {"type": "plain_text", "text": self.backup_endpoint}
        if not self._args.settings.backups.token:
            return
        token = self._backup_token(bucket, account_id)
        self.backup_access_key_id = pulumi.Output.secret(token.id)
        self.backup_secret_access_key = pulumi.Output.secret(token.value.apply(r2.secret_access_key))
        self.bindings["R2_ACCESS_KEY_ID"] = {"type": "secret_text", "text": self.backup_access_key_id}
        self.bindings["R2_SECRET_ACCESS_KEY"] = {"type": "secret_text", "text": self.backup_secret_access_key}

    def _backup_token(self, bucket: "bridged.R2Bucket", account_id: pulumi.Output[str]) -> "bridged.AccountToken":
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
        return bridged.AccountToken(
            f"{self._name}-backups-token",
            account_id=account_id,
            name=settings.backups.token_name or physical_name(*self._args.prefix, "backups"),
            policies=[policy],
            opts=self._child(),
        )

    def _permission_groups(self) -> pulumi.Output[list[str]]:
        found = bridged.get_account_api_token_permission_groups_list_output(
            account_id=self._args.account_id, scope=r2.TOKEN_SCOPE, opts=pulumi.InvokeOutputOptions(parent=self)
        )
        groups = _GROUPS.told(found.results)
        return groups.apply(lambda groups: _ids_of({group.name: group.id for group in groups}))

    def _conversations(self) -> pulumi.Output[str | None]:
        settings = self._args.settings.conversations
        if not settings.enabled:
            return pulumi.Output.from_input(None)
        namespace = bridged.WorkersKvNamespace(
            f"{self._name}-conversations",
            account_id=self._args.account_id,
            title=settings.name or physical_name(*self._args.prefix, "conversations"),
            opts=self._child(holds_data=True),
        )
        self.bindings["CONVERSATIONS"] = {"type": "kv_namespace", "namespace_id": namespace.id}
        return namespace.id.apply(lambda namespace_id: namespace_id)

    def _events(self) -> pulumi.Output[str | None]:
        settings = self._args.settings.events
        if not settings.enabled:
            return pulumi.Output.from_input(None)
        queue = bridged.Queue(
            f"{self._name}-events",
            account_id=self._args.account_id,
            queue_name=settings.name or physical_name(*self._args.prefix, "events"),
            opts=self._child(holds_data=True),
        )
        self.bindings["EVENTS"] = {"type": "queue", "queue_name": queue.queue_name}
        return queue.queue_name.apply(lambda queue_name: queue_name)


def _without_none(**fields: Any) -> Binding:
    return {name: value for name, value in fields.items() if value is not None}


def _ids_of(groups: Mapping[str, str]) -> list[str]:
    missing = [name for name in r2.READ_AND_WRITE if name not in groups]
    if missing:
        raise ValueError(
            f"storage.backups: the account has no permission group {missing[0]!r} to give a token; set "
            "token_permission_groups to the ids of the groups to use, or token to false"
        )
    return [groups[name] for name in r2.READ_AND_WRITE]
