"""Operations on assets uploads."""

from emulator.calls import Call, Result
from emulator.registry import Fidelity, Service
from emulator.schema import fields, mapping, number, text
from emulator.services.workers import assets
from emulator.services.workers.upload import BODY_LIMIT

from . import errors, rules

api = Service("workers_assets", source="official Python SDK 5.9.0, wrangler 4.158.0", date="2026-11-16")

_FILE = fields({"hash": text(pattern=r"[0-9a-f]{32}"), "size": number(least=0, most=26214400, whole=True)})
_MANIFEST = fields({"manifest": mapping(_FILE)})


@api.operation(
    "POST",
    "/accounts/{account_id}/workers/scripts/{script_name}/assets-upload-session",
    needs="Workers Scripts Write",
    body_limit=BODY_LIMIT,
)
def open_session(call: Call) -> Result:
    """Begin an upload: which files are missing, in which portions."""
    body = call.body(_MANIFEST, errors.INVALID)
    return Result(assets.open_session(call, call.params["script_name"], body["manifest"]))


@api.operation(
    "POST",
    "/accounts/{account_id}/workers/assets/upload",
    public=True,
    body_limit=BODY_LIMIT,
    fidelity=Fidelity.PARTIAL,
    note="the token of the session takes the place of an API token; hashes are not recomputed",
)
def upload_files(call: Call) -> Result:
    """Send files; with the last one comes the token to name in the upload of the script."""
    session = rules.session(call)
    token = assets.take_files(call, session, rules.files(call))
    return Result({"jwt": token}, status=201) if token else Result({"jwt": None}, status=202)
