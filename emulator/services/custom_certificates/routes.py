"""Operations on custom certificates."""

from emulator.registry import PARTIAL, Service
from emulator.schema import fields, nullable, options, text

from . import errors, rules

api = Service(
    "custom_certificates",
    source="official Python SDK 5.9.0, Cloudflare's documentation",
    date="2026-11-18",
    invalid=errors.INVALID,
)

READ, WRITE = "SSL and Certificates Read", "SSL and Certificates Write"
_CERTIFICATES = "/zones/{zone_id}/custom_certificates"
_CERTIFICATE = _CERTIFICATES + "/{custom_certificate_id}"
_UNUSED = "no trust store, no staging, no custom CSRs; used by no connection"

_PEM = text(least=1, most=65536)
_OPTIONS = {
    "bundle_method": nullable(text(choices=["ubiquitous", "optimal", "force"])),
    "deploy": nullable(text(choices=["production"])),
    "geo_restrictions": nullable(fields({"label": text(choices=["us", "eu", "highest_security"])})),
    "policy": nullable(text(most=1024)),
    "policy_restrictions": nullable(text(most=1024)),
}
_NEW = fields(
    {"certificate": _PEM, "private_key": _PEM},
    {**_OPTIONS, "type": nullable(text(choices=["legacy_custom", "sni_custom"]))},
)
_CHANGE = options(**_OPTIONS, certificate=nullable(_PEM), private_key=nullable(_PEM))


api.get(_CERTIFICATES, rules.list_certificates, READ, note="filter status")
api.post(_CERTIFICATES, rules.create_certificate, WRITE, PARTIAL, body=_NEW, view=rules.view, note=_UNUSED)
api.get(_CERTIFICATE, rules.CERTIFICATES.get, READ, view=rules.view, name="get_certificate")
api.patch(_CERTIFICATE, rules.edit_certificate, WRITE, PARTIAL, body=_CHANGE, view=rules.view, note=_UNUSED)
api.delete(_CERTIFICATE, rules.delete_certificate, WRITE)
