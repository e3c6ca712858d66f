"""What bodies of Access look like: applications, policies with their rules, service tokens; pure."""

from typing import Any

from emulator.schema import Check, Report, either, fields, flag, items, nullable, number, open_options, options, text

_RULE_FIELDS: dict[str, tuple[str, ...]] = {
    "any_valid_service_token": (),
    "auth_context": ("id", "ac_id", "identity_provider_id"),
    "auth_method": ("auth_method",),
    "azureAD": ("id", "identity_provider_id"),
    "certificate": (),
    "common_name": ("common_name",),
    "device_posture": ("integration_uid",),
    "email": ("email",),
    "email_domain": ("domain",),
    "email_list": ("id",),
    "everyone": (),
    "external_evaluation": ("evaluate_url", "keys_url"),
    "geo": ("country_code",),
    "github-organization": ("identity_provider_id", "name"),
    "group": ("id",),
    "gsuite": ("email", "identity_provider_id"),
    "ip": ("ip",),
    "ip_list": ("id",),
    "linked_app_token": ("app_uid",),
    "login_method": ("id",),
    "oidc": ("claim_name", "claim_value", "identity_provider_id"),
    "okta": ("identity_provider_id", "name"),
    "saml": ("attribute_name", "attribute_value", "identity_provider_id"),
    "service_token": ("token_id",),
    "cloudflare_account_member": (),
}
_RULE_CHECKS: dict[str, Check] = {
    **{name: fields(dict.fromkeys(needed, text()), closed=False) for name, needed in _RULE_FIELDS.items()},
    "user_risk_score": fields({"user_risk_score": items(text(choices=["low", "medium", "high", "unscored"]))}),
}


def _rule(value: Any, path: str, report: Report) -> None:
    if not isinstance(value, dict) or len(value) != 1:
        report.tell(path, "must be an object with one rule")
        return
    ((name, content),) = value.items()
    if name not in _RULE_CHECKS:
        report.tell(path, f"has an unknown rule {name}")
    else:
        _RULE_CHECKS[name](content, f"{path}.{name}", report)


_RULES = nullable(items(_rule))
_TYPES = (
    "self_hosted", "saas", "ssh", "vnc", "app_launcher", "warp", "biso", "bookmark", "dash_sso", "infrastructure",
    "rdp", "mcp", "mcp_portal", "proxy_endpoint",
)  # fmt: skip
_TEXTS = nullable(items(text()))
_APPROVERS = fields(
    {"approvals_needed": number(least=0, most=100)},
    {"email_addresses": _TEXTS, "email_list_uuid": nullable(text())},
)
_AUTHENTICATORS = nullable(items(text(choices=["totp", "biometrics", "security_key"])))
_MFA = options(allowed_authenticators=_AUTHENTICATORS, mfa_disabled=nullable(flag()), session_duration=nullable(text()))
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
    "connection_rules": nullable(open_options(rdp=nullable(_RDP))),
    "isolation_required": nullable(flag()),
    "mfa_config": nullable(_MFA),
    "purpose_justification_prompt": nullable(text()),
    "purpose_justification_required": nullable(flag()),
}
_DECISION = text(choices=["allow", "deny", "non_identity", "bypass"])
_PRECEDENCE = nullable(number(least=1, most=10**6, whole=True))
_POLICY = {"name": text(least=1), "decision": _DECISION, "include": _RULES}
POLICY = fields(_POLICY, _POLICY_OPTIONS, closed=False)
APP_POLICY = fields(_POLICY, {**_POLICY_OPTIONS, "precedence": _PRECEDENCE}, closed=False)
_LINK = open_options(
    **_POLICY_OPTIONS,
    id=nullable(text(least=1)),
    precedence=_PRECEDENCE,
    name=nullable(text()),
    decision=nullable(_DECISION),
    include=_RULES,
)
_SWITCHES = (
    "allow_authenticate_via_warp", "allow_iframe", "app_launcher_visible", "auto_redirect_to_identity",
    "enable_binding_cookie", "http_only_cookie_attribute", "options_preflight_bypass", "path_cookie_attribute",
    "service_auth_401_redirect", "skip_interstitial",
)  # fmt: skip
APP = fields(
    {"type": text(choices=_TYPES)},
    {
        "name": nullable(text()),
        "domain": nullable(text(least=1)),
        "session_duration": nullable(text()),
        "policies": nullable(items(either(text(least=1), _LINK))),
        "destinations": nullable(items(open_options(type=text(), uri=nullable(text())))),
        "self_hosted_domains": _TEXTS,
        "allowed_idps": _TEXTS,
        "tags": _TEXTS,
        "custom_pages": _TEXTS,
        "mfa_config": nullable(_MFA),
        **dict.fromkeys(_SWITCHES, nullable(flag())),
    },
    closed=False,
)
SERVICE_TOKEN = fields(
    {"name": text(least=1)}, {"duration": nullable(text()), "enabled": nullable(flag())}, closed=False
)
SERVICE_TOKEN_CHANGE = open_options(name=text(least=1), duration=nullable(text()), enabled=nullable(flag()))
GROUP = fields(
    {"name": text(least=1), "include": items(_rule, least=1)},
    {"exclude": _RULES, "require": _RULES, "is_default": nullable(either(flag(), items(_rule)))},
    closed=False,
)
