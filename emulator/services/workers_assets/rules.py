"""Who may send files: the holder of a session's token, which takes the place of an API token there."""

import base64
import binascii

from emulator.calls import Call
from emulator.multipart import parse_multipart
from emulator.services.workers import assets
from emulator.store import Document

from . import errors


def session(call: Call) -> Document:
    """The session whose token the request bears, if it is one of the path's account."""
    scheme, _, token = call.headers.get("authorization", "").partition(" ")
    found = assets.session_of(call, token.strip()) if scheme.lower() == "bearer" else None
    if found is None or found["account_id"] != call.params["account_id"]:
        raise errors.NO_SESSION()
    return found


def files(call: Call) -> list[tuple[str, bytes, str]]:
    """The files of the body: part name (the hash), content, type."""
    parts = parse_multipart(call.headers.get("content-type", ""), call.body_bytes)
    if call.query.get("base64") != "true":
        raise errors.INVALID(problem="base64=true is required")
    try:
        return [(part.name, base64.b64decode(part.body, validate=True), part.content_type) for part in parts]
    except binascii.Error as error:
        raise errors.INVALID(problem="The files must be in base64") from error
