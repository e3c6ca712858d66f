"""Operations on custom certificates."""

from emulator.calls import Call, Result
from emulator.paging import page_of
from emulator.registry import Fidelity, Service
from emulator.schema import fields, nullable, text

from . import errors, rules

api = Service("custom_certificates", source="official Python SDK 5.9.0, Cloudflare's documentation", date="2026-11-18")

READ, WRITE = "SSL and Certificates Read", "SSL and Certificates Write"
_CERTIFICATES = "/zones/{zone_id}/custom_certificates"
_CERTIFICATE = _CERTIFICATES + "/{custom_certificate_id}"
_UNUSED = "no trust store, no staging, no custom CSRs; used by no connection"
_STATES = ("", "active", "expired", "deleted", "pending", "initializing")

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
_CHANGE = fields({}, {**_OPTIONS, "certificate": nullable(_PEM), "private_key": nullable(_PEM)})


@api.operation("GET", _CERTIFICATES, needs=READ, note="filter status")
def list_certificates(call: Call) -> Result:
    """List custom certificates."""
    state = call.choice("status", _STATES, "")
    call.query.has_no_effect("match")  # with one filter, all of them and any of them are the same
    found = [rules.view(call, each) for each in call.store.select(rules.KIND, call.zone["id"])]
    return page_of(call, [each for each in found if state in ("", each["status"])], most=50, least=5)


@api.operation("POST", _CERTIFICATES, needs=WRITE, fidelity=Fidelity.PARTIAL, note=_UNUSED)
def create_certificate(call: Call) -> Result:
    """Upload a certificate with its private key."""
    return Result(rules.view(call, rules.upload(call, call.body(_NEW, errors.INVALID))))


@api.operation("GET", _CERTIFICATE, needs=READ)
def get_certificate(call: Call) -> Result:
    """Read what is known of a certificate."""
    return Result(rules.view(call, rules.get(call)))


@api.operation("PATCH", _CERTIFICATE, needs=WRITE, fidelity=Fidelity.PARTIAL, note=_UNUSED)
def edit_certificate(call: Call) -> Result:
    """Change a certificate, its key or its options."""
    return Result(rules.view(call, rules.change(call, call.body(_CHANGE, errors.INVALID))))


@api.operation("DELETE", _CERTIFICATE, needs=WRITE)
def delete_certificate(call: Call) -> Result:
    """Delete a certificate with its key."""
    found = rules.get(call)
    rules.delete(call)
    return Result({"id": found["id"]})
