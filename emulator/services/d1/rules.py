"""State and rules of D1: a database is a document and a file beside the state."""

from pathlib import Path
from typing import Any

from emulator.calls import Call
from emulator.clock import uuid_id
from emulator.store import Document
from emulator.world import World

from . import engine, errors

DATABASE = "d1_database"


def create(call: Call, body: Document) -> Document:
    """Make an empty database."""
    if call.store.find(DATABASE, call.account_id, "name", body["name"]):
        raise errors.NAME_TAKEN(name=body["name"])
    replication = body.get("read_replication") or {"mode": "disabled"}
    database = {
        "uuid": uuid_id(),
        "name": body["name"],
        "created_at": call.world.clock.stamp(),
        "version": "production",
        "running_in_region": (body.get("primary_location_hint") or "weur").upper(),
        "read_replication": replication,
    }
    return _put(call, database)


def change(call: Call, body: Document) -> Document:
    """Change what can be changed: the replication, which has no effect here."""
    return _put(call, {**get(call), **{name: value for name, value in body.items() if value is not None}})


def _put(call: Call, database: Document) -> Document:
    labels = {"name": database["name"]}
    return call.store.put(DATABASE, call.account_id, database["uuid"], database, labels=labels)


def get(call: Call) -> Document:
    """The path's database, by id or, as wrangler asks, by name."""
    wanted = call.params["database_id"]
    found = call.store.get(DATABASE, call.account_id, wanted)
    named = call.store.find(DATABASE, call.account_id, "name", wanted)
    if found is None and not named:
        raise errors.NO_DATABASE(id=wanted)
    return found or named[0]


def view(call: Call, database: Document) -> Document:
    """A database with its size."""
    path = file_of(call.world, database["uuid"])
    tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    count = engine.run(path, [engine.Query(tables)])[0].rows[0][0] if path.exists() else 0
    return {**database, "num_tables": count, "file_size": path.stat().st_size if path.exists() else 0}


def file_of(world: World, database_id: str) -> Path:
    """Where a database's content lies."""
    return world.folder / "d1" / f"{database_id}.sqlite"


def delete(call: Call) -> None:
    """Remove a database; its file goes when the emulator starts next, since this call may yet be undone."""
    database = get(call)["uuid"]
    call.store.delete_scope(database)
    call.store.delete(DATABASE, call.account_id, database)


def sweep(world: World) -> set[str]:
    """Remove the files of databases that are gone; no blob is needed here."""
    known = {f"{key}.sqlite" for _, key, _ in world.store.everywhere(DATABASE)}
    for path in (world.folder / "d1").glob("*"):
        if path.name not in known:
            path.unlink(missing_ok=True)
    return set()


def run(call: Call, database_id: str, given: list[Document]) -> list[engine.Answer]:
    """The answers to queries, all or none."""
    queries = [engine.Query(each["sql"], tuple(map(_parameter, each.get("params") or ()))) for each in given]
    try:
        return engine.run(file_of(call.world, database_id), queries)
    except engine.QueryError as error:
        raise errors.BAD_QUERY(problem=str(error)) from error


def _parameter(value: Any) -> Any:
    """A parameter as SQLite takes it; bytes travel as a list of numbers."""
    if isinstance(value, list):
        return bytes(value)
    return int(value) if isinstance(value, bool) else value
