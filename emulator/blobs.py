"""Large content (modules, image layers) as files named by their SHA-256, or SHA-512 where a client chose that.

A file appears under its final name only when it is whole, so a killed process leaves at most a temporary file.
Equal content is stored once; documents refer to it by digest.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Container
from pathlib import Path

_LENGTHS = (64, 128)  # hexadecimal digits of the two


class DigestMismatchError(Exception):
    """The content is not what its digest says."""


class Blobs:
    """Content-addressed files below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._incoming = folder / "incoming"
        self._make_folders()

    def put(self, content: bytes) -> str:
        """Keep the content; its SHA-256 in hex."""
        digest = hashlib.sha256(content).hexdigest()
        self.put_as(content, digest)
        return digest

    def put_as(self, content: bytes, digest: str) -> None:
        """Keep the content under a digest the caller has made."""
        if not self.has(digest):
            temporary = self.new_file()
            temporary.write_bytes(content)
            self.adopt(temporary, digest)

    def new_file(self) -> Path:
        """An empty file to stream into, then `adopt`; it is on the same disk, so adopting is a rename."""
        with tempfile.NamedTemporaryFile(dir=self._incoming, delete=False) as file:
            return Path(file.name)

    def adopt(self, file: Path, digest: str) -> None:
        """Take over a file the caller has hashed."""
        target = self.path(digest)
        target.parent.mkdir(mode=0o700, exist_ok=True)
        file.replace(target)

    def get(self, digest: str) -> bytes | None:
        """The content, or None."""
        try:
            return self.path(digest).read_bytes()
        except FileNotFoundError:
            return None

    def has(self, digest: str) -> bool:
        """Whether the content is here."""
        return self.path(digest).exists()

    def path(self, digest: str) -> Path:
        """Where the content of a digest lies, if it does."""
        if len(digest) not in _LENGTHS or not set(digest) <= set("0123456789abcdef"):
            raise DigestMismatchError(f"not a SHA-256 or SHA-512 in hex: {digest!r}")
        return self._folder / digest[:2] / digest

    def delete(self, digest: str) -> bool:
        """Remove the content; whether it was here."""
        path = self.path(digest)
        existed = path.exists()
        path.unlink(missing_ok=True)
        return existed

    def keep(self, digests: Container[str]) -> None:
        """Remove all content but this."""
        for path in self._folder.glob("??/*"):
            if path.name not in digests:
                path.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove everything."""
        shutil.rmtree(self._folder)
        self._make_folders()

    def _make_folders(self) -> None:
        for folder in (self._folder, self._incoming):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
