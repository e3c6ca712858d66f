"""Operations of D1."""

from emulator.registry import MEBIBYTE, STORED, Mounted, Service
from emulator.schema import either, fields, flag, items, nullable, options, text

from . import errors, rules, transfers

api = Service("d1", source="official Python SDK 5.9.0, wrangler 4.158.0", date="2026-11-18", invalid=errors.INVALID)
api.on_sweep(rules.sweep)
api.on_sweep(transfers.sweep)

READ, WRITE = "D1 Read", "D1 Write"
_DATABASES = "/accounts/{account_id}/d1/database"
_DATABASE = _DATABASES + "/{database_id}"
_LIMITS = "SQLite of this machine; all statements of a call are one transaction; 5 s"

_REPLICATION = nullable(fields({"mode": text(choices=["auto", "disabled"])}))
_LOCATION = nullable(text(choices=["wnam", "enam", "weur", "eeur", "apac", "oc"]))
_JURISDICTION = nullable(text(choices=["eu", "us", "fedramp"]))
_CREATE = fields(
    {"name": text(least=1, most=64, pattern=r"[A-Za-z0-9][A-Za-z0-9_-]*")},
    {"primary_location_hint": _LOCATION, "read_replication": _REPLICATION, "jurisdiction": _JURISDICTION},
)
_CHANGE = options(read_replication=_REPLICATION)
_ETAG = text(pattern="[0-9a-f]{32}")
_IMPORT = either(
    fields({"action": text(choices=["init"]), "etag": _ETAG}),
    fields({"action": text(choices=["ingest"]), "etag": _ETAG, "filename": text(least=1)}),
    fields({"action": text(choices=["poll"]), "current_bookmark": text(least=1)}),
)
_EXPORT = fields(
    {"output_format": text(choices=["polling"])},
    {
        "current_bookmark": nullable(text(least=1)),
        "dump_options": nullable(
            options(no_data=nullable(flag()), no_schema=nullable(flag()), tables=nullable(items(text())))
        ),
    },
)
_FILES = (
    Mounted("PUT", "/d1/{token}", "the address itself", note="the file of an import, for an hour; 256 MiB"),
    Mounted("GET", "/d1/{token}", "the address itself", note="the file of an export, for an hour"),
)


api.get(_DATABASES, rules.list_databases, READ, note="filters name, fields")
api.post(_DATABASES, rules.create_database, WRITE, body=_CREATE, view=rules.view)
api.get(_DATABASE, rules.get_database, READ, view=rules.asked_fields, note="by id or name; `fields`")
for _change, _name in ((api.patch, "edit_database"), (api.put, "replace_database")):
    _change(
        _DATABASE,
        rules.change_database,
        WRITE,
        body=_CHANGE,
        view=rules.view,
        fidelity=STORED,
        note="nothing is replicated",
        name=_name,
    )
api.delete(_DATABASE, rules.delete_database, WRITE)
api.post(_DATABASE + "/query", rules.query, WRITE, body_limit=10 * MEBIBYTE, note=_LIMITS)
api.post(_DATABASE + "/raw", rules.raw_query, WRITE, body_limit=10 * MEBIBYTE, note=_LIMITS)
api.post(_DATABASE + "/import", transfers.import_database, WRITE, body=_IMPORT, note="done with the first answer; 30 s")
api.post(_DATABASE + "/export", transfers.export_database, READ, body=_EXPORT, note="done with the first answer")
api.mount("d1", _FILES)(transfers.carry)
