"""Operations on assets uploads."""

from emulator.registry import PARTIAL, Service
from emulator.schema import fields, mapping, number, text
from emulator.services.workers.upload import BODY_LIMIT

from . import errors, rules

api = Service(
    "workers_assets", source="official Python SDK 5.9.0, wrangler 4.158.0", date="2026-11-16", invalid=errors.INVALID
)

_FILE = fields({"hash": text(pattern=r"[0-9a-f]{32}"), "size": number(least=0, most=26214400, whole=True)})
_MANIFEST = fields({"manifest": mapping(_FILE)})


api.post(
    "/accounts/{account_id}/workers/scripts/{script_name}/assets-upload-session",
    rules.open_session,
    "Workers Scripts Write",
    body=_MANIFEST,
    body_limit=BODY_LIMIT,
)
api.post(
    "/accounts/{account_id}/workers/assets/upload",
    rules.upload_files,
    public=True,
    body_limit=BODY_LIMIT,
    fidelity=PARTIAL,
    note="the token of the session takes the place of an API token; hashes are not recomputed",
)
