"""Settings `storage`: the buckets of a stack by role, conversations in KV, and a queue for events."""

from typing import Annotated

from pydantic import AfterValidator, Field

from ..platform import api, r2, storage
from .base import Section, each, is_binding_name, matching, rule

BucketName = Annotated[
    str,
    matching(
        r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]",
        "use 3 to 63 lower-case letters, digits and inner hyphens, as R2 names buckets",
    ),
]
NamespaceTitle = Annotated[
    str,
    matching(r"[ -~]{1,512}", "use 1 to 512 characters of plain text"),
]
QueueName = Annotated[
    str,
    matching(r"[a-z0-9]|[a-z0-9][a-z0-9-]{0,61}[a-z0-9]", "use 1 to 63 lower-case letters, digits and inner hyphens"),
]


def _is_origin(origin: str) -> None:
    scheme, _, rest = origin.partition("://")
    if scheme not in {"http", "https"} or not rest or set(rest) & set("/?#@ *"):
        raise ValueError(f"{origin!r} is no origin; give scheme and host alone, such as https://app.example.com")


def _is_group(group: str) -> None:
    if len(group) != 32 or set(group) - set("0123456789abcdef"):
        raise ValueError(f"{group!r} is no permission group; give its id, 32 hexadecimal digits")


def _days(least: int, why: str) -> AfterValidator:
    def check(days: int) -> int:
        if not least <= days <= r2.LONGEST_KEEP_DAYS:
            raise ValueError(f"use {least} to {r2.LONGEST_KEEP_DAYS} days; {why}")
        return days

    return AfterValidator(check)


class BucketSettings(Section):
    """A bucket."""

    enabled: bool = True
    """Whether there is one."""
    name: BucketName | None = None
    """Its name in the account; derived from the stack if left out."""


class FilesSettings(BucketSettings):
    """The bucket for files of users, which sandboxes can mount."""

    cors_origins: Annotated[tuple[str, ...], each(_is_origin)] = ()
    """Origins whose pages may read and write it with presigned URLs."""


class BackupsSettings(BucketSettings):
    """The bucket in which the SDK keeps backups of sandboxes; without it backups are refused."""

    keep_days: Annotated[
        int, _days(r2.BACKUP_DAYS, f"the SDK promises to restore a backup for {r2.BACKUP_DAYS} days")
    ] = 7
    """Backups older than this are deleted; the SDK itself deletes none."""
    lock_days: Annotated[int, _days(0, "0 means no lock")] = 0
    """Nobody can delete or overwrite a backup younger than this; a bucket with locked objects cannot be destroyed."""
    token: bool = True
    """Whether a token for this bucket alone is minted; if not, give the secrets R2_ACCESS_KEY_ID and
    R2_SECRET_ACCESS_KEY yourself."""
    token_name: Annotated[str, matching(r"[ -~]{1,120}", "use 1 to 120 characters of plain text")] | None = None
    """Name of the token; derived from the stack if left out."""
    token_permission_groups: Annotated[tuple[str, ...], each(_is_group)] = ()
    """Ids of the token's permission groups; those for reading and writing objects are looked up if left out."""

    @rule
    def _lock_ends_before_deletion(self) -> None:
        if self.lock_days > self.keep_days:
            raise ValueError(
                f"a lock of {self.lock_days} days outlasts keep_days of {self.keep_days}, and locked objects are not "
                "deleted; raise keep_days or lower lock_days"
            )

    @rule
    def _groups_are_for_the_token(self) -> None:
        if self.token_permission_groups and not self.token:
            raise ValueError("token_permission_groups are for the token; set token to true or leave them out")
        if self.token_name and not self.token:
            raise ValueError("token_name is for the token; set token to true or leave it out")


class ArtifactsSettings(BucketSettings):
    """The bucket for what builds produce."""

    keep_days: Annotated[int, _days(1, "leave it out to keep artifacts for ever")] | None = None
    """Artifacts older than this are deleted; kept for ever if left out."""


class ConversationsSettings(Section):
    """The KV namespace in which chat agents keep which conversation has which sandbox."""

    enabled: bool = True
    """Whether there is one."""
    name: NamespaceTitle | None = None
    """Its title in the account; derived from the stack if left out."""


class EventsSettings(Section):
    """The queue to which the Worker sends events."""

    enabled: bool = False
    """Whether there is one."""
    name: QueueName | None = None
    """Its name in the account; derived from the stack if left out."""


class ExistingBucketSettings(Section):
    """A bucket that was there before the stack."""

    name: BucketName
    """Its name in the account."""
    jurisdiction: r2.Jurisdiction = r2.DEFAULT_JURISDICTION
    """Where its objects stay."""


class ExistingNamespaceSettings(Section):
    """A KV namespace that was there before the stack."""

    id: Annotated[str, matching(r"[0-9a-f]{32}", "give the namespace's id, 32 hexadecimal digits")]
    """Its id."""
    title: NamespaceTitle
    """Its title in the account."""


class ExistingStorageSettings(Section):
    """What was there before the stack: taken into its state as it is, and never deleted by it."""

    buckets: Annotated[dict[str, ExistingBucketSettings], each(is_binding_name)] = Field(default_factory=dict)
    """Buckets by the name under which the Worker finds them."""
    namespaces: Annotated[dict[str, ExistingNamespaceSettings], each(is_binding_name)] = Field(default_factory=dict)
    """KV namespaces by the name under which the Worker finds them."""
    create: bool = False
    """Whether they are made with the stack instead, and go with it, in an account that does not have them;
    `sandbox-stack local` sets it."""

    @rule
    def _names_differ(self) -> None:
        for name in sorted(self.buckets.keys() & self.namespaces.keys()):
            raise ValueError(f"{name} is a bucket and a namespace; rename one")


class StorageSettings(Section):
    """What a stack keeps outside its sandboxes."""

    files: FilesSettings = FilesSettings()
    """The bucket for files."""
    backups: BackupsSettings = BackupsSettings()
    """The bucket for backups."""
    artifacts: ArtifactsSettings = ArtifactsSettings()
    """The bucket for build artifacts."""
    conversations: ConversationsSettings = ConversationsSettings()
    """Where chat agents remember conversations."""
    events: EventsSettings = EventsSettings()
    """Where events go."""
    existing: ExistingStorageSettings = ExistingStorageSettings()
    """What was there before the stack and is taken over."""
    jurisdiction: r2.Jurisdiction = r2.DEFAULT_JURISDICTION
    """Where objects are guaranteed to stay. A bucket cannot move: a change makes new buckets, which a lasting stack
    refuses because the old ones are protected."""
    location: r2.Location | None = None
    """Where buckets should lie when they are first made; a wish, without effect later."""

    @rule
    def _location_lies_in_jurisdiction(self) -> None:
        within = r2.LOCATIONS[self.jurisdiction]
        if self.location is not None and self.location not in within:
            raise ValueError(
                f"location {self.location} is outside the jurisdiction {self.jurisdiction}; use one of "
                f"{', '.join(sorted(within))}, or leave it out"
            )

    @rule
    def _buckets_differ(self) -> None:
        roles: dict[str, str] = {}
        for role, bucket in self.buckets.items():
            if bucket.name in roles:
                raise ValueError(f"{roles[bucket.name]} and {role} have the same name; give each a bucket of its own")
            if bucket.name is not None:
                roles[bucket.name] = role

    @property
    def used(self) -> bool:
        """Whether anything is kept at all."""
        return bool(self.buckets or self.conversations.enabled or self.events.enabled)

    @property
    def binding_names(self) -> list[str]:
        """Names of the Worker's bindings for what is made here."""
        names = [storage.BINDINGS[role] for role in storage.STORES if getattr(self, role).enabled]
        if self.backups.enabled:
            names += [storage.BACKUP_NAME, api.ACCOUNT_ID]
            names += [] if self.jurisdiction == r2.DEFAULT_JURISDICTION else [storage.BACKUP_ENDPOINT]
            names += [storage.BACKUP_KEY_ID, storage.BACKUP_SECRET] if self.backups.token else []
        return names

    @property
    def buckets(self) -> dict[str, BucketSettings]:
        """The buckets there are, by role."""
        every: dict[str, BucketSettings] = {role: getattr(self, role) for role in storage.BUCKETS}
        return {role: bucket for role, bucket in every.items() if bucket.enabled}
