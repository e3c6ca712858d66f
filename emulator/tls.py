"""Certificates that the emulator makes for itself: of its HTTPS port, and of what sandboxes reach by HTTPS.

Each is good for its names alone and can sign no other, so that who trusts it trusts this machine with nothing else.
That of the port, for `wrangler containers images` and others that insist on HTTPS, has this machine's own names; who is
to trust it is told its file (`NODE_EXTRA_CA_CERTS`).
"""

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

OWN_NAMES = ("127.0.0.1", "localhost", "*.localhost")
_TITLE = "Cloudflare emulator on this machine"
_DAYS = 397  # more is refused by some clients
_LEFT = timedelta(days=30)  # a certificate with less is made anew


@dataclass(frozen=True)
class Certificate:
    """Two files in PEM."""

    file: Path
    key: Path


def provide(folder: Path, names: tuple[str, ...] = OWN_NAMES) -> Certificate:
    """The certificate in a folder, made for these names when there is none that will hold for a while."""
    found = Certificate(folder / "certificate.pem", folder / "key.pem")
    if not _is_good(found):
        _make(found, names)
    return found


def _is_good(certificate: Certificate) -> bool:
    from emulator import certificates  # noqa: PLC0415 - only who asks for HTTPS waits for it

    try:
        return certificate.key.exists() and certificates.ends(certificate.file.read_bytes()) > datetime.now(UTC) + _LEFT
    except (OSError, ValueError):
        return False


def _make(certificate: Certificate, names: tuple[str, ...]) -> None:
    from emulator import certificates  # noqa: PLC0415 - as above

    made, private = certificates.self_signed(_TITLE, names, _DAYS)
    certificate.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    certificate.key.unlink(missing_ok=True)
    with os.fdopen(os.open(certificate.key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(private)
    certificate.file.write_bytes(made)
