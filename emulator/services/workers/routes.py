"""Operations on Worker scripts: upload, list, read, settings, delete."""

from emulator.registry import PARTIAL, Service

from . import rules, scripts
from .upload import BODY_LIMIT

api = Service(
    "workers",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, wrangler 4.158.0",
    date="2026-11-16",
)

READ, WRITE = "Workers Scripts Read", "Workers Scripts Write"
_SCRIPTS = "/accounts/{account_id}/workers/scripts"
_SCRIPT = _SCRIPTS + "/{script_name}"
_NOT_RUN = (
    "with a runtime the code is started once, without bindings, and refused if it does not parse; exported names are "
    "found by their syntax, and where that cannot decide it is accepted"
)


api.on_sweep(rules.sweep)
_EDIT_SETTINGS = "a JSON body is taken as well as the part `settings`"

api.get(_SCRIPTS, scripts.list_scripts, READ, note="`tags` as `tag:yes` and `tag:no`, by comma")
api.get("/accounts/{account_id}/workers/scripts-search", scripts.search_scripts, READ)
api.put(_SCRIPT, scripts.upload_script, WRITE, PARTIAL, note=_NOT_RUN, body_limit=BODY_LIMIT)
api.get(_SCRIPT, scripts.download_script, READ)
api.delete(_SCRIPT, scripts.delete_script, WRITE, note="takes its routes and custom domains along")
api.get(_SCRIPT + "/content/v2", scripts.download_script, READ, name="get_content")
api.put(_SCRIPT + "/content", scripts.put_content, WRITE, PARTIAL, note=_NOT_RUN, body_limit=BODY_LIMIT)
api.get(_SCRIPT + "/settings", scripts.get_settings, READ)
api.patch(_SCRIPT + "/settings", scripts.edit_settings, WRITE, note=_EDIT_SETTINGS)
api.get(_SCRIPT + "/script-settings", scripts.get_script_settings, READ)
api.patch(_SCRIPT + "/script-settings", scripts.edit_script_settings, WRITE)
