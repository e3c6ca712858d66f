"""A token with exactly what a stack needs, on its account and zones alone, that ends."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from ..account.question import Question
from ..account.reader import Account
from ..errors import UserError
from ..platform import permissions
from ..provider.errors import Refusal, TransientError


@dataclass(frozen=True)
class NewToken:
    """A token that was made; its value can never be read again."""

    id: str
    name: str
    expires_on: str
    permissions: tuple[str, ...]
    value: str = field(repr=False)


def create(account: Account, asked: Question, name: str, *, days: int, now: datetime | None = None) -> NewToken:
    """Make the token; the one that asks must hold `Account API Tokens Write`."""
    needed = [each.label for each in asked.needs]
    path = f"/accounts/{account.account_id}/tokens"
    try:
        groups = account.client.get(f"{path}/permission_groups")
        ends = f"{(now or datetime.now(UTC)) + timedelta(days=days):%Y-%m-%dT%H:%M:%SZ}"
        body = {
            "name": name,
            "expires_on": ends,
            "policies": _policies(account, asked, groups),
        }
        made = account.client.once("POST", path, body=body).result
    except Refusal as refusal:
        if refusal.status not in (401, 403):
            raise UserError(f"{refusal}; no token was made") from None
        raise UserError(
            f"the token in use may not make tokens; use one with `{permissions.TOKENS.name}`, or make one in the "
            f"dashboard with: {', '.join(needed)}"
        ) from None
    except TransientError as error:
        raise UserError(
            f"{error}; whether the token was made is not known: delete {name!r} if it is among the account's tokens"
        ) from None
    return NewToken(made["id"], name, ends, tuple(needed), made["value"])


def _policies(account: Account, asked: Question, groups: list[Mapping[str, Any]]) -> list[dict[str, object]]:
    ids = {(each["name"], scope): each["id"] for each in groups for scope in each["scopes"]}
    of_account: list[str] = []
    of_zones: dict[str, list[str]] = {}
    for each in asked.needs:
        group = ids.get((each.permission.name, each.permission.product.scope))
        if group is None:
            raise UserError(f"the account knows no permission group {each.permission.name}; no token was made")
        if each.zone:
            of_zones.setdefault(_zone_id(account, asked, each.zone), []).append(group)
        else:
            of_account.append(group)
    return permissions.token_policies(account.account_id, of_account, of_zones)


def _zone_id(account: Account, asked: Question, zone: str) -> str:
    known = asked.zones.get(zone) or next(
        (str(each["id"]) for each in account.client.get("/zones", name=zone, **{"account.id": account.account_id})),
        None,
    )
    if known is None:
        raise UserError(
            f"the token in use sees no zone {zone}; give it `{permissions.ZONE_READ.name}` for the zone, or set the "
            "zone's id in the settings; no token was made"
        )
    return known
