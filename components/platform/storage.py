"""What a stack keeps outside its sandboxes, by role, and the names under which the Worker finds it.

Source: @cloudflare/sandbox 0.12.10 for what concerns backups, 2026-11-16; the other names are those of this package's
Worker (a test compares them with its declaration).
"""

from collections.abc import Mapping
from typing import Final

FILES, BACKUPS, ARTIFACTS = "files", "backups", "artifacts"
CONVERSATIONS, EVENTS = "conversations", "events"
BUCKETS: Final = (FILES, BACKUPS, ARTIFACTS)
STORES: Final = (*BUCKETS, CONVERSATIONS, EVENTS)
"""Every role: buckets, a KV namespace and a queue."""
BINDINGS: Final[Mapping[str, str]] = {
    FILES: "FILES_BUCKET",
    BACKUPS: "BACKUP_BUCKET",
    ARTIFACTS: "ARTIFACTS_BUCKET",
    CONVERSATIONS: "CONVERSATIONS",
    EVENTS: "EVENTS",
}
"""Names of the Worker's bindings by role; the SDK looks for that of backups itself."""
BACKUP_NAME, BACKUP_ENDPOINT = "BACKUP_BUCKET_NAME", "BACKUP_BUCKET_ENDPOINT"
BACKUP_KEY_ID, BACKUP_SECRET = "R2_ACCESS_KEY_ID", "R2_SECRET_ACCESS_KEY"
BACKUP_ACCOUNTS: Final = ("CLOUDFLARE_R2_ACCOUNT_ID", "CLOUDFLARE_ACCOUNT_ID")
"""Variables by which the SDK signs uploads of backups; of the last two one is enough."""
