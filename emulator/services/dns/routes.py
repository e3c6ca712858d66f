"""Operations on DNS records."""

from emulator.calls import Call, Raw, Result
from emulator.multipart import is_multipart, parse_multipart
from emulator.paging import page_of, page_of_kind
from emulator.registry import MEBIBYTE, Fidelity, Service
from emulator.schema import fields, items, nullable, text

from . import errors, rules, zone_file
from .records import CHANGE, CHANGE_OF, WHOLE, WHOLE_OF

api = Service(
    "dns",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
)

READ, WRITE = "DNS Read", "DNS Write"
_RECORDS = "/zones/{zone_id}/dns_records"
_RECORD = _RECORDS + "/{dns_record_id}"
_DEFAULT, _MOST = 100, 50_000
_BATCH = fields(
    {},
    {
        "deletes": nullable(items(fields({"id": text()}, closed=False))),
        "patches": nullable(items(CHANGE_OF)),
        "puts": nullable(items(WHOLE_OF)),
        "posts": nullable(items(WHOLE)),
    },
)

api.absent("GET", _RECORDS + "/usage")


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


@api.operation("POST", _RECORDS + "/batch", needs=WRITE, note="all or nothing: deletes, patches, puts, posts")
def batch_records(call: Call) -> Result:
    """Change many records at once."""
    body = call.body(_BATCH, errors.INVALID)
    return Result(
        {
            "deletes": [rules.take_away(rules.about(call, each["id"])) for each in body.get("deletes") or ()],
            "patches": [rules.change_record(rules.about(call, each["id"]), each) for each in body.get("patches") or ()],
            "puts": [rules.replace_record(rules.about(call, each["id"]), each) for each in body.get("puts") or ()],
            "posts": [rules.create_record(call, each) for each in body.get("posts") or ()],
        }
    )


@api.operation("GET", _RECORDS + "/export", needs=READ)
def export_records(call: Call) -> Raw:
    """The records as a zone file."""
    written = zone_file.write(call.zone["name"], call.store.select("dns_record", call.zone["id"]))
    return Raw(written.encode(), "text/plain; charset=utf-8")


@api.operation(
    "POST",
    _RECORDS + "/import",
    needs=WRITE,
    fidelity=Fidelity.PARTIAL,
    note="types of one plain content (A, AAAA, CNAME, MX, NS, PTR, TXT); identical records are passed over",
    body_limit=10 * MEBIBYTE,
)
def import_records(call: Call) -> Result:
    """Add the records of a zone file."""
    content_type = call.headers.get("content-type", "")
    if not is_multipart(content_type):
        raise errors.INVALID(problem="it must be a form with a part named file")
    parts = {part.name: part.body.decode("utf-8", "replace") for part in parse_multipart(content_type, call.body_bytes)}
    if "file" not in parts:
        raise errors.INVALID(problem="it must be a form with a part named file")
    read = zone_file.read(call.zone["name"], parts["file"], proxied=parts.get("proxied", "false") == "true")
    return Result({"recs_added": rules.add_new(call, read), "total_records_parsed": len(read)})
