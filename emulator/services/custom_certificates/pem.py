"""What a certificate chain and a private key in PEM say; pure."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from . import errors


@dataclass(frozen=True)
class Leaf:
    """The certificate of the chain that is for hosts."""

    hosts: list[str]
    issuer: str
    signature: str
    fingerprint: str
    expires: datetime
    public_key: Any


def leaf_of(chain: str) -> Leaf:
    """The first certificate that can sign no other."""
    # cryptography takes a third of the start-up time, and few zones have a certificate of their own.
    from cryptography import x509  # noqa: PLC0415
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415

    unreadable = (ValueError, UnsupportedAlgorithm, x509.DuplicateExtension, x509.UnsupportedGeneralNameType)
    try:
        for certificate in x509.load_pem_x509_certificates(chain.encode()):
            found = {each.oid: each.value for each in certificate.extensions}
            limits = found.get(x509.BasicConstraints.oid)
            if not (isinstance(limits, x509.BasicConstraints) and limits.ca):
                return _leaf(certificate, found.get(x509.SubjectAlternativeName.oid))
    except unreadable as error:
        raise errors.NOT_A_CERTIFICATE() from error
    raise errors.NO_LEAF()


def _leaf(certificate: Any, names: Any) -> Leaf:
    from cryptography import x509  # noqa: PLC0415 - as above
    from cryptography.hazmat.primitives import hashes  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey  # noqa: PLC0415

    key = certificate.public_key()
    digest = (certificate.signature_hash_algorithm or hashes.SHA512()).name.upper()
    issuer = certificate.issuer.get_attributes_for_oid(x509.NameOID.ORGANIZATION_NAME) or list(certificate.issuer)
    return Leaf(
        hosts=[host.lower() for host in names.get_values_for_type(x509.DNSName)] if names else [],
        issuer=str(issuer[0].value) if issuer else "",
        signature=f"ECDSAWith{digest}" if isinstance(key, EllipticCurvePublicKey) else f"{digest}WithRSA",
        fingerprint=certificate.fingerprint(hashes.SHA256()).hex(),
        expires=certificate.not_valid_after_utc,
        public_key=key,
    )


def refuse_other_key(leaf: Leaf, private_key: str) -> None:
    """Raise unless the key is readable without a password, and the certificate's."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - as above
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        key = load_pem_private_key(private_key.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise errors.NOT_A_KEY() from error
    if key.public_key() != leaf.public_key:
        raise errors.NO_PAIR()
