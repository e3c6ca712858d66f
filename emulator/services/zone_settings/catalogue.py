"""Every setting of a zone that the official SDK knows: its default, what it may be, and whether a free zone may set it.

Values are those of the SDK; defaults and what is editable are those of new zones on the Free plan, which is the plan
that the emulator's zones have.
"""

from dataclasses import dataclass
from typing import Any

from emulator.schema import Check, Report, fields, flag, items, number, options, text


@dataclass(frozen=True)
class Setting:
    """One setting; `field` is where its value stands in requests and answers."""

    default: Any
    check: Check
    editable: bool = True
    field: str = "value"


def _one_of(*values: str | int) -> Check:
    def check(value: Any, path: str, report: Report) -> None:
        if isinstance(value, bool) or not isinstance(value, str | int | float) or value not in values:
            report.not_among(path, values)

    return check


_SWITCH = _one_of("on", "off")
_BROWSER_TTL = _one_of(
    0, 30, 60, 120, 300, 1200, 1800, 3600, 7200, 10800, 14400, 18000, 28800, 43200, 57600, 72000, 86400, 172800,
    259200, 345600, 432000, 691200, 1382400, 2073600, 2678400, 5356800, 16070400, 31536000,
)  # fmt: skip
_CHALLENGE_TTL = _one_of(300, 900, 1800, 2700, 3600, 7200, 10800, 14400, 28800, 57600, 86400, 604800, 2592000, 31536000)
_EDGE_TTL = _one_of(
    30, 60, 300, 1200, 1800, 3600, 7200, 10800, 14400, 18000, 28800, 43200, 57600, 72000, 86400, 172800, 259200,
    345600, 432000, 518400, 604800,
)  # fmt: skip
_UPLOADS = _one_of(*range(100, 501, 25), *range(1000, 5001, 500))
_TRANSPORT = {
    "enabled": flag(),
    "include_subdomains": flag(),
    "max_age": number(least=0, most=2**31 - 1, whole=True),
    "nosniff": flag(),
    "preload": flag(),
}
_NO_TRANSPORT = {"enabled": False, "include_subdomains": False, "max_age": 0, "nosniff": False, "preload": False}
_PLATFORM_SWITCHES = ("cache_by_device_type", "cf", "enabled", "wordpress", "wp_plugin")
_PLATFORM = {**dict.fromkeys(_PLATFORM_SWITCHES, flag()), "hostnames": items(text(least=1, most=253))}
_NO_PLATFORM = {**dict.fromkeys(_PLATFORM_SWITCHES, False), "hostnames": []}

_ON = (
    "always_online", "automatic_https_rewrites", "brotli", "browser_check", "email_obfuscation", "http3",
    "ip_geolocation", "ipv6", "opportunistic_encryption", "opportunistic_onion", "privacy_pass",
    "replace_insecure_js", "server_side_exclude", "websockets",
)  # fmt: skip
_OFF = (
    "0rtt", "always_use_https", "content_converter", "development_mode", "early_hints", "hotlink_protection",
    "orange_to_orange", "pre_render", "redirects_for_ai_training", "rocket_loader", "search_for_agents",
    "sha1_support", "tls_1_2_only", "tls_client_auth", "webmcp_enabled",
)  # fmt: skip
_PAID_ON = ("advanced_ddos", "http2")
_PAID_OFF = (
    "china_network_enabled", "mirage", "origin_error_page_pass_thru", "prefetch_preload", "response_buffering",
    "sort_query_string_for_cache", "true_client_ip_header", "waf", "webp",
)  # fmt: skip

SETTINGS: dict[str, Setting] = {
    **dict.fromkeys(_ON, Setting("on", _SWITCH)),
    **dict.fromkeys(_OFF, Setting("off", _SWITCH)),
    **dict.fromkeys(_PAID_ON, Setting("on", _SWITCH, editable=False)),
    **dict.fromkeys(_PAID_OFF, Setting("off", _SWITCH, editable=False)),
    "aegis": Setting({"enabled": False}, options(enabled=flag(), pool_id=text()), editable=False),
    "automatic_platform_optimization": Setting(_NO_PLATFORM, fields(_PLATFORM), editable=False),
    "browser_cache_ttl": Setting(14400, _BROWSER_TTL),
    "cache_level": Setting("aggressive", _one_of("aggressive", "basic", "simplified")),
    "challenge_ttl": Setting(1800, _CHALLENGE_TTL),
    "ciphers": Setting([], items(text(pattern=r"[A-Z0-9-]+", least=1, most=64), most=64)),
    "cname_flattening": Setting("flatten_at_root", _one_of("flatten_at_root", "flatten_all")),
    "edge_cache_ttl": Setting(7200, _EDGE_TTL),
    "h2_prioritization": Setting("off", _one_of("on", "off", "custom"), editable=False),
    "image_resizing": Setting("off", _one_of("on", "off", "open"), editable=False),
    "max_upload": Setting(100, _UPLOADS),
    "min_tls_version": Setting("1.0", _one_of("1.0", "1.1", "1.2", "1.3")),
    "nel": Setting({"enabled": True}, fields({"enabled": flag()})),
    "origin_h2_max_streams": Setting(100, number(least=1, most=1000, whole=True)),
    "origin_max_http_version": Setting("2", _one_of("1", "2")),
    "polish": Setting("off", _one_of("off", "lossless", "lossy"), editable=False),
    "proxy_read_timeout": Setting(100, number(least=1, most=6000, whole=True), editable=False),
    "pseudo_ipv4": Setting("off", _one_of("off", "add_header", "overwrite_header")),
    "security_header": Setting(
        {"strict_transport_security": _NO_TRANSPORT}, fields({"strict_transport_security": fields({}, _TRANSPORT)})
    ),
    "security_level": Setting("medium", _one_of("off", "essentially_off", "low", "medium", "high", "under_attack")),
    "ssl": Setting("full", _one_of("off", "flexible", "full", "strict")),
    "ssl_recommender": Setting(default=False, check=flag(), field="enabled"),
    "tls_1_3": Setting("on", _one_of("on", "off", "zrt")),
    "transformations": Setting("off", _one_of("on", "off", "open")),
    "transformations_allowed_origins": Setting("", text(most=4096)),
    "webmcp_packs": Setting("", text(most=4096)),
}
