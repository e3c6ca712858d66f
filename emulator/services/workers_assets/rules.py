"""Who may send files: the holder of a session's token, which takes the place of an API token there."""

import base64
import binascii

from emulator.calls import Call, Result
from emulator.multipart import parse_multipart
from emulator.services.workers import assets
from emulator.store import Document

from . import errors


def open_session(call: Call, body: Document) -> Document:
    """Begin an upload: which files are missing, in which portions."""
    return assets.open_session(call, call.params["script_name"], body["manifest"])


def upload_files(call: Call) -> Result:
    """Send files; with the last one comes the token to name in the upload of the script."""
    token = assets.take_files(call, _session(call), _files(call))
    return Result({"jwt": token}, status=201) if token else Result({"jwt": None}, status=202)


def _session(call: Call) -> Document:
    """The session whose token the request bears, if it is one of the path's account."""
    scheme, _, token = call.headers.get("authorization", "").partition(" ")
    found = assets.session_of(call, token.strip()) if scheme.lower() == "bearer" else None
    if found is None or found["account_id"] != call.params["account_id"]:
        raise errors.NO_SESSION()
    return found


def _files(call: Call) -> list[tuple[str, bytes, str]]:
    """The files of the body: part name (the hash), content, type."""
    parts = parse_multipart(call.headers.get("content-type", ""), call.body_bytes)
    if call.query.get("base64") != "true":
        raise errors.INVALID(problem="base64=true is required")
    try:
        return [(part.name, base64.b64decode(part.body, validate=True), part.content_type) for part in parts]
    except binascii.Error as error:
        raise errors.INVALID(problem="The files must be in base64") from error
