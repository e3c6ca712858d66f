"""Operations of Access; applications and service tokens exist below accounts and below zones."""

from emulator.calls import Call, Result
from emulator.paging import page_of, page_of_kind
from emulator.registry import Fidelity, Service
from emulator.schema import anything, either, fields, flag, items, mapping, nullable, number, text

from . import errors, rules

api = Service(
    "access",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
)

_APPS_READ, _APPS_WRITE = "Access: Apps and Policies Read", "Access: Apps and Policies Write"
_TOKENS_READ, _TOKENS_WRITE = "Access: Service Tokens Read", "Access: Service Tokens Write"
_POLICIES = "/accounts/{account_id}/access/policies"
_POLICY_PATH = _POLICIES + "/{policy_id}"
_TYPES = (
    "self_hosted", "saas", "ssh", "vnc", "app_launcher", "warp", "biso", "bookmark", "dash_sso", "infrastructure",
    "rdp", "mcp", "mcp_portal", "proxy_endpoint",
)  # fmt: skip
_RULES = nullable(items(mapping(anything())))
_TEXTS = nullable(items(text()))
_APPROVERS = fields(
    {"approvals_needed": number(least=0, most=100)},
    {"email_addresses": _TEXTS, "email_list_uuid": nullable(text())},
)
_AUTHENTICATORS = nullable(items(text(choices=["totp", "biometrics", "security_key"])))
_MFA = fields(
    {},
    {
        "allowed_authenticators": _AUTHENTICATORS,
        "mfa_disabled": nullable(flag()),
        "session_duration": nullable(text()),
    },
)
_FORMATS = nullable(items(text(choices=["text", "file"])))
_RDP = fields(
    {},
    dict.fromkeys(("allowed_clipboard_local_to_remote_formats", "allowed_clipboard_remote_to_local_formats"), _FORMATS),
)
_POLICY_OPTIONS = {
    "exclude": _RULES,
    "require": _RULES,
    "session_duration": nullable(text()),
    "approval_groups": nullable(items(_APPROVERS)),
    "approval_required": nullable(flag()),
    "connection_rules": nullable(fields({}, {"rdp": nullable(_RDP)}, closed=False)),
    "isolation_required": nullable(flag()),
    "mfa_config": nullable(_MFA),
    "purpose_justification_prompt": nullable(text()),
    "purpose_justification_required": nullable(flag()),
}
_DECISION = text(choices=["allow", "deny", "non_identity", "bypass"])
_POLICY = fields({"name": text(least=1), "decision": _DECISION, "include": _RULES}, _POLICY_OPTIONS, closed=False)
_LINK = fields(
    {},
    {
        **_POLICY_OPTIONS,
        "id": nullable(text(least=1)),
        "precedence": nullable(number(least=1, most=10**6, whole=True)),
        "name": nullable(text()),
        "decision": nullable(_DECISION),
        "include": _RULES,
    },
    closed=False,
)
_SWITCHES = (
    "allow_authenticate_via_warp", "allow_iframe", "app_launcher_visible", "auto_redirect_to_identity",
    "enable_binding_cookie", "http_only_cookie_attribute", "options_preflight_bypass", "path_cookie_attribute",
    "service_auth_401_redirect", "skip_interstitial",
)  # fmt: skip
_APP = fields(
    {"type": text(choices=_TYPES)},
    {
        "name": nullable(text()),
        "domain": nullable(text(least=1)),
        "session_duration": nullable(text()),
        "policies": nullable(items(either(text(least=1), _LINK))),
        "destinations": nullable(items(fields({}, {"type": text(), "uri": nullable(text())}, closed=False))),
        "self_hosted_domains": _TEXTS,
        "allowed_idps": _TEXTS,
        "tags": _TEXTS,
        "custom_pages": _TEXTS,
        "mfa_config": nullable(_MFA),
        **dict.fromkeys(_SWITCHES, nullable(flag())),
    },
    closed=False,
)
_SERVICE_TOKEN = fields(
    {"name": text(least=1)}, {"duration": nullable(text()), "enabled": nullable(flag())}, closed=False
)
_SERVICE_TOKEN_CHANGE = fields(
    {}, {"name": text(least=1), "duration": nullable(text()), "enabled": nullable(flag())}, closed=False
)


def _declare(owner: str, prefix: str) -> None:
    """Declare the operations on applications and service tokens of accounts or of zones."""
    apps, tokens = f"{owner}/access/apps", f"{owner}/access/service_tokens"
    app, token = apps + "/{app_id}", tokens + "/{service_token_id}"
    kept = "kept and given back; enforced by nothing yet"
    for method, path, needs, name, handler, note in (
        ("GET", apps, _APPS_READ, "list_apps", _list_apps, "filters name, domain, aud"),
        ("POST", apps, _APPS_WRITE, "create_app", _create_app, kept),
        ("GET", app, _APPS_READ, "get_app", _get_app, ""),
        ("PUT", app, _APPS_WRITE, "replace_app", _replace_app, kept),
        ("DELETE", app, _APPS_WRITE, "delete_app", _delete_app, ""),
        ("GET", tokens, _TOKENS_READ, "list_service_tokens", _list_service_tokens, ""),
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
    wanted = {name: call.query[name] for name in ("name", "domain", "aud") if call.query.get(name)}
    apps = call.store.select("access_app", rules.scope(call))
    found = [app for app in apps if all(app.get(name) == value for name, value in wanted.items())]
    listed = page_of(call, found, default=25, most=1000)
    listed.result = [rules.app_view(call, app) for app in listed.result]
    return listed


def _create_app(call: Call) -> Result:
    return Result(rules.app_view(call, rules.write_app(call, call.body(_APP, errors.INVALID), None)), status=201)


def _get_app(call: Call) -> Result:
    return Result(rules.app_view(call, rules.get_app(call)))


def _replace_app(call: Call) -> Result:
    former = rules.get_app(call)
    return Result(rules.app_view(call, rules.write_app(call, call.body(_APP, errors.INVALID), former)))


def _delete_app(call: Call) -> Result:
    app = rules.get_app(call)
    call.store.delete("access_app", rules.scope(call), app["id"])
    return Result({"id": app["id"]}, status=202)


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
    return Result(rules.write_policy(call, call.body(_POLICY, errors.INVALID), None), status=201)


@api.operation("GET", _POLICY_PATH, needs=_APPS_READ)
def get_policy(call: Call) -> Result:
    """Read a reusable policy."""
    policy = rules.get_policy(call)
    return Result({**policy, "app_count": rules.uses(call).get(policy["id"], 0)})


@api.operation("PUT", _POLICY_PATH, needs=_APPS_WRITE, fidelity=Fidelity.STORED)
def replace_policy(call: Call) -> Result:
    """Replace a reusable policy."""
    former = rules.get_policy(call)
    return Result(rules.write_policy(call, call.body(_POLICY, errors.INVALID), former))


@api.operation("DELETE", _POLICY_PATH, needs=_APPS_WRITE, note="refused while an application refers to it")
def delete_policy(call: Call) -> Result:
    """Delete a reusable policy."""
    rules.delete_policy(call)
    return Result({"id": call.params["policy_id"]}, status=202)


def _list_service_tokens(call: Call) -> Result:
    listed = page_of_kind(call, "access_service_token", rules.scope(call), default=25, most=1000)
    listed.result = [rules.service_token_view(token) for token in listed.result]
    return listed


def _create_service_token(call: Call) -> Result:
    token, secret = rules.create_service_token(call, call.body(_SERVICE_TOKEN, errors.INVALID))
    return Result({**rules.service_token_view(token), "client_secret": secret}, status=201)


def _get_service_token(call: Call) -> Result:
    return Result(rules.service_token_view(rules.get_service_token(call)))


def _change_service_token(call: Call) -> Result:
    token = rules.change_service_token(call, call.body(_SERVICE_TOKEN_CHANGE, errors.INVALID))
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
