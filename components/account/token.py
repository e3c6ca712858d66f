"""What the token of a deployment may do: as its policies say where it may read them, or as far as reads show.

Only reads. A token that may not read itself is asked for one harmless list of each product: a refusal says that the
permission is missing; an answer says nothing about writing, and the permission is told as one that cannot be seen.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Final

from ..facts.stack import Fact, Token
from ..platform import api
from ..platform.permissions import ACCOUNT, READ, WRITE, ZONE, ZONE_READ, label
from ..provider.api_client import Client
from ..provider.errors import Refusal
from ..settings.permissions import Need

ACTIVE: Final = "active"
_NOT_SHOWN: Final = (400, 401, 403, 404)
"""How the API refuses to verify or to show a token."""
_UNPERMITTED: Final = (9109, 10000)
"""Codes of a refusal for want of a permission; others are about the product, such as R2 that was never enabled."""
_UNKNOWN: Final = "refused as mistyped, revoked or another account's"
_NO_ZONE: Final = "no zone of this name is shown: it is not there, or this permission is missing"
_NO_ID: Final = "not asked, as the id of the zone is not known"


@dataclass(frozen=True)
class Verified:
    """What the API says of the client's token."""

    status: str
    """`active`, or why the token cannot be used."""
    expires: date | None = None
    path: str = ""
    """Where it is kept, with an account or with a user."""

    @property
    def usable(self) -> bool:
        """Whether anything else can be asked with it."""
        return self.status == ACTIVE

    def facts(self, needs: Sequence[Need]) -> Token:
        """Return what is known before its permissions are."""
        return Token(
            status=Fact(self.status, api.TOKEN),
            needed=Fact(frozenset(each.label for each in needs), "settings"),
            expires=Fact(self.expires, api.TOKEN) if self.path else None,
        )


def verified(client: Client, account_id: str) -> Verified:
    """Ask what the client's token is: one of the account, or of a user."""
    for owner in (f"/accounts/{account_id}/tokens", "/user/tokens"):
        try:
            found = client.get(f"{owner}/verify")
        except Refusal as refusal:
            if refusal.status not in _NOT_SHOWN:
                raise
        else:
            return Verified(str(found["status"]), _day(found.get("expires_on")), f"{owner}/{found['id']}")
    return Verified(_UNKNOWN)


def with_permissions(
    client: Client, account_id: str, token: Verified, needs: Sequence[Need], zones: Mapping[str, str | None]
) -> tuple[Token, dict[str, str]]:
    """Ask what a usable token may do; return the facts, and permissions that could not be seen with the reasons.

    `zones` has the ids of the zones that the needs are about.
    """
    facts = token.facts(needs)
    policies = _policies(client, token.path)
    if policies is not None:
        permissions = frozenset(held(policies, account_id, needs, zones))
        return replace(facts, permissions=Fact(permissions, api.TOKEN)), {}
    lacking, unseen = _probed(client, account_id, needs, zones)
    return replace(facts, refused=Fact(frozenset(lacking), api.TOKEN)), unseen


def _day(stamp: str | None) -> date | None:
    return datetime.fromisoformat(stamp).date() if stamp else None


def _policies(client: Client, path: str) -> list[Mapping[str, Any]] | None:
    """Return the policies of the token; None where it may not read itself."""
    try:
        found: list[Mapping[str, Any]] = client.get(path)["policies"]
    except Refusal as refusal:
        if refusal.status in _NOT_SHOWN:
            return None
        raise
    return found


def held(
    policies: Sequence[Mapping[str, Any]], account_id: str, needs: Sequence[Need], zones: Mapping[str, str | None]
) -> Iterator[str]:
    """Return the labels of what policies allow: on the account, on the zones, and on what the stack does not have."""
    account = {f"{ACCOUNT}.{account_id}", f"{ACCOUNT}.*"}
    about = {name: {*account, *_zone_names(account_id, zone_id or "*", "*")} for name, zone_id in zones.items()}
    ours = account.union(*about.values())
    others = {resource for each in policies for resource in _resources(each)} - ours
    # A zone that is not shown is one that may not be read; what else is allowed on some zone may be about it.
    hidden = {each for each in others if ZONE in each} if None in zones.values() else set()
    unread = {f"{ZONE_READ.product.name} {right}" for right in (READ, WRITE)}
    of_account = _on(policies, account)
    zoned = {each.permission.name for each in needs if each.zone}
    zoned -= {each.permission.name for each in needs if not each.zone}
    yield from (name for name in of_account if name not in zoned)
    for zone, resources in about.items():
        names = _on(policies, resources)
        names |= _on(policies, hidden) - unread if zones[zone] is None else set()
        yield from (label(name, zone) for name in names if name in zoned or name not in of_account)
    for each in policies:
        elsewhere = _resources(each) & (others - hidden)
        if each["effect"] == "allow" and elsewhere:
            yield from (label(str(group["name"]), min(elsewhere)) for group in each["permission_groups"])


def _zone_names(account_id: str, *ids: str) -> Iterator[str]:
    """Return the names under which a policy can mean zones, or with `*` every zone: by itself or in its account."""
    for each in ids:
        own = f"{ZONE}.{each}"
        yield own
        yield from (f"{ACCOUNT}.{account}/{own}" for account in (account_id, "*"))


def _on(policies: Sequence[Mapping[str, Any]], resources: set[str]) -> set[str]:
    """Return the names of the groups that are allowed on one of the resources, and denied on none."""
    named: dict[str, set[str]] = {"allow": set(), "deny": set()}
    for each in policies:
        if _resources(each) & resources:
            named[each["effect"]] |= {str(group["name"]) for group in each["permission_groups"]}
    return named["allow"] - named["deny"]


def _resources(policy: Mapping[str, Any]) -> set[str]:
    """Return the names of a policy's resources, with those inside others behind a slash."""
    return {
        each
        for name, value in policy["resources"].items()
        for each in ([f"{name}/{inner}" for inner in value] if isinstance(value, Mapping) else [name])
    }


def _probed(
    client: Client, account_id: str, needs: Sequence[Need], zones: Mapping[str, str | None]
) -> tuple[list[str], dict[str, str]]:
    """Read something of each product: what is refused is lacking, and of the rest writing is not seen."""
    lacking: list[str] = []
    unseen: dict[str, str] = {}
    for each in needs:
        zone_id = zones.get(each.zone)
        if each.zone and zone_id is None:
            unseen[each.label] = _NO_ZONE if each.permission == ZONE_READ else _NO_ID
            continue
        place = f"/zones/{zone_id}" if each.zone else f"/accounts/{account_id}"
        said = _refused(client, f"{place}{each.permission.product.probe}")
        if said is None:
            if each.permission.right != READ:
                unseen[each.label] = "reading is allowed; writing is not visible, as the token may not read itself"
        elif said.code in _UNPERMITTED:
            lacking.append(each.label)
        else:
            unseen[each.label] = f"not visible: {why(said)}"
    return lacking, unseen


def why(refusal: Refusal) -> str:
    """Say what was refused, for the one who reads what could not be seen."""
    place = str(refusal).partition(": ")[0]
    return f"{place} was refused ({refusal.status}{f', code {refusal.code}' if refusal.code else ''})"


def _refused(client: Client, path: str) -> Refusal | None:
    try:
        client.get(path)
    except Refusal as refusal:
        return refusal
    return None
