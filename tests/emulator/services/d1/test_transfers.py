"""D1: a whole database out as SQL and in again, through the SDK in strict mode."""

import hashlib
from typing import Any

import httpx
import pytest
from cloudflare import Cloudflare

CONTENT = """
CREATE TABLE notes (id INTEGER PRIMARY KEY AUTOINCREMENT, "a ""name" TEXT, data BLOB,
  twice GENERATED ALWAYS AS (id * 2));
INSERT INTO notes VALUES (1, 'it''s; fine', X'0102'), (7, NULL, 0.5);
DELETE FROM notes WHERE id = 7;
CREATE TABLE tags (note INTEGER REFERENCES notes (id), tag TEXT);
INSERT INTO tags VALUES (1, 'ü');
CREATE INDEX by_tag ON tags (tag);
CREATE VIEW tagged AS SELECT tag FROM tags;
CREATE TRIGGER trim AFTER INSERT ON tags BEGIN
  DELETE FROM tags WHERE tag = 'none'; DELETE FROM tags WHERE tag = ''; END;
"""


class Databases:
    """Databases of the account, filled from SQL."""

    def __init__(self, client: Cloudflare, account: str) -> None:
        self.client, self.account = client, account

    def create(self, name: str) -> str:
        made = self.client.d1.database.create(account_id=self.account, name=name)
        assert made is not None
        return str(made.uuid)

    def begin(self, database: str, sql: str) -> Any:
        etag = hashlib.md5(sql.encode(), usedforsecurity=False).hexdigest()
        return self.client.d1.database.import_(database, account_id=self.account, action="init", etag=etag)

    def fill(self, database: str, sql: str) -> Any:
        begun = self.begin(database, sql)
        sent = httpx.put(begun.upload_url, content=sql.encode())
        etag = sent.headers["etag"].strip('"')
        return self.client.d1.database.import_(
            database, account_id=self.account, action="ingest", etag=etag, filename=begun.filename
        )

    def export(self, database: str, **options: Any) -> str:
        answer = self.client.d1.database.export(
            database, account_id=self.account, output_format="polling", dump_options=options
        )
        assert answer is not None
        assert answer.result is not None
        return httpx.get(str(answer.result.signed_url)).raise_for_status().text

    def rows(self, database: str, sql: str) -> list[Any]:
        (answer,) = self.client.d1.database.raw(database, account_id=self.account, sql=sql)
        assert answer.results is not None
        return list(answer.results.rows or ())


@pytest.fixture
def databases(client: Cloudflare, account: str) -> Databases:
    return Databases(client, account)


def test_what_is_exported_makes_the_same_database(databases: Databases):
    one, two = databases.create("one"), databases.create("two")
    done = databases.fill(one, CONTENT)
    assert (done.status, done.result.num_queries, done.success) == ("complete", 8, True)
    sql = databases.export(one)
    assert databases.fill(two, sql).status == "complete"
    assert databases.export(two) == sql
    assert databases.rows(two, "SELECT * FROM notes") == [[1, "it's; fine", [1, 2], 2]]
    databases.rows(two, "INSERT INTO notes (data) VALUES (1)")
    assert databases.rows(two, "SELECT max(id) FROM notes") == [[8]]  # 7 was given before


def test_parts_of_a_database(databases: Databases):
    one = databases.create("one")
    databases.fill(one, CONTENT)
    only_tags = databases.export(one, tables=["tags"], no_data=True)
    assert ("INSERT INTO" in only_tags, "notes (" in only_tags.replace("REFERENCES notes (", "")) == (False, False)
    assert "CREATE INDEX by_tag" in only_tags
    assert databases.export(one, tables=["tags"], no_schema=True).splitlines() == [
        "PRAGMA defer_foreign_keys=TRUE;",
        """INSERT INTO "tags" ("note","tag") VALUES(1,'ü');""",
    ]
    assert databases.export(databases.create("empty")) == ""


def test_an_import_that_fails_leaves_the_database_as_it_was(databases: Databases):
    one = databases.create("one")
    failed = databases.fill(one, "CREATE TABLE kept (a); INSERT INTO nowhere VALUES (1);")
    assert (failed.status, failed.success) == ("error", False)
    assert "no such table: nowhere" in failed.error
    assert databases.rows(one, "SELECT name FROM sqlite_schema WHERE name = 'kept'") == []
    again = databases.client.d1.database.import_(
        one, account_id=databases.account, action="poll", current_bookmark=failed.at_bookmark
    )
    assert again == failed


def test_a_file_that_is_there_already_is_not_asked_for_again(databases: Databases):
    one = databases.create("one")
    httpx.put(databases.begin(one, "CREATE TABLE t (a);").upload_url, content=b"CREATE TABLE t (a);")
    done = databases.begin(one, "CREATE TABLE t (a);")
    assert (done.upload_url, done.status) == (None, "complete")
    assert databases.rows(one, "SELECT count(*) FROM t") == [[0]]


def test_files_that_do_not_hold_what_was_announced(databases: Databases, raw: Any, account: str):
    one = databases.create("one")
    begun = databases.begin(one, "CREATE TABLE t (a);")
    httpx.put(begun.upload_url, content=b"something else").raise_for_status()
    path = f"/accounts/{account}/d1/database/{one}"
    etag = hashlib.md5(b"CREATE TABLE t (a);", usedforsecurity=False).hexdigest()
    body = {"action": "ingest", "etag": etag, "filename": begun.filename}
    assert raw.refusal("POST", f"{path}/import", json=body)[:2] == (400, 7400)
    assert httpx.get(begun.upload_url).status_code == 403  # it takes a file, and gives none
    raw.advance(3601)
    assert httpx.put(begun.upload_url, content=b"CREATE TABLE t (a);").status_code == 403


def test_what_cannot_be_exported(databases: Databases, raw: Any, account: str):
    one = databases.create("one")
    databases.fill(one, "CREATE VIRTUAL TABLE words USING fts5(word);")
    path = f"/accounts/{account}/d1/database/{one}/export"
    polling = {"output_format": "polling"}
    assert "Virtual Tables" in raw.refusal("POST", path, json=polling)[2]
    missing = {**polling, "dump_options": {"tables": ["none"]}}
    assert raw.refusal("POST", path, json=missing)[1:] == (7500, "no such table: none")
    assert raw.refusal("POST", path, json={**polling, "current_bookmark": "none"})[:2] == (400, 7400)
    raw.api("DELETE", path.removesuffix("/export")).raise_for_status()
    assert raw.control("GET", "/state")["empty"]
