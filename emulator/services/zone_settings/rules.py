"""State and rules of zone settings: only what was changed is kept, all else is the catalogue's default.

Development mode ends by itself after three hours of the emulator's clock.
"""

from emulator.calls import Call
from emulator.clock import parse_stamp
from emulator.schema import problems
from emulator.store import Document

from . import errors
from .catalogue import SETTINGS

KIND = "zone_setting"
DEVELOPMENT_SECONDS = 3 * 3600


def list_settings(call: Call) -> list[Document]:
    """All settings of the path's zone, by name."""
    return [view(call, name) for name in sorted(SETTINGS)]


def _asked(call: Call) -> str:
    """The path's setting."""
    name = call.params["setting_id"]
    if name not in SETTINGS:
        raise errors.UNDEFINED(setting=name)
    return name


def get_setting(call: Call) -> Document:
    """Read the path's setting."""
    return view(call, _asked(call))


def edit_setting(call: Call) -> Document:
    """Set the path's setting to the value in the body."""
    name = _asked(call)
    setting, body = SETTINGS[name], call.json()
    value = body.get(setting.field) if isinstance(body, dict) else None
    if problems(setting.check, value):
        raise errors.INVALID(setting=name)
    if not setting.editable:
        raise errors.NOT_EDITABLE(setting=name)
    call.store.put(KIND, call.zone["id"], name, {"value": value, "modified_on": call.state.clock.stamp()})
    return view(call, name)


def view(call: Call, name: str) -> Document:
    """A setting as the API describes it."""
    setting = SETTINGS[name]
    kept = call.store.get(KIND, call.zone["id"], name) or {"value": setting.default, "modified_on": None}
    shown = {"id": name, setting.field: kept["value"], "editable": setting.editable, "modified_on": kept["modified_on"]}
    return {**shown, **_development(call, kept)} if name == "development_mode" else shown


def _development(call: Call, kept: Document) -> Document:
    """Whether development mode still lasts, and for how many seconds."""
    since = parse_stamp(kept["modified_on"]) if kept["value"] == "on" else None
    left = DEVELOPMENT_SECONDS - (call.state.clock.now() - since).total_seconds() if since else 0
    return {"value": "on" if left > 0 else "off", "time_remaining": max(int(left), 0)}
