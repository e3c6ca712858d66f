"""Certificates for tests, made by an authority called Example Trust."""

from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

DAY = timedelta(days=1)


def pem_of(key: Any) -> str:
    """A private key in PEM."""
    form = serialization.PrivateFormat.PKCS8
    return str(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode())


def certificate_for(key: Any, *hosts: str, is_authority: bool = False) -> str:
    """A certificate in PEM that is good for 30 days."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, "Example Trust")])
    builder = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - DAY)
        .not_valid_after(datetime.now(UTC) + 30 * DAY)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
    )
    if hosts:
        names = x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts])
        builder = builder.add_extension(names, critical=False)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()
