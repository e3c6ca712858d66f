"""Operations on DNS records."""

from emulator.calls import Call, Result
from emulator.paging import page_of, page_of_kind
from emulator.registry import Fidelity, Service

from . import errors, rules
from .records import CHANGE, WHOLE

api = Service(
    "dns",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
)

READ, WRITE = "DNS Read", "DNS Write"
_RECORDS = "/zones/{zone_id}/dns_records"
_RECORD = _RECORDS + "/{dns_record_id}"
_DEFAULT, _MOST = 100, 50_000


@api.operation("GET", _RECORDS, needs=READ, fidelity=Fidelity.PARTIAL, note="no tag filters, no shadow metadata")
def list_records(call: Call) -> Result:
    """List records."""
    found = rules.filtered(call)
    if found is None:
        return page_of_kind(call, "dns_record", call.zone["id"], default=_DEFAULT, most=_MOST)
    return page_of(call, found, default=_DEFAULT, most=_MOST)


@api.operation("POST", _RECORDS, needs=WRITE, note="record data is checked for A, AAAA, CNAME, MX, NS and PTR")
def create_record(call: Call) -> Result:
    """Create a record."""
    return Result(rules.create_record(call, call.body(WHOLE, errors.INVALID)))


@api.operation("GET", _RECORD, needs=READ)
def get_record(call: Call) -> Result:
    """Read a record."""
    return Result(rules.get_record(call))


@api.operation("PUT", _RECORD, needs=WRITE)
def replace_record(call: Call) -> Result:
    """Replace a record."""
    return Result(rules.replace_record(call, call.body(WHOLE, errors.INVALID)))


@api.operation("PATCH", _RECORD, needs=WRITE)
def change_record(call: Call) -> Result:
    """Change a record."""
    return Result(rules.change_record(call, call.body(CHANGE, errors.INVALID)))


@api.operation("DELETE", _RECORD, needs=WRITE)
def delete_record(call: Call) -> Result:
    """Delete a record."""
    rules.delete_record(call)
    return Result({"id": call.params["dns_record_id"]})
