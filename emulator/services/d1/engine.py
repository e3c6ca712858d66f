"""Queries on one database file; knows nothing of the API.

All statements of a call are one transaction, as a batch of D1 is. What would reach outside the file or change how it is
kept (ATTACH, most PRAGMAs, transactions of one's own) is refused, and what takes too long is cut off.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE = 5.0
"""Seconds for all statements of a call, which everybody else waits for."""

_STEPS = 100_000  # of SQLite between looks at the clock
_PRAGMAS = frozenset({
    "case_sensitive_like", "data_version", "defer_foreign_keys", "foreign_key_check", "foreign_key_list",
    "foreign_keys", "function_list", "ignore_check_constraints", "index_info", "index_list", "index_xinfo",
    "legacy_alter_table",
    "optimize", "quick_check", "recursive_triggers", "reverse_unordered_selects", "table_info", "table_list",
    "table_xinfo",
})  # fmt: skip
_DENIED = frozenset(
    {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT}
)


class QueryError(Exception):
    """SQLite refused a statement; the message is its reason."""


@dataclass(frozen=True)
class Query:
    """Statements, and the parameters of the only one if there are any."""

    sql: str
    params: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What one statement gave."""

    columns: list[str]
    rows: list[list[Any]]
    meta: dict[str, Any]

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The rows by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def run(path: Path, queries: list[Query], patience: float | None = None) -> list[Answer]:
    """The answers to all statements; an error undoes all of them."""
    seconds = PATIENCE if patience is None else patience
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        deadline = time.monotonic() + seconds
        database.execute("PRAGMA foreign_keys = ON")
        database.execute("BEGIN IMMEDIATE")
        database.set_authorizer(_authorise)
        database.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
        try:
            answers = [_one(database, path, statement) for query in queries for statement in _statements(query)]
        except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
            raise QueryError(_reason(error, seconds)) from error  # closing undoes what is not committed
        database.set_authorizer(None)
        database.execute("COMMIT")
    return answers


def _statements(query: Query) -> Iterator[Query]:
    """One by one; parameters are for a statement that stands alone."""
    parts, text = [], ""
    for piece in query.sql.split(";"):
        text += piece + ";"
        if sqlite3.complete_statement(text):
            parts.append(text)
            text = ""
    # What never became complete is left to SQLite, which says why.
    statements = [part for part in (*parts, text.removesuffix(";")) if part.strip(" \t\r\n;")]
    if not statements:
        raise QueryError("No SQL statements detected.")
    if query.params and len(statements) > 1:
        raise QueryError("A prepared SQL statement must contain only one statement.")
    return (Query(statement, query.params) for statement in statements)


def _one(database: sqlite3.Connection, path: Path, query: Query) -> Answer:
    started, before = time.perf_counter(), database.total_changes
    cursor = database.execute(query.sql, query.params)
    columns = [column[0] for column in cursor.description or ()]
    rows = [[list(value) if isinstance(value, bytes) else value for value in row] for row in cursor]
    changes = database.total_changes - before
    return Answer(
        columns,
        rows,
        {
            "served_by": "emulator",
            "duration": round((time.perf_counter() - started) * 1000, 3),
            "changes": changes,
            "last_row_id": cursor.lastrowid or 0,
            "changed_db": changes > 0 or not columns,
            "size_after": path.stat().st_size,
            "rows_read": len(rows),
            "rows_written": changes,
        },
    )


def _authorise(action: int, first: str | None, _second: str | None, _database: str | None, _by: str | None) -> int:
    if action in _DENIED or (action == sqlite3.SQLITE_PRAGMA and (first or "").lower() not in _PRAGMAS):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _reason(error: Exception, seconds: float) -> str:
    name = getattr(error, "sqlite_errorname", "SQLITE_ERROR")
    if name == "SQLITE_INTERRUPT":
        return f"D1 DB's isolate exceeded its CPU time limit: more than {seconds:g} seconds"
    return f"{error}: {name}"
