"""Temporary S3 credentials: made from a token's, for one bucket, with fewer rights and for a while."""

import secrets

from emulator.clock import hex_id
from emulator.state import State
from emulator.store import Document

KIND = "r2_temporary_key"


def make(state: State, bucket: str, body: Document) -> Document:
    """Mint credentials for the bucket of this scope; the answer is the only place where they can be read."""
    key, secret, session = hex_id(), secrets.token_hex(32), secrets.token_urlsafe(96)
    document = {
        "parent": body["parentAccessKeyId"],
        "bucket": bucket,
        "writes": body["permission"].endswith("read-write"),
        "objects": body.get("objects") or [],
        "prefixes": body.get("prefixes") or [],
        "until": state.clock.time() + body["ttlSeconds"],
        "secret": state.vault.seal(secret),
        "session": state.vault.seal(session),
    }
    state.store.put(KIND, "", key, document)
    return {"accessKeyId": key, "secretAccessKey": secret, "sessionToken": session}


def find(state: State, key: str) -> Document | None:
    """Those of a key that still holds."""
    found = state.store.get(KIND, "", key)
    return found if found and found["until"] > state.clock.time() else None


def is_for(limits: Document, bucket: str, *, write: bool) -> bool:
    """Whether they were made for this bucket."""
    return bool(bucket == limits["bucket"] and (limits["writes"] or not write))


def covers(limits: Document, keys: tuple[str, ...], prefix: str | None) -> bool:
    """Whether they were made for these objects, or for a list of those with a prefix."""
    if not limits["objects"] and not limits["prefixes"]:
        return True
    prefixes = tuple(limits["prefixes"])
    if prefix is not None:
        return prefix.startswith(prefixes)
    return bool(keys) and all(key in limits["objects"] or key.startswith(prefixes) for key in keys)


def sweep(state: State) -> None:
    """Forget those that no longer hold."""
    for key in state.store.keys(KIND, ""):
        if find(state, key) is None:
            state.store.delete(KIND, "", key)
