"""Operations of D1."""

from emulator.calls import Call, Raw, Result
from emulator.paging import page_of
from emulator.registry import MEBIBYTE, Fidelity, Mounted, Service
from emulator.schema import either, fields, flag, items, nullable, number, text
from emulator.store import Document

from . import errors, rules, transfers
from .engine import Answer

api = Service("d1", source="official Python SDK 5.9.0, wrangler 4.158.0", date="2026-11-18")
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
_CHANGE = fields({}, {"read_replication": _REPLICATION})
_BYTE = number(least=0, most=255, whole=True)
_PARAMETER = nullable(either(text(), flag(), items(_BYTE), number(least=-(2**63), most=2**63 - 1)))
QUERY = fields({"sql": text(least=1)}, {"params": nullable(items(_PARAMETER, most=100))})
_QUERIES = either(fields({"batch": items(QUERY, least=1)}), QUERY)
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
            fields({}, {"no_data": nullable(flag()), "no_schema": nullable(flag()), "tables": nullable(items(text()))})
        ),
    },
)
_FILES = (
    Mounted("PUT", "/d1/{token}", "the address itself", note="the file of an import, for an hour; 256 MiB"),
    Mounted("GET", "/d1/{token}", "the address itself", note="the file of an export, for an hour"),
)


@api.operation("GET", _DATABASES, needs=READ, note="filters name, fields")
def list_databases(call: Call) -> Result:
    """List databases."""
    name = call.query.get("name")
    found = [each for each in call.store.select(rules.DATABASE, call.account_id) if name in each["name"]]
    listed = page_of(call, found, default=1000, most=10_000)
    listed.result = [_shown(call, each) for each in listed.result]
    return listed


def _shown(call: Call, database: Document) -> Document:
    """A database, or those of its fields that are asked for."""
    asked = [each for each in call.query.get("fields").split(",") if each]
    whole = rules.view(call, database)
    return {name: whole.get(name) for name in asked} if asked else whole


@api.operation("POST", _DATABASES, needs=WRITE)
def create_database(call: Call) -> Result:
    """Create a database."""
    return Result(rules.view(call, rules.create(call, call.body(_CREATE, errors.INVALID))))


@api.operation("GET", _DATABASE, needs=READ, note="by id or name; `fields`")
def get_database(call: Call) -> Result:
    """Read a database."""
    return Result(_shown(call, rules.get(call)))


@api.operation("PATCH", _DATABASE, needs=WRITE, fidelity=Fidelity.STORED, note="nothing is replicated")
def edit_database(call: Call) -> Result:
    """Change a database."""
    return Result(rules.view(call, rules.change(call, call.body(_CHANGE, errors.INVALID))))


@api.operation("PUT", _DATABASE, needs=WRITE, fidelity=Fidelity.STORED, note="nothing is replicated")
def replace_database(call: Call) -> Result:
    """Set a database's replication anew."""
    return Result(rules.view(call, rules.change(call, call.body(_CHANGE, errors.INVALID))))


@api.operation("DELETE", _DATABASE, needs=WRITE)
def delete_database(call: Call) -> Result:
    """Delete a database."""
    rules.delete(call)
    return Result(None)


@api.operation("POST", _DATABASE + "/query", needs=WRITE, body_limit=10 * MEBIBYTE, note=_LIMITS)
def query(call: Call) -> Result:
    """Run statements; rows as objects."""
    return Result([{"results": each.objects, "success": True, "meta": each.meta} for each in _answers(call)])


@api.operation("POST", _DATABASE + "/raw", needs=WRITE, body_limit=10 * MEBIBYTE, note=_LIMITS, name="raw_query")
def raw_query(call: Call) -> Result:
    """Run statements; rows as arrays."""
    return Result(
        [
            {"results": {"columns": each.columns, "rows": each.rows}, "success": True, "meta": each.meta}
            for each in _answers(call)
        ]
    )


def _answers(call: Call) -> list[Answer]:
    database, body = rules.get(call), call.body(_QUERIES, errors.INVALID)
    given: list[Document] = body.get("batch") or [body]
    call.query.refuse_leftovers()  # what a query does cannot be undone with the call
    return rules.run(call, database["uuid"], given)


@api.operation(
    "POST", _DATABASE + "/import", needs=WRITE, note="done with the first answer; 30 s", name="import_database"
)
def import_database(call: Call) -> Result:
    """Run the SQL of a file, all or none of it."""
    body = call.body(_IMPORT, errors.INVALID)
    if body["action"] == "init":
        return Result(transfers.begin_import(call, body["etag"]))
    if body["action"] == "ingest":
        return Result(transfers.ingest(call, body["filename"], body["etag"]))
    return Result(transfers.recall(call, "import", body["current_bookmark"]))


@api.operation("POST", _DATABASE + "/export", needs=READ, note="done with the first answer", name="export_database")
def export_database(call: Call) -> Result:
    """Write the database as SQL."""
    body = call.body(_EXPORT, errors.INVALID)
    if body.get("current_bookmark"):
        return Result(transfers.recall(call, "export", body["current_bookmark"]))
    return Result(transfers.export(call, body.get("dump_options") or {}))


@api.mount("d1", _FILES)
async def carry_file(call: Call) -> Raw:
    """Everything below `/d1`: the files of imports and exports."""
    return await transfers.carry(call)
