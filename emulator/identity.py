"""Who is calling, and what that token may do.

Tokens given at start and tokens minted through the API are treated alike: groups of permissions on resources.
Values are never kept, only their hashes.
"""

from dataclasses import dataclass
from datetime import datetime

from .clock import parse_stamp
from .permissions import ACCOUNT, BY_ID, USER, ZONE, satisfies
from .settings import EVERYTHING, Settings, token_digest
from .store import Document, Store


@dataclass(frozen=True)
class Grant:
    """Permission groups on resources."""

    allow: bool
    groups: frozenset[str]
    resources: frozenset[str]


@dataclass(frozen=True)
class Identity:
    """A token that was recognised."""

    id: str
    name: str
    grants: tuple[Grant, ...]
    root: bool = False
    document: Document | None = None  # of a minted token

    def status(self, now: datetime) -> str:
        """`active`, or why the token cannot be used."""
        if self.document is None:
            return "active"
        expires, begins = (parse_stamp(self.document.get(name) or "") for name in ("expires_on", "not_before"))
        if expires is not None and expires <= now:
            return "expired"
        if begins is not None and begins > now:
            return "disabled"
        return str(self.document.get("status", "active"))

    def allows(self, needs: tuple[str, ...], resources: tuple[str, ...]) -> bool:
        """Whether one of the needed groups is held on one of the resources, and exactly that group not denied there."""
        here = [grant for grant in self.grants if any(_covers(grant.resources, each) for each in resources)]
        held = [grant.groups for grant in here if grant.allow]
        left = [need for need in needs if not any(need in grant.groups for grant in here if not grant.allow)]
        return any(EVERYTHING in groups or satisfies(groups, need) for groups in held for need in left)

    def touches(self, resources: tuple[str, ...]) -> bool:
        """Whether the token has anything to do with one of these resources."""
        return any(grant.allow and any(_covers(grant.resources, each) for each in resources) for grant in self.grants)


def _covers(held: frozenset[str], resource: str) -> bool:
    if EVERYTHING in held or resource in held:
        return True
    return f"{resource.rpartition('.')[0]}.*" in held


def account_resources(account_id: str) -> tuple[str, ...]:
    """Names under which a policy can mean an account."""
    return (f"{ACCOUNT}.{account_id}",)


def zone_resources(zone_id: str, account_id: str) -> tuple[str, ...]:
    """Names under which a policy can mean a zone: itself, or all zones of its account."""
    nested = f"/{ZONE}.{zone_id}"
    own = f"{ACCOUNT}.{account_id}"
    return (f"{ZONE}.{zone_id}", own + nested, f"{ACCOUNT}.*" + nested, own)


def user_resources(user_id: str) -> tuple[str, ...]:
    """Names under which a policy can mean the user."""
    return (f"{USER}.{user_id}",)


class Identities:
    """Recognises tokens; minted ones are documents of kind `token` labelled with their hash."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._store = store
        everything = frozenset({EVERYTHING})
        self._roots = {
            token.digest: Identity(
                token.digest[:32],
                token.name,
                (Grant(allow=True, groups=token.permissions, resources=everything),),
                root=token.permissions == everything,
            )
            for token in settings.tokens
        }
        self._known: dict[str, Identity] = {}

    def recognise(self, value: str) -> Identity | None:
        """The token's identity, or None for a token nobody gave or minted."""
        known = self._known.get(value)
        if known is not None:
            return known
        digest = token_digest(value)
        identity = self._roots.get(digest) or self._minted(digest)
        if identity is not None:
            self._known[value] = identity
        return identity

    def by_id(self, account: str, token_id: str) -> tuple[Identity, str] | None:
        """The token of this id that an account or the user has, and the hash of its value, R2's secret access key."""
        for digest, identity in self._roots.items():
            if identity.id == token_id:
                return identity, digest
        document = self._store.get("token", account, token_id) or self._store.get("token", "user", token_id)
        if document is None:
            return None
        return Identity(document["id"], document["name"], grants_of(document), document=document), document["digest"]

    def forget(self) -> None:
        """Look again: a minted token was changed or deleted."""
        self._known.clear()

    def _minted(self, digest: str) -> Identity | None:
        found = self._store.find_anywhere("token", "digest", digest)
        if not found:
            return None
        _, document = found[0]
        return Identity(document["id"], document["name"], grants_of(document), document=document)


def grants_of(document: Document) -> tuple[Grant, ...]:
    """The policies of a token document."""
    return tuple(
        Grant(
            allow=policy["effect"] == "allow",
            groups=frozenset(BY_ID[group["id"]].name for group in policy["permission_groups"]),
            resources=frozenset(_flatten(policy["resources"])),
        )
        for policy in document["policies"]
    )


def _flatten(resources: Document) -> list[str]:
    """Nested resources (`account: {zone.*: "*"}`) as `account/zone.*`."""
    flat: list[str] = []
    for name, value in resources.items():
        flat += [f"{name}/{inner}" for inner in value] if isinstance(value, dict) else [name]
    return flat
