"""Operations on zone settings."""

from emulator.calls import Call, Result
from emulator.registry import Fidelity, Service

from . import rules

api = Service("zone_settings", source="official Python SDK 5.9.0, Cloudflare's API reference", date="2026-11-18")

READ, WRITE = "Zone Settings Read", "Zone Settings Write"
_SETTINGS = "/zones/{zone_id}/settings"
_SETTING = _SETTINGS + "/{setting_id}"
_NOT_HERE = ("auto_origin_tls_kex", "csam_scanner_third_party", "origin_tls_compliance_modes", "transformations_c2pa")
_PLAN = "defaults and rights of the Free plan"


@api.operation("GET", _SETTINGS, needs=READ, fidelity=Fidelity.PARTIAL, note=f"{_PLAN}; the SDK's settings only")
def list_settings(call: Call) -> Result:
    """List all settings."""
    return Result(rules.every(call))


@api.operation("GET", _SETTING, needs=READ, fidelity=Fidelity.PARTIAL, note=_PLAN)
def get_setting(call: Call) -> Result:
    """Read a setting."""
    return Result(rules.view(call, rules.asked(call)))


@api.operation("PATCH", _SETTING, needs=WRITE, fidelity=Fidelity.STORED, note="nothing here acts on it")
def edit_setting(call: Call) -> Result:
    """Change a setting."""
    return Result(rules.change(call, rules.asked(call)))


for _name in _NOT_HERE:
    for _method in ("GET", "PATCH"):
        api.absent(_method, f"{_SETTINGS}/{_name}")
