"""State and rules of Access.

Applications belong to an account or a zone, policies to the account. What a body set comes back; where the API derives
one field from another (domain, self_hosted_domains, destinations) it is derived here too.
"""

import re
import secrets
from datetime import timedelta
from typing import Any

from emulator.calls import Call, Result
from emulator.clock import stamp, uuid_id
from emulator.collection import Collection
from emulator.paging import page_of
from emulator.schema import without_nulls
from emulator.store import Document

from . import bodies, errors

_DURATION = re.compile(r"(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?")
_READ_ONLY = frozenset({"id", "uid", "aud", "app_count", "reusable", "created_at", "updated_at"})
_SECRETS = frozenset({"client_secret", "password", "token"})
_CONCEALED = "*" * 34
WITH_DOMAIN = frozenset({"self_hosted", "ssh", "vnc", "rdp"})
WITH_TARGETS = frozenset({"infrastructure", "rdp"})

APPS = Collection("access_app", "app_id", errors.NO_APP, labels={"domain": "domain"})
GROUPS = Collection("access_group", "group_id", errors.NO_GROUP)
SERVICE_TOKENS = Collection("access_service_token", "service_token_id", errors.NO_SERVICE_TOKEN)
# Also where an application of a zone refers to them.
POLICIES = Collection("access_policy", "policy_id", errors.NO_POLICY, scope=lambda call: call.account_id)


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


def list_apps(call: Call) -> Result:
    """Applications that fit the filters: part of a name or domain unless `exact`, and anything of them by `search`."""
    wanted, exact, search = call.query.given("name", "domain"), call.flag("exact"), call.query.get("search")
    aud = call.query.get("aud")
    found = [
        app
        for app in APPS.all(call)
        if aud in ("", app.get("aud"))
        and all(_like(app.get(name), value, exact=exact) for name, value in wanted.items())
        and any(_like(app.get(name), search) for name in ("name", "domain", "aud"))
    ]
    return _page(call, found)


def _page(call: Call, found: list[Document]) -> Result:
    return page_of(call, found, default=25, most=1000)


def _named(call: Call, documents: list[Document]) -> Result:
    """Those of a name, or with a word in the name."""
    name, search = call.query.get("name"), call.query.get("search")
    return _page(call, [each for each in documents if name in ("", each["name"]) and _like(each["name"], search)])


def _like(value: object, wanted: str, *, exact: bool = False) -> bool:
    text = str(value or "")
    return text == wanted if exact else wanted.lower() in text.lower()


def create_app(call: Call, body: Document) -> Document:
    """Create an application."""
    return _write_app(call, body, None)


def replace_app(call: Call) -> Document:
    """Replace an application."""
    former = APPS.get(call)
    return _write_app(call, call.body(bodies.APP, errors.INVALID), former)


def _write_app(call: Call, body: Document, former: Document | None) -> Document:
    app = settable(body)
    if app["type"] in WITH_TARGETS and "target_criteria" not in app:
        raise errors.INVALID(problem="target_criteria is required")
    _derive_domains(app)
    own = former.get("policies") if former else None
    if "policies" in app:
        app["policies"] = _links(call, app["policies"], own or [])
    elif own:
        app["policies"] = own  # who does not speak of policies does not take them away
    whole = {**app, "aud": former["aud"] if former else secrets.token_hex(32), **_identity(call, former)}
    if app.get("domain") and APPS.is_taken(call, "domain", app["domain"], whole["id"]):
        raise errors.APP_EXISTS()
    return APPS.put(call, whole)


def _identity(call: Call, former: Document | None) -> Document:
    now = call.state.clock.stamp()
    created = former or {"id": uuid_id(), "created_at": now}
    return {"id": created["id"], "created_at": created["created_at"], "updated_at": now}


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


def list_policies(call: Call) -> Result:
    """List reusable policies, each with the number of applications that refer to it."""
    listed, counts = _page(call, POLICIES.all(call)), uses(call)
    listed.result = [{**policy, "app_count": counts.get(policy["id"], 0)} for policy in listed.result]
    return listed


def get_policy(call: Call) -> Document:
    """Read a reusable policy."""
    policy = POLICIES.get(call)
    return {**policy, "app_count": uses(call).get(policy["id"], 0)}


def create_policy(call: Call, body: Document) -> Document:
    """Create a reusable policy."""
    return POLICIES.put(call, {**settable(body), "reusable": True, **_identity(call, None)})


def replace_policy(call: Call) -> Document:
    """Replace a reusable policy."""
    former = POLICIES.get(call)
    body = call.body(bodies.POLICY, errors.INVALID)
    return POLICIES.put(call, {**settable(body), "reusable": True, **_identity(call, former)})


def uses(call: Call) -> dict[str, int]:
    """How many applications of the account and its zones refer to each policy."""
    zones = [zone["id"] for zone in call.store.find("zone", "", "account", call.account_id)]
    counts: dict[str, int] = {}
    for place in (call.account_id, *zones):
        for app in call.store.select("access_app", place):
            for entry in app.get("policies", []):
                counts[entry["id"]] = counts.get(entry["id"], 0) + 1
    return counts


def delete_policy(call: Call) -> Document:
    """Remove a policy that no application refers to."""
    count = uses(call).get(POLICIES.get(call)["id"], 0)
    if count:
        raise errors.POLICY_IN_USE(count=count)
    return POLICIES.delete(call)


# Groups


def list_groups(call: Call) -> Result:
    """List groups."""
    return _named(call, GROUPS.all(call))


def create_group(call: Call, body: Document) -> Document:
    """Create a group."""
    return _write_group(call, body, None)


def replace_group(call: Call, body: Document) -> Document:
    """Replace a group."""
    return _write_group(call, body, GROUPS.get(call))


def _write_group(call: Call, body: Document, former: Document | None) -> Document:
    group = {"exclude": [], "require": [], "is_default": [], **settable(body), **_identity(call, former)}
    if not isinstance(group["is_default"], list):
        group["is_default"] = group["include"] if group["is_default"] else []
    return GROUPS.put(call, group)


# Service tokens


def list_service_tokens(call: Call) -> Result:
    """List service tokens."""
    return _named(call, SERVICE_TOKENS.all(call))


def create_service_token(call: Call, body: Document) -> Document:
    """Mint a service token."""
    token = {"id": uuid_id(), "client_id": f"{secrets.token_hex(16)}.access", "created_at": call.state.clock.stamp()}
    return _with_secret(call, {**token, **_duration(call, body)})


def rotate_service_token(call: Call) -> Document:
    """Change the secret of a service token."""
    return _with_secret(call, SERVICE_TOKENS.get(call))


def _with_secret(call: Call, token: Document) -> Document:
    """Put a new secret into a service token and show it, which happens only here."""
    secret = secrets.token_hex(32)
    kept = _put_service_token(call, {**token, "secret": call.state.vault.seal(secret)})
    return {**service_token_view(call, kept), "client_secret": secret}


def change_service_token(call: Call, body: Document) -> Document:
    """Change the name or lifetime of a service token."""
    token = SERVICE_TOKENS.get(call)
    return _put_service_token(
        call, {**token, **_duration(call, {"duration": token["duration"], **without_nulls(body)})}
    )


def refresh_service_token(call: Call) -> Document:
    """Start a service token's lifetime anew."""
    token = SERVICE_TOKENS.get(call)
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
    expires = call.state.clock.now() + timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return {**given, "expires_at": stamp(expires)}


def _put_service_token(call: Call, token: Document) -> Document:
    token["updated_at"] = call.state.clock.stamp()
    return SERVICE_TOKENS.put(call, token)


def delete_service_token(call: Call) -> Document:
    """Remove a service token; what it was."""
    token = SERVICE_TOKENS.get(call)
    SERVICE_TOKENS.delete(call)
    return token


def service_token_view(_call: Call, token: Document) -> Document:
    """A service token without its secret."""
    return {name: value for name, value in token.items() if name != "secret"}
