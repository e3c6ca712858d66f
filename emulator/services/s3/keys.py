"""Access keys: a token's id with the SHA-256 of its value, or temporary ones made from such a pair.

What a key may do is what its token's policies say of the bucket or of the account's R2; a temporary key may do no more
than its parent, and only what it was made for.
"""

import hmac
from dataclasses import dataclass

from emulator.identity import Identity, account_resources
from emulator.permissions import R2_BUCKET
from emulator.services.r2 import temporary
from emulator.state import State
from emulator.store import Document

from . import errors

_ITEM, _ALL = "Workers R2 Storage Bucket Item", "Workers R2 Storage"


@dataclass(frozen=True)
class Bucket:
    """Where a request goes."""

    account: str
    jurisdiction: str
    name: str

    @property
    def place(self) -> str:
        """Where the account's buckets of this jurisdiction are in the store."""
        return f"{self.account}/{self.jurisdiction}"

    @property
    def scope(self) -> str:
        """Where everything of this bucket is."""
        return f"{self.place}/{self.name}"

    @property
    def resource(self) -> str:
        """As policies call it."""
        return f"{R2_BUCKET}.{self.account}_{self.jurisdiction}_{self.name}"


@dataclass(frozen=True)
class Key:
    """An access key, and what it may do."""

    secret: str
    identity: Identity
    limits: Document | None = None  # of a temporary one

    def require_bucket(self, bucket: Bucket, *, write: bool) -> None:
        """Refuse who has nothing to do in a bucket."""
        right = "Write" if write else "Read"
        of_bucket = self.identity.allows((f"{_ITEM} {right}",), (bucket.resource,))
        if not of_bucket and not self.identity.allows((f"{_ALL} {right}",), account_resources(bucket.account)):
            raise errors.DENIED()
        if self.limits and not temporary.is_for(self.limits, bucket.scope, write=write):
            raise errors.DENIED()

    def require(self, bucket: Bucket, *, write: bool, keys: tuple[str, ...] = (), prefix: str | None = None) -> None:
        """Refuse what the key may not do with these objects, or with a list of those that begin like this."""
        self.require_bucket(bucket, write=write)
        if self.limits and not temporary.covers(self.limits, keys, prefix):
            raise errors.DENIED()

    def require_account(self, account: str) -> None:
        """Refuse who may not see all buckets."""
        if self.limits or not self.identity.allows((f"{_ALL} Read",), account_resources(account)):
            raise errors.DENIED()


def find(state: State, account: str, access_key: str, session: str) -> Key:
    """The key of this id; the token of a temporary one is part of what its holder has to show."""
    limits = temporary.find(state, access_key)
    known = state.identities.by_id(account, limits["parent"] if limits else access_key)
    if known is None or known[0].status(state.clock.now()) != "active":
        raise errors.UNKNOWN_KEY()
    identity, digest = known
    if limits is None:
        if session:
            raise errors.UNKNOWN_KEY()
        return Key(digest, identity)
    if not hmac.compare_digest(state.vault.open(limits["session"]).encode(), session.encode()):
        raise errors.UNKNOWN_KEY()
    return Key(state.vault.open(limits["secret"]), identity, limits)
