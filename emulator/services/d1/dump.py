"""A database as SQL that makes it again; knows nothing of the API."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from .engine import QueryError

_OBJECTS = (
    "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND sql NOTNULL"
    " ORDER BY type != 'table', rowid"
)


@dataclass(frozen=True)
class Wanted:
    """What of a database is asked for; no tables are all of them."""

    tables: frozenset[str] = frozenset()
    schema: bool = True
    data: bool = True


def dump(path: Path, wanted: Wanted) -> str:
    """All of it in one text; nothing changes meanwhile."""
    if not path.exists():
        return ""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)) as database:
        database.execute("BEGIN")
        return "\n".join(_lines(database, wanted)) + "\n"


def _lines(database: sqlite3.Connection, wanted: Wanted) -> Iterator[str]:
    yield "PRAGMA defer_foreign_keys=TRUE;"
    objects = database.execute(_OBJECTS).fetchall()
    known = {name for kind, name, _, _ in objects if kind == "table"}
    if missing := sorted(wanted.tables - known):
        raise QueryError(f"no such table: {missing[0]}")
    later = []
    for kind, name, table, sql in objects:
        if wanted.tables and table not in wanted.tables:
            continue
        if kind != "table":
            later.append(f"{sql};")
            continue
        if sql.upper().startswith("CREATE VIRTUAL TABLE"):
            raise QueryError("D1 Export error: cannot export databases with Virtual Tables (fts5)")
        if wanted.schema:
            yield f"{sql};"
        if wanted.data:
            yield from _rows(database, name)
    if wanted.data:
        yield from _counters(database, wanted)
    if wanted.schema:
        yield from later


def _rows(database: sqlite3.Connection, table: str) -> Iterator[str]:
    columns = [row[0] for row in database.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    quoted = ",".join(_name(each) for each in columns)
    values = " || ',' || ".join(f"quote({_name(each)})" for each in columns)
    for (row,) in database.execute(f"SELECT {values} FROM {_name(table)}"):  # noqa: S608 - names are quoted
        yield f"INSERT INTO {_name(table)} ({quoted}) VALUES({row});"


def _counters(database: sqlite3.Connection, wanted: Wanted) -> Iterator[str]:
    """Where AUTOINCREMENT goes on, which the rows do not say once the last of them was deleted."""
    if not database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").fetchone():
        return
    for name, number in database.execute("SELECT quote(name), seq FROM sqlite_sequence").fetchall():
        if not wanted.tables or name[1:-1].replace("''", "'") in wanted.tables:
            yield f"DELETE FROM sqlite_sequence WHERE name = {name};"  # noqa: S608 - as above
            yield f'INSERT INTO "sqlite_sequence" ("name","seq") VALUES({name},{number});'


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
