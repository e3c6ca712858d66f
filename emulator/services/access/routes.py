"""Operations of Access; applications, groups and service tokens exist below accounts and below zones."""

from emulator.registry import PARTIAL, STORED, Service

from . import app_policies, bodies, errors, rules
from .rules import app_view, service_token_view

api = Service(
    "access",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
    invalid=errors.INVALID,
)

_APPS_READ, _APPS_WRITE = "Access: Apps and Policies Read", "Access: Apps and Policies Write"
_TOKENS_READ, _TOKENS_WRITE = "Access: Service Tokens Read", "Access: Service Tokens Write"
_GROUPS_READ = ("Access: Organizations, Identity Providers, and Groups Read", _APPS_READ)
_GROUPS_WRITE = ("Access: Organizations, Identity Providers, and Groups Write", _APPS_WRITE)
_KEPT = "kept and given back, secrets (of SaaS and SCIM) neither; enforced by nothing yet"
_HELD = "policies that name it do not hold it"
_OWN = "the application's own ones, no reusable ones"
_FILTERS = "filters name, search"
_POLICIES = "/accounts/{account_id}/access/policies"
_POLICY = _POLICIES + "/{policy_id}"
_TOKEN = "/accounts/{account_id}/access/service_tokens/{service_token_id}"  # noqa: S105 - a path


def _declare(owner: Service) -> None:
    """Declare the operations on applications, groups and service tokens of accounts or of zones."""
    apps, policies, groups, tokens = "/apps", "/apps/{app_id}/policies", "/groups", "/service_tokens"
    owner.absent("GET", apps + "/ca")
    filters = "filters name, domain, aud, exact, search"
    owner.get(apps, rules.list_apps, _APPS_READ, view=app_view, note=filters)
    owner.post(apps, rules.create_app, _APPS_WRITE, body=bodies.APP, view=app_view, status=201, note=_KEPT)
    app = apps + "/{app_id}"
    owner.get(app, rules.APPS.get, _APPS_READ, view=app_view, name="get_app")
    owner.put(app, rules.replace_app, _APPS_WRITE, view=app_view, note=_KEPT)
    owner.delete(app, rules.APPS.delete, _APPS_WRITE, status=202, name="delete_app")
    own, policy = bodies.APP_POLICY, policies + "/{policy_id}"
    owner.get(policies, app_policies.list_app_policies, _APPS_READ, note="reusable ones too")
    owner.post(policies, app_policies.create_app_policy, _APPS_WRITE, body=own, status=201, note=_KEPT)
    owner.get(policy, app_policies.get_app_policy, _APPS_READ)
    owner.put(policy, app_policies.replace_app_policy, _APPS_WRITE, body=own, note=_OWN)
    owner.delete(policy, app_policies.delete_app_policy, _APPS_WRITE, status=202, note=_OWN)
    group = groups + "/{group_id}"
    owner.get(groups, rules.list_groups, _GROUPS_READ, note=_FILTERS)
    owner.post(groups, rules.create_group, _GROUPS_WRITE, body=bodies.GROUP, status=201, note=_KEPT)
    owner.get(group, rules.GROUPS.get, _GROUPS_READ, name="get_group")
    owner.put(group, rules.replace_group, _GROUPS_WRITE, body=bodies.GROUP, note=_KEPT)
    owner.delete(group, rules.GROUPS.delete, _GROUPS_WRITE, status=202, name="delete_group", note=_HELD)
    token, shown, new = tokens + "/{service_token_id}", service_token_view, bodies.SERVICE_TOKEN
    secret = "the secret only here"  # noqa: S105 - a note
    owner.get(tokens, rules.list_service_tokens, _TOKENS_READ, view=shown, note=_FILTERS)
    owner.post(tokens, rules.create_service_token, _TOKENS_WRITE, body=new, status=201, note=secret)
    owner.get(token, rules.SERVICE_TOKENS.get, _TOKENS_READ, view=shown, name="get_service_token")
    owner.put(token, rules.change_service_token, _TOKENS_WRITE, body=bodies.SERVICE_TOKEN_CHANGE, view=shown)
    owner.delete(token, rules.delete_service_token, _TOKENS_WRITE, view=shown)


_declare(api.branch("/accounts/{account_id}/access", "account_", STORED))
_declare(api.branch("/zones/{zone_id}/access", "zone_", STORED))
_CREATE_POLICY = "rule contents are not checked"

api.get(_POLICIES, rules.list_policies, _APPS_READ)
api.post(_POLICIES, rules.create_policy, _APPS_WRITE, STORED, body=bodies.POLICY, status=201, note=_CREATE_POLICY)
api.get(_POLICY, rules.get_policy, _APPS_READ)
api.put(_POLICY, rules.replace_policy, _APPS_WRITE, STORED)
api.delete(_POLICY, rules.delete_policy, _APPS_WRITE, status=202, note="refused while an application refers to it")
api.post(_TOKEN + "/rotate", rules.rotate_service_token, _TOKENS_WRITE, PARTIAL, note="no grace period")
api.post(_TOKEN + "/refresh", rules.refresh_service_token, _TOKENS_WRITE, view=service_token_view)
