"""Operations on DNS records."""

from emulator.registry import MEBIBYTE, PARTIAL, Service
from emulator.schema import fields, items, nullable, options, text

from . import errors, rules
from .records import CHANGE, CHANGE_OF, WHOLE, WHOLE_OF

api = Service(
    "dns",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
    invalid=errors.INVALID,
)

READ, WRITE = "DNS Read", "DNS Write"
_RECORDS = "/zones/{zone_id}/dns_records"
_RECORD = _RECORDS + "/{dns_record_id}"
_BATCH = options(
    deletes=nullable(items(fields({"id": text()}, closed=False))),
    patches=nullable(items(CHANGE_OF)),
    puts=nullable(items(WHOLE_OF)),
    posts=nullable(items(WHOLE)),
)

api.absent("GET", _RECORDS + "/usage")
_CREATE_RECORD = "record data is checked for A, AAAA, CNAME, MX, NS and PTR"
_BATCH_RECORDS = "all or nothing: deletes, patches, puts, posts"
_IMPORT_RECORDS = "types of one plain content (A, AAAA, CNAME, MX, NS, PTR, TXT); identical records are passed over"

api.get(_RECORDS, rules.list_records, READ, PARTIAL, note="no tag filters, no shadow metadata")
api.post(_RECORDS, rules.create_record, WRITE, body=WHOLE, note=_CREATE_RECORD)
api.get(_RECORD, rules.RECORDS.get, READ, name="get_record")
api.put(_RECORD, rules.replace_record, WRITE, body=WHOLE)
api.patch(_RECORD, rules.change_record, WRITE, body=CHANGE)
api.delete(_RECORD, rules.RECORDS.delete, WRITE, name="delete_record")
api.post(_RECORDS + "/batch", rules.batch_records, WRITE, body=_BATCH, note=_BATCH_RECORDS)
api.get(_RECORDS + "/export", rules.export_records, READ)
api.post(_RECORDS + "/import", rules.import_records, WRITE, PARTIAL, note=_IMPORT_RECORDS, body_limit=10 * MEBIBYTE)
