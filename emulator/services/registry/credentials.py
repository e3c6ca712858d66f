"""Credentials of the managed registry: user `v1`, a signed password that says account, permissions and expiry.

Nothing is stored per credential. The signing key is made on first use, sealed in the state, and goes with a reset,
so every credential minted before is refused afterwards. Expiry is judged by the emulator's clock.
"""

import base64
import binascii
import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass
from typing import Any

from emulator.state import State

USER = "v1"
PERMISSIONS = ("pull", "push", "list", "library_push")
_KEY = "registry.key"


@dataclass(frozen=True)
class Grant:
    """What a credential allows, and where."""

    account_id: str
    permissions: frozenset[str]


def mint(state: State, account_id: str, permissions: list[str], minutes: int) -> str:
    """A password, in the form of a JSON web token as Cloudflare's is."""
    now = int(state.clock.time())
    claims = {
        "iss": "emulator",
        "sub": account_id,
        "permissions": sorted(set(permissions)),
        "iat": now,
        "exp": now + minutes * 60,
        "jti": secrets.token_hex(8),
    }
    signed = f"{_encode({'alg': 'HS256', 'typ': 'JWT'})}.{_encode(claims)}"
    return f"{signed}.{_signature(state, signed)}"


def recognise(state: State, authorization: str) -> Grant | None:
    """The grant of a Basic header; None when it is malformed, unknown or expired."""
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, _, password = base64.b64decode(value, validate=True).decode().partition(":")
        signed, _, signature = password.rpartition(".")
        if user != USER or not hmac.compare_digest(_signature(state, signed).encode(), signature.encode()):
            return None
        claims = json.loads(base64.urlsafe_b64decode(signed.partition(".")[2] + "=="))
    except (binascii.Error, ValueError):
        return None
    if claims["exp"] <= state.clock.time():
        return None
    return Grant(claims["sub"], frozenset(claims["permissions"]))


def _encode(value: dict[str, Any]) -> str:
    return _text(json.dumps(value, separators=(",", ":")).encode())


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _signature(state: State, signed: str) -> str:
    return _text(hmac.new(_key(state), signed.encode(), hashlib.sha256).digest())


def _key(state: State) -> bytes:
    sealed = state.store.setting(_KEY)
    if sealed is None:
        sealed = state.vault.seal(secrets.token_hex(32))
        state.store.set_setting(_KEY, sealed)
    return bytes.fromhex(state.vault.open(sealed))
