"""Static assets: an upload session tells which files are missing, takes them, and gives the token an upload names.

Files lie with the script's name, since a session may be older than its Worker; they follow it to another name and go
with it. A token is kept only as its hash.
"""

import base64
import hashlib
import json
import secrets
from typing import Any

from emulator.calls import Call
from emulator.store import Document, Store

from . import errors

SESSION = "worker_asset_session"
FILE = "worker_asset"
_BUCKET = 50
_HOUR = 3600


def scope(account: str, script: str) -> str:
    """Where the assets of a script are."""
    return f"{account}/assets/{script}"


def rename(store: Store, account: str, old: str, name: str) -> None:
    """Let files and sessions follow their script to another name."""
    before, after = scope(account, old), scope(account, name)
    for key in store.keys(FILE, before):
        store.put(FILE, after, key, store.get(FILE, before, key) or {})
    for key in store.keys(SESSION, before):
        session = store.get(SESSION, before, key) or {}
        store.put(SESSION, after, key, {**session, "script": name}, labels={"token": key})
    forget(store, account, old)


def forget(store: Store, account: str, script: str) -> None:
    """Remove files and sessions of a script."""
    for kind in (FILE, SESSION):
        store.delete_all(kind, scope(account, script))


def sweep(store: Store, used: set[tuple[str, str]], now: float) -> set[str]:
    """Remove expired sessions, and files not in use by a version (account, hash) or a session; the others' blobs."""
    for place, key, session in store.everywhere(SESSION):
        if session["expires"] <= now:
            store.delete(SESSION, place, key)
        else:
            used |= {(session["account_id"], entry["hash"]) for entry in session["manifest"].values()}
    blobs = set()
    for place, name, file in store.everywhere(FILE):
        if (place.partition("/")[0], name) in used:
            blobs.add(file["sha256"])
        else:
            store.delete(FILE, place, name)
    return blobs


def open_session(call: Call, script: str, manifest: dict[str, Document]) -> Document:
    """Begin; without missing files the token already completes the session."""
    place = scope(call.account_id, script)
    wanted = {entry["hash"]: entry["size"] for entry in manifest.values()}
    missing = [name for name in wanted if not call.store.has(FILE, place, name)]
    token = _put(call, script, {"manifest": manifest, "missing": missing})
    return {"jwt": token, "buckets": [missing[at : at + _BUCKET] for at in range(0, len(missing), _BUCKET)]}


def _put(call: Call, script: str, session: Document) -> str:
    """Store a session under a new token, which has the outer form of a JWT because wrangler reads its expiry."""
    expires = int(call.state.clock.time()) + _HOUR
    parts = [json.dumps(part).encode() for part in ({"alg": "none", "typ": "JWT"}, {"exp": expires})]
    token = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)
    token += f".{secrets.token_urlsafe(32)}"
    body = {**session, "script": script, "account_id": call.account_id, "expires": expires}
    key = _digest(token)
    call.store.put(SESSION, scope(call.account_id, script), key, body, labels={"token": key})
    return token


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def session_of(call: Call, token: str) -> Document | None:
    """The session of a token that has not expired."""
    found = call.store.find_anywhere(SESSION, "token", _digest(token))
    if not found or found[0][1]["expires"] <= call.state.clock.time():
        return None
    return found[0][1]


def take_files(call: Call, session: Document, files: list[tuple[str, bytes, str]]) -> str | None:
    """Store files of a session; the completion token once nothing is missing."""
    place = scope(session["account_id"], session["script"])
    for name, content, content_type in files:
        if name not in session["missing"]:
            raise errors.INVALID(problem=f"The file {name} is not part of this upload session")
        body = {"sha256": call.state.blobs.put(content), "size": len(content), "content_type": content_type}
        call.store.put(FILE, place, name, body)
    if any(not call.store.has(FILE, place, name) for name in session["missing"]):
        return None
    call.account_id = session["account_id"]
    return _put(call, session["script"], {"manifest": session["manifest"], "missing": []})


def settle(call: Call, given: Document, latest: Document | None) -> Document | None:
    """The assets of a new version: those of a session, or of the version before when told to keep them."""
    former = latest["assets"] if latest else None
    asked: Any = given.get("assets")
    if not asked:
        return former if given.get("keep_assets") else None
    if not asked.get("jwt"):
        return {**(former or {"files": {}}), "config": asked.get("config") or {}}
    session = session_of(call, asked["jwt"])
    if session is None or session["account_id"] != call.account_id:
        raise errors.INVALID(problem="The token of the assets upload session is not valid")
    place = scope(call.account_id, session["script"])
    if any(not call.store.has(FILE, place, name) for name in session["missing"]):
        raise errors.INVALID(problem="The assets upload session is not complete")
    return {"files": session["manifest"], "config": asked.get("config") or {}}
