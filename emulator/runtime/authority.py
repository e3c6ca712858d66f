"""A certificate authority of this emulator's own, which sandboxes trust and nobody else.

It signs for whatever name it is asked about, so its key is in this process alone and ends with it; so do all sandboxes
that trust it.
"""

import os
import ssl
from collections import OrderedDict
from datetime import UTC, datetime, timedelta
from functools import cached_property
from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

PLACE = "/etc/cloudflare/certs/cloudflare-containers-ca.crt"
"""Where the platform puts its own in a container."""
_NAME = "Cloudflare emulator's authority for sandboxes"
_DAYS = 365
_KEPT = 1_000  # contexts; a sandbox can ask for any number of names


class Authority:
    """Made when it is first needed."""

    def __init__(self) -> None:
        self._contexts: OrderedDict[str, ssl.SSLContext] = OrderedDict()

    @cached_property
    def _keys(self) -> "tuple[EllipticCurvePrivateKey, EllipticCurvePrivateKey]":
        """Its own key, and the one of all servers: no name is anybody else's."""
        from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 - only who runs sandboxes waits for it

        return ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())

    @cached_property
    def _certificate(self) -> "x509.Certificate":
        from cryptography import x509  # noqa: PLC0415 - as above

        usage = x509.KeyUsage(
            digital_signature=True,
            key_cert_sign=True,
            crl_sign=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            encipher_only=False,
            decipher_only=False,
        )
        extensions: list[tuple[x509.ExtensionType, bool]] = [
            (x509.BasicConstraints(ca=True, path_length=0), True),
            (usage, True),
            (x509.SubjectKeyIdentifier.from_public_key(self._keys[0].public_key()), False),
        ]
        return self._signed(_name(_NAME), self._keys[0], extensions)

    @property
    def certificate(self) -> str:
        """What a sandbox is to trust, in PEM."""
        from cryptography.hazmat.primitives.serialization import Encoding  # noqa: PLC0415 - as above

        return self._certificate.public_bytes(Encoding.PEM).decode()

    def context(self, host: str) -> ssl.SSLContext:
        """What a server that goes by this name, or has this address, speaks TLS with."""
        found = self._contexts.pop(host, None) or self._make(host)
        self._contexts[host] = found
        if len(self._contexts) > _KEPT:
            self._contexts.popitem(last=False)
        return found

    def _make(self, host: str) -> ssl.SSLContext:
        from cryptography import x509  # noqa: PLC0415 - as above
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
        from cryptography.x509.oid import ExtendedKeyUsageOID  # noqa: PLC0415

        named: x509.GeneralName
        try:
            named = x509.IPAddress(ip_address(host))
        except ValueError:
            named = x509.DNSName(host)
        own, key = self._keys
        extensions: list[tuple[x509.ExtensionType, bool]] = [
            (x509.SubjectAlternativeName([named]), True),
            (x509.BasicConstraints(ca=False, path_length=None), True),
            (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False),
            (x509.AuthorityKeyIdentifier.from_issuer_public_key(own.public_key()), False),
        ]
        pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        made = self._signed(x509.Name([]), key, extensions).public_bytes(pem)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        _load(context, made + key.private_bytes(pem, form, serialization.NoEncryption()))
        return context

    def _signed(
        self,
        subject: "x509.Name",
        key: "EllipticCurvePrivateKey",
        extensions: "list[tuple[x509.ExtensionType, bool]]",
    ) -> "x509.Certificate":
        from cryptography import x509  # noqa: PLC0415 - as above
        from cryptography.hazmat.primitives import hashes  # noqa: PLC0415

        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(_name(_NAME))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=_DAYS))
        )
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical=critical)
        return builder.sign(self._keys[0], hashes.SHA256())


def _name(text: str) -> "x509.Name":
    from cryptography import x509  # noqa: PLC0415 - as above

    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def _load(context: ssl.SSLContext, chain: bytes) -> None:
    """The library reads files alone: this one is in memory."""
    handle = os.memfd_create("chain")
    try:
        os.write(handle, chain)
        context.load_cert_chain(f"/proc/self/fd/{handle}")
    finally:
        os.close(handle)
