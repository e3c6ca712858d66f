"""Operations of Access; applications, groups and service tokens exist below accounts and below zones."""

from emulator.calls import Call, Result
from emulator.paging import page_of, page_of_kind
from emulator.registry import Fidelity, Service

from . import app_policies, bodies, errors, rules

api = Service(
    "access",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
)

_APPS_READ, _APPS_WRITE = "Access: Apps and Policies Read", "Access: Apps and Policies Write"
_TOKENS_READ, _TOKENS_WRITE = "Access: Service Tokens Read", "Access: Service Tokens Write"
_GROUPS_READ = ("Access: Organizations, Identity Providers, and Groups Read", _APPS_READ)
_GROUPS_WRITE = ("Access: Organizations, Identity Providers, and Groups Write", _APPS_WRITE)
_HELD = "policies that name it do not hold it"
_OWN = "the application's own ones, no reusable ones"
_POLICIES = "/accounts/{account_id}/access/policies"
_POLICY_PATH = _POLICIES + "/{policy_id}"


def _declare(owner: str, prefix: str) -> None:
    """Declare the operations on applications, groups and service tokens of accounts or of zones."""
    apps, tokens, groups = (f"{owner}/access/{name}" for name in ("apps", "service_tokens", "groups"))
    api.absent("GET", apps + "/ca")
    app, token = apps + "/{app_id}", tokens + "/{service_token_id}"
    policies, policy = app + "/policies", app + "/policies/{policy_id}"
    kept = "kept and given back, secrets (of SaaS and SCIM) neither; enforced by nothing yet"
    for method, path, needs, name, handler, note in (
        ("GET", apps, _APPS_READ, "list_apps", _list_apps, "filters name, domain, aud, exact, search"),
        ("POST", apps, _APPS_WRITE, "create_app", _create_app, kept),
        ("GET", app, _APPS_READ, "get_app", _get_app, ""),
        ("PUT", app, _APPS_WRITE, "replace_app", _replace_app, kept),
        ("DELETE", app, _APPS_WRITE, "delete_app", _delete_app, ""),
        ("GET", policies, _APPS_READ, "list_app_policies", _list_app_policies, "reusable ones too"),
        ("POST", policies, _APPS_WRITE, "create_app_policy", _create_app_policy, kept),
        ("GET", policy, _APPS_READ, "get_app_policy", _get_app_policy, ""),
        ("PUT", policy, _APPS_WRITE, "replace_app_policy", _replace_app_policy, _OWN),
        ("DELETE", policy, _APPS_WRITE, "delete_app_policy", _delete_app_policy, _OWN),
        ("GET", groups, _GROUPS_READ, "list_groups", _list_groups, "filters name, search"),
        ("POST", groups, _GROUPS_WRITE, "create_group", _create_group, kept),
        ("GET", groups + "/{group_id}", _GROUPS_READ, "get_group", _get_group, ""),
        ("PUT", groups + "/{group_id}", _GROUPS_WRITE, "replace_group", _replace_group, kept),
        ("DELETE", groups + "/{group_id}", _GROUPS_WRITE, "delete_group", _delete_group, _HELD),
        ("GET", tokens, _TOKENS_READ, "list_service_tokens", _list_service_tokens, "filters name, search"),
        ("POST", tokens, _TOKENS_WRITE, "create_service_token", _create_service_token, "the secret only here"),
        ("GET", token, _TOKENS_READ, "get_service_token", _get_service_token, ""),
        ("PUT", token, _TOKENS_WRITE, "change_service_token", _change_service_token, ""),
        ("DELETE", token, _TOKENS_WRITE, "delete_service_token", _delete_service_token, ""),
    ):
        declared = api.operation(
            method, path, needs=needs, fidelity=Fidelity.STORED, name=f"{prefix}_{name}", note=note
        )
        declared(handler)


def _list_apps(call: Call) -> Result:
    listed = page_of(call, rules.matching_apps(call), default=25, most=1000)
    listed.result = [rules.app_view(call, app) for app in listed.result]
    return listed


def _create_app(call: Call) -> Result:
    return Result(rules.app_view(call, rules.write_app(call, call.body(bodies.APP, errors.INVALID), None)), status=201)


def _get_app(call: Call) -> Result:
    return Result(rules.app_view(call, rules.get_app(call)))


def _replace_app(call: Call) -> Result:
    former = rules.get_app(call)
    return Result(rules.app_view(call, rules.write_app(call, call.body(bodies.APP, errors.INVALID), former)))


def _delete_app(call: Call) -> Result:
    app = rules.get_app(call)
    call.store.delete("access_app", rules.scope(call), app["id"])
    return Result({"id": app["id"]}, status=202)


def _list_app_policies(call: Call) -> Result:
    return page_of(call, app_policies.listed(call), default=25, most=1000)


def _create_app_policy(call: Call) -> Result:
    return Result(app_policies.create(call, call.body(bodies.APP_POLICY, errors.INVALID)), status=201)


def _get_app_policy(call: Call) -> Result:
    return Result(app_policies.found(call))


def _replace_app_policy(call: Call) -> Result:
    return Result(app_policies.replace(call, call.body(bodies.APP_POLICY, errors.INVALID)))


def _delete_app_policy(call: Call) -> Result:
    return Result({"id": app_policies.delete(call)}, status=202)


@api.operation("GET", _POLICIES, needs=_APPS_READ)
def list_policies(call: Call) -> Result:
    """List reusable policies."""
    listed = page_of_kind(call, "access_policy", call.account_id, default=25, most=1000)
    uses = rules.uses(call)
    listed.result = [{**policy, "app_count": uses.get(policy["id"], 0)} for policy in listed.result]
    return listed


@api.operation("POST", _POLICIES, needs=_APPS_WRITE, fidelity=Fidelity.STORED, note="rule contents are not checked")
def create_policy(call: Call) -> Result:
    """Create a reusable policy."""
    return Result(rules.write_policy(call, call.body(bodies.POLICY, errors.INVALID), None), status=201)


@api.operation("GET", _POLICY_PATH, needs=_APPS_READ)
def get_policy(call: Call) -> Result:
    """Read a reusable policy."""
    policy = rules.get_policy(call)
    return Result({**policy, "app_count": rules.uses(call).get(policy["id"], 0)})


@api.operation("PUT", _POLICY_PATH, needs=_APPS_WRITE, fidelity=Fidelity.STORED)
def replace_policy(call: Call) -> Result:
    """Replace a reusable policy."""
    former = rules.get_policy(call)
    return Result(rules.write_policy(call, call.body(bodies.POLICY, errors.INVALID), former))


@api.operation("DELETE", _POLICY_PATH, needs=_APPS_WRITE, note="refused while an application refers to it")
def delete_policy(call: Call) -> Result:
    """Delete a reusable policy."""
    rules.delete_policy(call)
    return Result({"id": call.params["policy_id"]}, status=202)


def _list_groups(call: Call) -> Result:
    return page_of(call, rules.matching_groups(call), default=25, most=1000)


def _create_group(call: Call) -> Result:
    return Result(rules.write_group(call, call.body(bodies.GROUP, errors.INVALID), None), status=201)


def _get_group(call: Call) -> Result:
    return Result(rules.get_group(call))


def _replace_group(call: Call) -> Result:
    return Result(rules.write_group(call, call.body(bodies.GROUP, errors.INVALID), rules.get_group(call)))


def _delete_group(call: Call) -> Result:
    group = rules.get_group(call)
    call.store.delete("access_group", rules.scope(call), group["id"])
    return Result({"id": group["id"]}, status=202)


def _list_service_tokens(call: Call) -> Result:
    listed = page_of(call, rules.matching_service_tokens(call), default=25, most=1000)
    listed.result = [rules.service_token_view(token) for token in listed.result]
    return listed


def _create_service_token(call: Call) -> Result:
    token, secret = rules.create_service_token(call, call.body(bodies.SERVICE_TOKEN, errors.INVALID))
    return Result({**rules.service_token_view(token), "client_secret": secret}, status=201)


def _get_service_token(call: Call) -> Result:
    return Result(rules.service_token_view(rules.get_service_token(call)))


def _change_service_token(call: Call) -> Result:
    token = rules.change_service_token(call, call.body(bodies.SERVICE_TOKEN_CHANGE, errors.INVALID))
    return Result(rules.service_token_view(token))


def _delete_service_token(call: Call) -> Result:
    token = rules.get_service_token(call)
    call.store.delete("access_service_token", rules.scope(call), token["id"])
    return Result(rules.service_token_view(token))


for _owner, _prefix in (("/accounts/{account_id}", "account"), ("/zones/{zone_id}", "zone")):
    _declare(_owner, _prefix)

_ONE_TOKEN = "/accounts/{account_id}/access/service_tokens/{service_token_id}"  # noqa: S105 - a path


@api.operation("POST", _ONE_TOKEN + "/rotate", needs=_TOKENS_WRITE, fidelity=Fidelity.PARTIAL, note="no grace period")
def rotate_service_token(call: Call) -> Result:
    """Give a service token another secret."""
    token, secret = rules.rotate_service_token(call)
    return Result({**rules.service_token_view(token), "client_secret": secret})


@api.operation("POST", _ONE_TOKEN + "/refresh", needs=_TOKENS_WRITE)
def refresh_service_token(call: Call) -> Result:
    """Start a service token's life time anew."""
    return Result(rules.service_token_view(rules.refresh_service_token(call)))
