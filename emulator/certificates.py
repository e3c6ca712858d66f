"""Keys and certificates by the library, which takes a while to load: only who needs one imports this module."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.x509.oid import ExtendedKeyUsageOID

_PEM = serialization.Encoding.PEM
Extension = tuple[x509.ExtensionType, bool]  # and whether it is critical


def ends(certificate: bytes) -> datetime:
    """When a certificate in PEM ends; ValueError where it is none."""
    return x509.load_pem_x509_certificate(certificate).not_valid_after_utc


def self_signed(title: str, names: tuple[str, ...], days: int) -> tuple[bytes, bytes]:
    """A certificate for names and addresses that can sign no other, and its key, in PEM."""
    own = _Party.called(title)
    return own.sign(own, days, _of_server(names, critical=False)), _private(own.key)


@dataclass(frozen=True)
class _Party:
    name: x509.Name
    key: EllipticCurvePrivateKey

    @classmethod
    def called(cls, title: str) -> Self:
        attributes = [x509.NameAttribute(x509.NameOID.COMMON_NAME, title)] if title else []
        return cls(x509.Name(attributes), ec.generate_private_key(ec.SECP256R1()))

    def sign(self, subject: "_Party", days: int, extensions: list[Extension]) -> bytes:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject.name)
            .issuer_name(self.name)
            .public_key(subject.key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=days))
        )
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical=critical)
        return builder.sign(self.key, hashes.SHA256()).public_bytes(_PEM)


class Issuer:
    """Signs for whatever name it is asked about. All its servers share one key: no name is anybody else's."""

    def __init__(self, title: str, days: int) -> None:
        self._own, self._server, self._days = _Party.called(title), _Party.called(""), days

    @property
    def certificate(self) -> bytes:
        """What those have to trust who ask its servers."""
        no = dict.fromkeys(("content_commitment", "key_encipherment", "data_encipherment", "key_agreement"), False)
        usage = x509.KeyUsage(
            digital_signature=True, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False, **no
        )
        extensions: list[Extension] = [
            (x509.BasicConstraints(ca=True, path_length=0), True),
            (usage, True),
            (x509.SubjectKeyIdentifier.from_public_key(self._own.key.public_key()), False),
        ]
        return self._own.sign(self._own, self._days, extensions)

    def chain(self, host: str) -> bytes:
        """Certificate and key of the server that goes by this name, or has this address."""
        extensions: list[Extension] = [
            *_of_server((host,), critical=True),
            (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False),
            (x509.AuthorityKeyIdentifier.from_issuer_public_key(self._own.key.public_key()), False),
        ]
        return self._own.sign(self._server, self._days, extensions) + _private(self._server.key)


def _of_server(names: tuple[str, ...], *, critical: bool) -> list[Extension]:
    meant = x509.SubjectAlternativeName([_general_name(each) for each in names])
    return [(meant, critical), (x509.BasicConstraints(ca=False, path_length=None), True)]


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _private(key: EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
