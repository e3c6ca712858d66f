"""Operations on zone settings."""

from emulator.registry import PARTIAL, STORED, Service

from . import rules

api = Service("zone_settings", source="official Python SDK 5.9.0, Cloudflare's API reference", date="2026-11-18")

READ, WRITE = "Zone Settings Read", "Zone Settings Write"
_SETTINGS = "/zones/{zone_id}/settings"
_SETTING = _SETTINGS + "/{setting_id}"
_NOT_HERE = ("auto_origin_tls_kex", "csam_scanner_third_party", "origin_tls_compliance_modes", "transformations_c2pa")
_PLAN = "defaults and rights of the Free plan"


for _name in _NOT_HERE:
    for _method in ("GET", "PATCH"):
        api.absent(_method, f"{_SETTINGS}/{_name}")


api.get(_SETTINGS, rules.list_settings, READ, PARTIAL, note=f"{_PLAN}; the SDK's settings only")
api.get(_SETTING, rules.get_setting, READ, PARTIAL, note=_PLAN)
api.patch(_SETTING, rules.edit_setting, WRITE, STORED, note="nothing here acts on it")
