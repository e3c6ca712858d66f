"""What an entry module and the emulator show each other: a secret per namespace, which uploaded code never sees."""

import hashlib
import hmac
import secrets


class Secrets:
    """Made anew with every emulator; whoever knows that of one namespace knows nothing of another's."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def of(self, account: str, namespace: str) -> str:
        """The secret of a namespace."""
        return hmac.new(self._key, f"{account}/{namespace}".encode(), hashlib.sha256).hexdigest()

    def is_of(self, shown: str, account: str, namespace: str) -> bool:
        """Whether this is it."""
        return hmac.compare_digest(shown.encode(), self.of(account, namespace).encode())
