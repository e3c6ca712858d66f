"""State of the emulated account: JSON documents in one SQLite file.

A document has a kind, a scope (usually an account or zone id) and a key unique within both; lists come in
insertion order or by key. Labels are indexed values for look-ups by something other than the key.
SQLite is the truth: nothing is loaded at start-up, a request is one transaction, a killed process loses nothing.
"""

import fcntl
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

Document = dict[str, Any]
Order = Literal["age", "key"]

_DATABASE = "state.sqlite3"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, scope TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL,
  UNIQUE (kind, scope, key)
);
CREATE INDEX IF NOT EXISTS documents_by_age ON documents (kind, scope, seq);
CREATE TABLE IF NOT EXISTS labels (
  seq INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE, kind TEXT NOT NULL, scope TEXT NOT NULL,
  label TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, label, value, scope, seq)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS labels_by_document ON labels (seq);
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""


def pick(document: Document, *names: str) -> Document:
    """The named fields of a document, as views show them."""
    return {name: document[name] for name in names}


class StateInUseError(Exception):
    """Another emulator holds this state folder."""


class Store:
    """Documents, their labels and a few settings, used from one thread."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A folder that was there may be open to others and stays so: each file is for its owner only.
        for name in ("lock", _DATABASE):  # SQLite gives its log the mode of the database
            (folder / name).touch(mode=0o600)
        self._lock = (folder / "lock").open("w", encoding="utf-8")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock.close()
            raise StateInUseError(f"The state folder {folder} is in use by another emulator.") from error
        # One thread at a time uses it, but a test may build the emulator on one thread and serve on another.
        self._db = sqlite3.connect(folder / _DATABASE, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("PRAGMA foreign_keys = ON")
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        """Let go of the file and of the folder."""
        self._db.close()
        self._lock.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; inside another one it is part of that one. Never await inside."""
        if self._db.in_transaction:
            yield
            return
        self._db.execute("BEGIN")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Refuse every write inside. Never await inside."""
        self._db.execute("PRAGMA query_only = ON")
        try:
            yield
        finally:
            self._db.execute("PRAGMA query_only = OFF")

    @property
    def changes(self) -> int:
        """A number that grows with every change."""
        return self._db.total_changes

    def get(self, kind: str, scope: str, key: str) -> Document | None:
        """The document, or None."""
        row = self._db.execute(
            "SELECT body FROM documents WHERE kind = ? AND scope = ? AND key = ?", (kind, scope, key)
        ).fetchone()
        return None if row is None else json.loads(row[0])

    def has(self, kind: str, scope: str, key: str) -> bool:
        """Whether the document exists."""
        query = "SELECT 1 FROM documents WHERE kind = ? AND scope = ? AND key = ?"
        return self._db.execute(query, (kind, scope, key)).fetchone() is not None

    def put(
        self, kind: str, scope: str, key: str, body: Document, *, labels: Mapping[str, str] | None = None
    ) -> Document:
        """Write the document (a new one goes to the end of the list) and replace its labels."""
        text = json.dumps(body, separators=(",", ":"))
        with self.transaction():
            seq = self._db.execute(
                "INSERT INTO documents (kind, scope, key, body) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (kind, scope, key) DO UPDATE SET body = excluded.body RETURNING seq",
                (kind, scope, key, text),
            ).fetchone()[0]
            self._db.execute("DELETE FROM labels WHERE seq = ?", (seq,))
            for label, value in (labels or {}).items():
                self._db.execute("INSERT INTO labels VALUES (?, ?, ?, ?, ?)", (seq, kind, scope, label, value))
        return body

    def delete(self, kind: str, scope: str, key: str) -> bool:
        """Remove the document; whether there was one."""
        cursor = self._db.execute("DELETE FROM documents WHERE kind = ? AND scope = ? AND key = ?", (kind, scope, key))
        return cursor.rowcount > 0

    def delete_all(self, kind: str, scope: str) -> int:
        """Remove every document of a kind in a scope; how many there were."""
        return self._db.execute("DELETE FROM documents WHERE kind = ? AND scope = ?", (kind, scope)).rowcount

    def delete_scope(self, scope: str) -> None:
        """Remove everything in a scope and in the scopes below it, whatever its kind."""
        self._db.execute(
            "DELETE FROM documents WHERE scope = ? OR substr(scope, 1, ?) = ?", (scope, len(scope) + 1, f"{scope}/")
        )

    def select(
        self,
        kind: str,
        scope: str,
        *,
        order: Order = "age",
        descending: bool = False,
        limit: int = -1,
        offset: int = 0,
        after: str | None = None,
        prefix: str = "",
    ) -> list[Document]:
        """Documents of a scope; `after` and `prefix` are about the key and go with order="key"."""
        query = "SELECT body FROM documents WHERE kind = ? AND scope = ?"
        values: list[str | int] = [kind, scope]
        if after is not None:
            query += " AND key < ?" if descending else " AND key > ?"
            values.append(after)
        if prefix:
            query += " AND key >= ? AND key < ?"
            values += [prefix, prefix + "\U0010ffff"]
        column = "seq" if order == "age" else "key"
        query += f" ORDER BY {column} {'DESC' if descending else 'ASC'} LIMIT ? OFFSET ?"
        return [json.loads(row[0]) for row in self._db.execute(query, (*values, limit, offset))]

    def keys(self, kind: str, scope: str) -> list[str]:
        """Keys of a scope in insertion order."""
        query = "SELECT key FROM documents WHERE kind = ? AND scope = ? ORDER BY seq"
        return [row[0] for row in self._db.execute(query, (kind, scope))]

    def count(self, kind: str, scope: str) -> int:
        """How many documents a scope has."""
        query = "SELECT COUNT(*) FROM documents WHERE kind = ? AND scope = ?"
        return int(self._db.execute(query, (kind, scope)).fetchone()[0])

    def find(self, kind: str, scope: str, label: str, value: str) -> list[Document]:
        """Documents of a scope carrying a label with this value, in insertion order."""
        query = (
            "SELECT body FROM labels JOIN documents USING (seq)"
            " WHERE labels.kind = ? AND labels.scope = ? AND label = ? AND value = ? ORDER BY seq"
        )
        return [json.loads(row[0]) for row in self._db.execute(query, (kind, scope, label, value))]

    def find_anywhere(self, kind: str, label: str, value: str) -> list[tuple[str, Document]]:
        """As `find`, over all scopes: (scope, document). For what is unique in the whole of Cloudflare."""
        query = (
            "SELECT documents.scope, body FROM labels JOIN documents USING (seq)"
            " WHERE labels.kind = ? AND label = ? AND value = ? ORDER BY seq"
        )
        return [(row[0], json.loads(row[1])) for row in self._db.execute(query, (kind, label, value))]

    def scopes(self, kind: str) -> list[str]:
        """Scopes that hold documents of a kind."""
        return [row[0] for row in self._db.execute("SELECT DISTINCT scope FROM documents WHERE kind = ?", (kind,))]

    def everywhere(self, kind: str) -> list[tuple[str, str, Document]]:
        """Every document of a kind: scope, key, document."""
        rows = self._db.execute("SELECT scope, key, body FROM documents WHERE kind = ? ORDER BY seq", (kind,))
        return [(row[0], row[1], json.loads(row[2])) for row in rows]

    def counts(self) -> dict[str, int]:
        """Number of documents per kind, over all scopes."""
        return dict(self._db.execute("SELECT kind, COUNT(*) FROM documents GROUP BY kind ORDER BY kind").fetchall())

    def setting(self, name: str) -> str | None:
        """A value that belongs to the state as a whole."""
        row = self._db.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def set_setting(self, name: str, value: str) -> None:
        """Write such a value."""
        self._db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))

    def complaints(self) -> list[str]:
        """What is wrong with the file: damaged pages, labels without a document, bodies that are not JSON."""
        found = [row[0] for row in self._db.execute("PRAGMA integrity_check") if row[0] != "ok"]
        found += [f"label of a missing document: {row}" for row in self._db.execute("PRAGMA foreign_key_check")]
        broken = self._db.execute("SELECT kind, scope, key FROM documents WHERE NOT json_valid(body)")
        return found + [f"not JSON: {row}" for row in broken]

    def clear(self) -> None:
        """Forget everything."""
        with self.transaction():
            for table in ("labels", "documents", "settings"):
                self._db.execute(f"DELETE FROM {table}")  # noqa: S608 - the names are the three above
