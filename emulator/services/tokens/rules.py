"""State and rules of API tokens.

Only the hash of a token's value is kept, so the answer to its creation (or roll) is the only place it can be read.
Policies come back in the order and with the spelling they were sent in.
"""

import secrets
from typing import Any

from emulator.calls import Call, Result
from emulator.clock import hex_id, parse_stamp
from emulator.collection import Collection
from emulator.errors import INVALID_TOKEN
from emulator.identity import Identity
from emulator.paging import is_descending, page_of
from emulator.permissions import ACCOUNT, BY_ID, GROUPS, R2_BUCKET, USER, ZONE
from emulator.settings import token_digest
from emulator.store import Document, pick

from . import errors

_USER = "user"
_ACCOUNT_SCOPES = (ACCOUNT, ZONE, R2_BUCKET)


def scope(call: Call) -> str:
    """Where the path's tokens are: an account's, or the user's."""
    return call.account_id or _USER


TOKENS = Collection("token", "token_id", errors.NO_TOKEN, labels={"digest": "digest"}, scope=scope)


def list_tokens(call: Call) -> Result:
    """List tokens."""
    tokens = [token_view(call, token) for token in TOKENS.all(call)]
    if not call.flag("include_expired"):
        tokens = [token for token in tokens if token["status"] != "expired"]
    return page_of(call, tokens[::-1] if is_descending(call) else tokens, most=50)


def create_token(call: Call, body: Document) -> Document:
    """Mint a token; the answer is the only one that holds its value."""
    now = call.state.clock.stamp()
    token = {"id": hex_id(), "issued_on": now, "modified_on": now, "last_used_on": None, "status": "active"}
    value = secrets.token_urlsafe(30)
    made = _store(call, {**token, **_settable(call, body)}, token_digest(value))
    return {**token_view(call, made), "value": value}


def replace_token(call: Call, body: Document) -> Document:
    """Set a token anew; its value stays."""
    former = TOKENS.get(call)
    kept = pick(former, "id", "issued_on", "last_used_on", "status")
    token = {**kept, "modified_on": call.state.clock.stamp(), **_settable(call, body)}
    return _store(call, token, former["digest"])


def roll_token(call: Call) -> str:
    """Change the value of a token; the former one is worthless at once."""
    token, value = TOKENS.get(call), secrets.token_urlsafe(30)
    _store(call, {**token, "modified_on": call.state.clock.stamp()}, token_digest(value))
    return value


def _store(call: Call, token: Document, digest: str) -> Document:
    call.state.identities.forget()
    return TOKENS.put(call, {**token, "digest": digest, "owner": scope(call)})


def _settable(call: Call, body: Document) -> Document:
    given = {name: body[name] for name in ("name", "condition", "expires_on", "not_before") if body.get(name)}
    for name in ("expires_on", "not_before"):
        if name in given and parse_stamp(given[name]) is None:
            raise errors.BAD_TOKEN(problem=f"{name} must be a date and time as in RFC 3339")
    expires = parse_stamp(given.get("expires_on", ""))
    if expires is not None and expires <= call.state.clock.now():
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


def delete_token(call: Call) -> Document:
    """Revoke the path's token."""
    call.state.identities.forget()
    return TOKENS.delete(call)


def token_view(call: Call, token: Document) -> Document:
    """A token as it may be shown: no value, no hash, and whether it has expired by now."""
    shown = {name: value for name, value in token.items() if name not in ("digest", "owner")}
    shown["status"] = Identity(token["id"], token["name"], (), document=token).status(call.state.clock.now())
    return shown


def verify(call: Call) -> Result:
    """What has become of the calling token; a token of another owner is not known here."""
    token = call.identity.document
    if token is not None and token["owner"] != scope(call):
        raise INVALID_TOKEN()
    answer: dict[str, Any] = {"id": call.identity.id, "status": call.identity.status(call.state.clock.now())}
    for name in ("expires_on", "not_before"):
        if token is not None and name in token:
            answer[name] = token[name]
    valid = {"code": 10000, "message": "This API Token is valid and active", "type": None}
    return Result(answer, messages=[valid] if answer["status"] == "active" else [])


def permission_groups(call: Call) -> list[Document]:
    """The groups a token can be given, by name and scope; only the user's can be about the user."""
    scopes = _ACCOUNT_SCOPES if call.account_id else (*_ACCOUNT_SCOPES, USER)
    name, wanted = call.query.get("name"), call.query.get("scope")
    return [
        {"id": group.id, "name": group.name, "scopes": [group.scope]}
        for group in GROUPS
        if group.scope in scopes and name in ("", group.name) and wanted in ("", group.scope)
    ]
