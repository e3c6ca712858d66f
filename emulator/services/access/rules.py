"""State and rules of Access.

Applications belong to an account or a zone, policies to the account. What a body set comes back; where the API derives
one field from another (domain, self_hosted_domains, destinations) it is derived here too.
"""

import re
import secrets
from datetime import timedelta
from typing import Any

from emulator.calls import Call
from emulator.clock import stamp, uuid_id
from emulator.schema import without_nulls
from emulator.store import Document

from . import errors

_DURATION = re.compile(r"(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?")
_READ_ONLY = frozenset({"id", "uid", "aud", "app_count", "reusable", "created_at", "updated_at"})
_SECRETS = frozenset({"client_secret", "password", "token"})
_CONCEALED = "*" * 34
WITH_DOMAIN = frozenset({"self_hosted", "ssh", "vnc", "rdp"})
WITH_TARGETS = frozenset({"infrastructure", "rdp"})


def scope(call: Call) -> str:
    """The path's account or zone."""
    return str(call.params.get("zone_id") or call.account_id)


def settable(body: Document) -> Document:
    """What of an application or policy is kept: not what the API makes itself and a client sends back, no secrets."""
    given = {name: value for name, value in body.items() if value is not None and name not in _READ_ONLY}
    if isinstance(given.get("saas_app"), dict):
        given["saas_app"] = {name: value for name, value in given["saas_app"].items() if name != "client_secret"}
    return {name: _concealed(value) for name, value in given.items()}


def _concealed(value: Any) -> Any:
    """The value with asterisks for secrets: answers must have these fields, and nothing here needs the content."""
    if isinstance(value, list):
        return [_concealed(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _CONCEALED if name in _SECRETS and item else _concealed(item) for name, item in value.items()}


# Applications


def matching_apps(call: Call) -> list[Document]:
    """Applications that fit the filters: part of a name or domain unless `exact`, and anything of them by `search`."""
    wanted, exact, search = call.query.given("name", "domain"), call.flag("exact"), call.query.get("search")
    aud = call.query.get("aud")
    return [
        app
        for app in call.store.select("access_app", scope(call))
        if aud in ("", app.get("aud"))
        and all(_like(app.get(name), value, exact=exact) for name, value in wanted.items())
        and any(_like(app.get(name), search) for name in ("name", "domain", "aud"))
    ]


def _like(value: object, wanted: str, *, exact: bool = False) -> bool:
    text = str(value or "")
    return text == wanted if exact else wanted.lower() in text.lower()


def write_app(call: Call, body: Document, former: Document | None) -> Document:
    """Create or replace an application."""
    now = call.world.clock.stamp()
    app = settable(body)
    if app["type"] in WITH_TARGETS and "target_criteria" not in app:
        raise errors.INVALID(problem="target_criteria is required")
    _derive_domains(app)
    own = former.get("policies") if former else None
    if "policies" in app:
        app["policies"] = _links(call, app["policies"], own or [])
    elif own:
        app["policies"] = own  # who does not speak of policies does not take them away
    identity = {
        "id": former["id"] if former else uuid_id(),
        "aud": former["aud"] if former else secrets.token_hex(32),
        "created_at": former["created_at"] if former else now,
        "updated_at": now,
    }
    _refuse_twin(call, app, identity["id"])
    return put_app(call, {**app, **identity})


def put_app(call: Call, app: Document) -> Document:
    """Write an application with the label its twins are found by."""
    labels = {"domain": app["domain"]} if "domain" in app else {}
    return call.store.put("access_app", scope(call), app["id"], app, labels=labels)


def _derive_domains(app: Document) -> None:
    if app["type"] not in WITH_DOMAIN:
        return
    public = [
        entry["uri"] for entry in app.get("destinations", []) if entry.get("type") == "public" and entry.get("uri")
    ]
    known = public or app.get("self_hosted_domains") or []
    if "domain" not in app:
        if not known and not app.get("destinations"):
            raise errors.INVALID(problem="domain is required")
        app["domain"] = known[0] if known else ""
    elif not known or app["domain"] not in known:
        # A changed domain wins over the lists the client read back and sent again.
        known = [app["domain"]]
        app["destinations"] = [{"type": "public", "uri": app["domain"]}]
    app["self_hosted_domains"] = list(known)
    app.setdefault("destinations", [{"type": "public", "uri": uri} for uri in known])


def _links(call: Call, entries: list[Any], former: list[Document]) -> list[Document]:
    own = {each["id"]: each for each in former if each.get("reusable") is False}
    links = [_link(call, entry, place, own) for place, entry in enumerate(entries, 1)]
    precedences = [link["precedence"] for link in links]
    if len(set(precedences)) != len(precedences):
        raise errors.INVALID(problem="policy precedences must be unique")
    return links


def _link(call: Call, entry: Any, place: int, own: dict[str, Document]) -> Document:
    """A policy of an application: a reference to a reusable one, or one of its own, new or there before."""
    if isinstance(entry, str):
        entry = {"id": entry}
    precedence = entry.get("precedence") or place
    if entry.get("id") in own:
        return {**own[entry["id"]], **settable(entry), "precedence": precedence}
    if entry.get("id"):
        if not call.store.has("access_policy", call.account_id, entry["id"]):
            raise errors.UNKNOWN_POLICY(policy=entry["id"])
        return {"id": entry["id"], "precedence": precedence}
    return {**settable(entry), "id": uuid_id(), "precedence": precedence, "reusable": False}


def _refuse_twin(call: Call, app: Document, own_id: str) -> None:
    if not app.get("domain"):
        return
    twins = call.store.find("access_app", scope(call), "domain", app["domain"])
    if any(twin["id"] != own_id for twin in twins):
        raise errors.APP_EXISTS()


def get_app(call: Call) -> Document:
    """The path's application."""
    app = call.store.get("access_app", scope(call), call.params["app_id"])
    if app is None:
        raise errors.NO_APP()
    return app


def app_view(call: Call, app: Document) -> Document:
    """An application with its policies written out, in the order of their precedence."""
    if "policies" not in app:
        return app
    policies = []
    for entry in sorted(app["policies"], key=lambda entry: int(entry["precedence"])):
        shared = call.store.get("access_policy", call.account_id, entry["id"]) or {}
        policies.append({**shared, **entry})
    return {**app, "policies": policies}


# Policies


def write_policy(call: Call, body: Document, former: Document | None) -> Document:
    """Create or replace a reusable policy."""
    now = call.world.clock.stamp()
    policy = {
        **settable(body),
        "id": former["id"] if former else uuid_id(),
        "reusable": True,
        "created_at": former["created_at"] if former else now,
        "updated_at": now,
    }
    return call.store.put("access_policy", call.account_id, policy["id"], policy)


def get_policy(call: Call) -> Document:
    """The path's policy."""
    policy = call.store.get("access_policy", call.account_id, call.params["policy_id"])
    if policy is None:
        raise errors.NO_POLICY()
    return policy


def uses(call: Call) -> dict[str, int]:
    """How many applications of the account and its zones refer to each policy."""
    zones = [zone["id"] for zone in call.store.find("zone", "", "account", call.account_id)]
    counts: dict[str, int] = {}
    for place in (call.account_id, *zones):
        for app in call.store.select("access_app", place):
            for entry in app.get("policies", []):
                counts[entry["id"]] = counts.get(entry["id"], 0) + 1
    return counts


def delete_policy(call: Call) -> None:
    """Remove a policy that no application refers to."""
    policy = get_policy(call)
    count = uses(call).get(policy["id"], 0)
    if count:
        raise errors.POLICY_IN_USE(count=count)
    call.store.delete("access_policy", call.account_id, policy["id"])


# Service tokens


def matching_service_tokens(call: Call) -> list[Document]:
    """Service tokens of a name, or with a word in the name."""
    name, search = call.query.get("name"), call.query.get("search")
    found = call.store.select("access_service_token", scope(call))
    return [token for token in found if name in ("", token["name"]) and _like(token["name"], search)]


def write_group(call: Call, body: Document, former: Document | None) -> Document:
    """Create or replace a group."""
    now = call.world.clock.stamp()
    group = {
        "exclude": [],
        "require": [],
        "is_default": [],
        **settable(body),
        "id": former["id"] if former else uuid_id(),
        "created_at": former["created_at"] if former else now,
        "updated_at": now,
    }
    if not isinstance(group["is_default"], list):
        group["is_default"] = group["include"] if group["is_default"] else []
    return call.store.put("access_group", scope(call), group["id"], group)


def get_group(call: Call) -> Document:
    """The path's group."""
    group = call.store.get("access_group", scope(call), call.params["group_id"])
    if group is None:
        raise errors.NO_GROUP()
    return group


def matching_groups(call: Call) -> list[Document]:
    """Groups of a name, or with a word in the name."""
    name, search = call.query.get("name"), call.query.get("search")
    found = call.store.select("access_group", scope(call))
    return [group for group in found if name in ("", group["name"]) and _like(group["name"], search)]


def create_service_token(call: Call, body: Document) -> tuple[Document, str]:
    """Mint a service token; its document and its secret."""
    token = {"id": uuid_id(), "client_id": f"{secrets.token_hex(16)}.access", "created_at": call.world.clock.stamp()}
    secret = secrets.token_hex(32)
    return _put_service_token(call, {**token, **_duration(call, body), "secret": call.world.vault.seal(secret)}), secret


def change_service_token(call: Call, body: Document) -> Document:
    """Rename a service token or give it another life time."""
    token = get_service_token(call)
    return _put_service_token(
        call, {**token, **_duration(call, {"duration": token["duration"], **without_nulls(body)})}
    )


def rotate_service_token(call: Call) -> tuple[Document, str]:
    """Give a service token another secret."""
    secret = secrets.token_hex(32)
    return _put_service_token(call, {**get_service_token(call), "secret": call.world.vault.seal(secret)}), secret


def refresh_service_token(call: Call) -> Document:
    """Start a service token's life time anew."""
    token = get_service_token(call)
    return _put_service_token(call, {**token, **_duration(call, {"duration": token["duration"]})})


def _duration(call: Call, body: Document) -> Document:
    settable = {name: body[name] for name in ("name", "duration", "enabled") if body.get(name) is not None}
    given = {"duration": "8760h", **settable}
    duration = given["duration"]
    if duration == "forever":
        return {**given, "expires_at": None}
    match = _DURATION.fullmatch(duration)
    if not duration or match is None:
        raise errors.INVALID(problem="duration must be like 8760h or 2h45m")
    hours, minutes, seconds = (min(int(part or 0), 876_000) for part in match.groups())
    expires = call.world.clock.now() + timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return {**given, "expires_at": stamp(expires)}


def _put_service_token(call: Call, token: Document) -> Document:
    token["updated_at"] = call.world.clock.stamp()
    return call.store.put("access_service_token", scope(call), token["id"], token)


def get_service_token(call: Call) -> Document:
    """The path's service token."""
    token = call.store.get("access_service_token", scope(call), call.params["service_token_id"])
    if token is None:
        raise errors.NO_SERVICE_TOKEN()
    return token


def service_token_view(token: Document) -> Document:
    """A service token without its secret."""
    return {name: value for name, value in token.items() if name != "secret"}
