"""State and rules of D1: a database is a document and a file beside the state."""

from pathlib import Path
from typing import Any

from emulator.calls import Call, Result
from emulator.clock import uuid_id
from emulator.paging import page_of
from emulator.schema import either, fields, flag, items, nullable, number, text, without_nulls
from emulator.state import State
from emulator.store import Document

from . import engine, errors

DATABASE = "d1_database"
_BYTE = number(least=0, most=255, whole=True)
_PARAMETER = nullable(either(text(), flag(), items(_BYTE), number(least=-(2**63), most=2**63 - 1)))
QUERY = fields({"sql": text(least=1)}, {"params": nullable(items(_PARAMETER, most=100))})
_QUERIES = either(fields({"batch": items(QUERY, least=1)}), QUERY)


def list_databases(call: Call) -> Result:
    """List databases."""
    name = call.query.get("name")
    found = [each for each in call.store.select(DATABASE, call.account_id) if name in each["name"]]
    listed = page_of(call, found, default=1000, most=10_000)
    listed.result = [asked_fields(call, each) for each in listed.result]
    return listed


def create_database(call: Call, body: Document) -> Document:
    """Create an empty database."""
    if call.store.find(DATABASE, call.account_id, "name", body["name"]):
        raise errors.NAME_TAKEN(name=body["name"])
    replication = body.get("read_replication") or {"mode": "disabled"}
    database = {
        "uuid": uuid_id(),
        "name": body["name"],
        "created_at": call.state.clock.stamp(),
        "version": "production",
        "running_in_region": (body.get("primary_location_hint") or "weur").upper(),
        "read_replication": replication,
    }
    return _put(call, database)


def change_database(call: Call, body: Document) -> Document:
    """Change what can be changed: the replication, which has no effect here."""
    return _put(call, {**get_database(call), **without_nulls(body)})


def _put(call: Call, database: Document) -> Document:
    labels = {"name": database["name"]}
    return call.store.put(DATABASE, call.account_id, database["uuid"], database, labels=labels)


def get_database(call: Call) -> Document:
    """The path's database, by id or, as wrangler asks, by name."""
    wanted = call.params["database_id"]
    found = call.store.get(DATABASE, call.account_id, wanted)
    named = call.store.find(DATABASE, call.account_id, "name", wanted)
    if found is None and not named:
        raise errors.NO_DATABASE(id=wanted)
    return found or named[0]


def view(call: Call, database: Document) -> Document:
    """A database with its size."""
    path = file_of(call.state, database["uuid"])
    tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    count = engine.run(path, [engine.Query(tables)])[0].rows[0][0] if path.exists() else 0
    return {**database, "num_tables": count, "file_size": path.stat().st_size if path.exists() else 0}


def asked_fields(call: Call, database: Document) -> Document:
    """A database, or those of its fields that are asked for."""
    asked = [each for each in call.query.get("fields").split(",") if each]
    whole = view(call, database)
    return {name: whole.get(name) for name in asked} if asked else whole


def file_of(state: State, database_id: str) -> Path:
    """Where a database's content lies."""
    return state.folder / "d1" / f"{database_id}.sqlite"


def delete_database(call: Call) -> None:
    """Remove a database; its file goes when the emulator starts next, since this call may yet be undone."""
    database = get_database(call)["uuid"]
    call.store.delete_scope(database)
    call.store.delete(DATABASE, call.account_id, database)


def sweep(state: State) -> set[str]:
    """Remove the files of databases that are gone; no blob is needed here."""
    known = {f"{key}.sqlite" for _, key, _ in state.store.everywhere(DATABASE)}
    for path in (state.folder / "d1").glob("*"):
        if path.name not in known:
            path.unlink(missing_ok=True)
    return set()


def query(call: Call) -> list[Document]:
    """Run statements; rows as objects."""
    return [{"results": each.objects, "success": True, "meta": each.meta} for each in _answers(call)]


def raw_query(call: Call) -> list[Document]:
    """Run statements; rows as arrays."""
    return [
        {"results": {"columns": each.columns, "rows": each.rows}, "success": True, "meta": each.meta}
        for each in _answers(call)
    ]


def _answers(call: Call) -> list[engine.Answer]:
    database, body = get_database(call), call.body(_QUERIES, errors.INVALID)
    given: list[Document] = body.get("batch") or [body]
    call.query.refuse_leftovers()  # what a query does cannot be undone with the call
    return run(call, database["uuid"], given)


def run(call: Call, database_id: str, given: list[Document]) -> list[engine.Answer]:
    """The answers to queries, all or none."""
    queries = [engine.Query(each["sql"], tuple(map(_parameter, each.get("params") or ()))) for each in given]
    try:
        return engine.run(file_of(call.state, database_id), queries)
    except engine.QueryError as error:
        raise errors.BAD_QUERY(problem=str(error)) from error


def _parameter(value: Any) -> Any:
    """A parameter as SQLite takes it; bytes travel as a list of numbers."""
    if isinstance(value, list):
        return bytes(value)
    return int(value) if isinstance(value, bool) else value
