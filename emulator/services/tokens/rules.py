"""State and rules of API tokens.

Only the hash of a token's value is kept, so the answer to its creation (or roll) is the only place it can be read.
Policies come back in the order and with the spelling they were sent in.
"""

import secrets
from typing import Any

from emulator.calls import Call
from emulator.clock import hex_id, parse_stamp
from emulator.errors import INVALID_TOKEN
from emulator.identity import Identity
from emulator.permissions import ACCOUNT, BY_ID, GROUPS, R2_BUCKET, ZONE
from emulator.settings import token_digest
from emulator.store import Document

from . import errors

USER_SCOPE = "user"
_KIND = "token"


def scope(call: Call) -> str:
    """Where the path's tokens are: an account's, or the user's."""
    return call.account_id or USER_SCOPE


def create_token(call: Call, body: Document) -> tuple[Document, str]:
    """Mint a token; its document and its value."""
    now = call.world.clock.stamp()
    token = {"id": hex_id(), "issued_on": now, "modified_on": now, "last_used_on": None, "status": "active"}
    return _write(call, {**token, **_settable(call, body)}, secrets.token_urlsafe(30))


def replace_token(call: Call, body: Document) -> Document:
    """Set a token anew; its value stays."""
    former = get_token(call)
    kept = {name: former[name] for name in ("id", "issued_on", "last_used_on", "status")}
    token = {**kept, "modified_on": call.world.clock.stamp(), **_settable(call, body)}
    return _store(call, token, former["digest"])


def roll_token(call: Call) -> str:
    """Give a token another value; the former one is worthless at once."""
    token = get_token(call)
    _, value = _write(call, {**token, "modified_on": call.world.clock.stamp()}, secrets.token_urlsafe(30))
    return value


def _write(call: Call, token: Document, value: str) -> tuple[Document, str]:
    return _store(call, token, token_digest(value)), value


def _store(call: Call, token: Document, digest: str) -> Document:
    call.world.identities.forget()
    document = {**token, "digest": digest, "owner": scope(call)}
    return call.store.put(_KIND, scope(call), token["id"], document, labels={"digest": digest})


def _settable(call: Call, body: Document) -> Document:
    given = {name: body[name] for name in ("name", "condition", "expires_on", "not_before") if body.get(name)}
    for name in ("expires_on", "not_before"):
        if name in given and parse_stamp(given[name]) is None:
            raise errors.BAD_TOKEN(problem=f"{name} must be a date and time as in RFC 3339")
    expires = parse_stamp(given.get("expires_on", ""))
    if expires is not None and expires <= call.world.clock.now():
        raise errors.BAD_TOKEN(problem="expires_on must be in the future")
    if body.get("status"):
        given["status"] = body["status"]
    given["policies"] = [_policy(call, policy) for policy in body["policies"]]
    return given


def _policy(call: Call, policy: Document) -> Document:
    if call.account_id:
        _confine(call, policy["resources"])
    groups = []
    for group in policy["permission_groups"]:
        known = BY_ID.get(group["id"])
        if known is None:
            raise errors.NO_GROUP(group=group["id"])
        groups.append({"id": known.id, "name": known.name})
    return {
        "id": policy.get("id") or hex_id(),
        "effect": policy["effect"],
        "resources": policy["resources"],
        "permission_groups": groups,
    }


def _confine(call: Call, resources: Document) -> None:
    """Refuse what lies outside the account: its token must not open another account, nor the zones of all."""
    account = f"{ACCOUNT}.{call.account_id}"
    for name, inner in resources.items():
        if name == account:
            nested = inner if isinstance(inner, dict) else {}
            foreign = [each for each in nested if each != f"{ZONE}.*" and not _own_zone(call, each)]
        elif name == f"{ZONE}.*":
            raise errors.NOT_NESTED()
        else:
            own = _own_zone(call, name) or name.startswith(f"{R2_BUCKET}.{call.account_id}_")
            foreign = [] if own and isinstance(inner, str) else [name]
        if foreign:
            raise errors.FOREIGN(resource=foreign[0])


def _own_zone(call: Call, resource: str) -> bool:
    prefix, _, zone_id = resource.rpartition(".")
    zone = call.store.get("zone", "", zone_id) if prefix == ZONE else None
    return zone is not None and zone["account"]["id"] == call.account_id


def get_token(call: Call) -> Document:
    """The path's token."""
    token = call.store.get(_KIND, scope(call), call.params["token_id"])
    if token is None:
        raise errors.NO_TOKEN()
    return token


def delete_token(call: Call) -> None:
    """Revoke the path's token."""
    get_token(call)
    call.store.delete(_KIND, scope(call), call.params["token_id"])
    call.world.identities.forget()


def token_view(call: Call, token: Document) -> Document:
    """A token as it may be shown: no value, no hash, and whether it has expired by now."""
    shown = {name: value for name, value in token.items() if name not in ("digest", "owner")}
    shown["status"] = Identity(token["id"], token["name"], (), document=token).status(call.world.clock.now())
    return shown


def verify(call: Call) -> Document:
    """What has become of the calling token; a token of another owner is not known here."""
    token = call.identity.document
    if token is not None and token["owner"] != scope(call):
        raise INVALID_TOKEN()
    answer: dict[str, Any] = {"id": call.identity.id, "status": call.identity.status(call.world.clock.now())}
    for name in ("expires_on", "not_before"):
        if token is not None and name in token:
            answer[name] = token[name]
    return answer


def permission_groups(call: Call, scopes: tuple[str, ...]) -> list[Document]:
    """The groups a token can be given, by name and scope."""
    name, wanted = call.query.get("name"), call.query.get("scope")
    return [
        {"id": group.id, "name": group.name, "scopes": [group.scope]}
        for group in GROUPS
        if group.scope in scopes and name in ("", group.name) and wanted in ("", group.scope)
    ]
