"""Certificates that the emulator makes for itself: of its HTTPS port, and of what sandboxes reach by HTTPS.

Each is good for its names alone and can sign no other, so that who trusts it trusts this machine with nothing else.
That of the port, for `wrangler containers images` and others that insist on HTTPS, has this machine's own names; who is
to trust it is told its file (`NODE_EXTRA_CA_CERTS`).
"""

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

OWN_NAMES = ("127.0.0.1", "localhost", "*.localhost")
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
    from cryptography import x509  # noqa: PLC0415 - only who asks for HTTPS waits for it

    try:
        read = x509.load_pem_x509_certificate(certificate.file.read_bytes())
    except (OSError, ValueError):
        return False
    return certificate.key.exists() and read.not_valid_after_utc > datetime.now(UTC) + _LEFT


def _make(certificate: Certificate, names: tuple[str, ...]) -> None:
    from cryptography import x509  # noqa: PLC0415 - as above
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Cloudflare emulator on this machine")])
    meant: list[x509.GeneralName] = [
        x509.IPAddress(IPv4Address(each)) if each[0].isdigit() else x509.DNSName(each) for each in names
    ]
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=_DAYS))
        .add_extension(x509.SubjectAlternativeName(meant), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8
    private = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    certificate.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    certificate.key.unlink(missing_ok=True)
    with os.fdopen(os.open(certificate.key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(private)
    certificate.file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
