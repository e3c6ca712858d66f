"""Secret values at rest.

Values are sealed with AES-256-GCM under a key file that only its owner can read, so a copy of the database alone
gives nothing away. No route returns what is sealed here; the runtime that serves the Worker opens it.
"""

import base64
import os
from pathlib import Path

_NONCE = 12


class Vault:
    """Seals text; the key file is made on first use."""

    def __init__(self, key_file: Path) -> None:
        self._key_file = key_file

    def seal(self, text: str) -> str:
        """Encrypt."""
        # cryptography takes a third of the start-up time, and most runs hold no secret.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

        nonce = os.urandom(_NONCE)
        sealed = AESGCM(self._key()).encrypt(nonce, text.encode("utf-8", "surrogatepass"), None)
        return base64.b64encode(nonce + sealed).decode()

    def open(self, sealed: str) -> str:
        """Decrypt what `seal` returned."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - as above

        raw = base64.b64decode(sealed)
        return AESGCM(self._key()).decrypt(raw[:_NONCE], raw[_NONCE:], None).decode("utf-8", "surrogatepass")

    def _key(self) -> bytes:
        try:
            return self._key_file.read_bytes()
        except FileNotFoundError:
            key = os.urandom(32)
            temporary = self._key_file.with_suffix(".new")
            temporary.unlink(missing_ok=True)
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(key)
            temporary.replace(self._key_file)
            return key
