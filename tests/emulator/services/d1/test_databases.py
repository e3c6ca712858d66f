"""D1: databases through the SDK in strict mode, and the same rows in a Worker."""

from typing import Any

import pytest
from cloudflare import BadRequestError, Cloudflare

from emulator.services.d1 import engine
from testbed.emulator.runtime_stage import Stage

pytestmark = pytest.mark.workerd

WORKER = """
export default {
  async fetch(request, env) {
    const name = new URL(request.url).pathname.slice(1);
    const insert = env.DB.prepare("INSERT INTO notes (text, data) VALUES (?, ?)");
    if (name === "batch") {
      try {
        await env.DB.batch([insert.bind("kept?", null), env.DB.prepare("INSERT INTO nowhere VALUES (1)")]);
      } catch (error) { return new Response(String(error), { status: 500 }); }
    }
    if (name) await insert.bind(name, new Uint8Array([1, 2]).buffer).run();
    const { results, meta } = await env.DB.prepare("SELECT * FROM notes ORDER BY id").all();
    const first = await env.DB.prepare("SELECT count(*) AS n FROM notes").first("n");
    const raw = await env.DB.prepare("SELECT text FROM notes").raw({ columnNames: true });
    return Response.json({ results, first, raw, changes: meta.changes });
  },
};
"""
TABLE = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL, data BLOB)"


def test_a_worker_and_the_api_see_the_same_rows(stage: Stage):
    base = f"/accounts/{stage.account}/d1/database"
    database = stage.raw.api("POST", base, json={"name": "notes"}).json()["result"]["uuid"]
    insert = "INSERT INTO notes (text) VALUES ('semi;colon');"
    sql = f"{TABLE}; {insert}"
    answers = stage.raw.api("POST", f"{base}/{database}/query", json={"sql": sql}).json()["result"]
    assert [each["meta"]["changes"] for each in answers] == [0, 1]
    binding = {"type": "d1", "name": "DB", "id": database}
    stage.uploads.put("app", WORKER, compatibility_date="2026-10-01", bindings=[binding])
    seen = stage.ask("/second").json()
    assert [(each["text"], each["data"]) for each in seen["results"]] == [("semi;colon", None), ("second", [1, 2])]
    assert (seen["first"], seen["raw"]) == (2, [["text"], ["semi;colon"], ["second"]])
    refused = stage.ask("/batch")
    assert refused.status_code == 500
    assert "no such table: nowhere: SQLITE_ERROR" in refused.text
    body = {"sql": "SELECT text FROM notes WHERE id = ?", "params": [2]}
    assert stage.raw.api("POST", f"{base}/{database}/raw", json=body).json()["result"][0]["results"]["rows"] == [
        ["second"]
    ]
    assert len(stage.ask("/").json()["results"]) == 2
    code, text = stage.uploads.refused(
        "app", WORKER, bindings=[{**binding, "id": "00000000-0000-4000-8000-000000000000"}]
    )
    assert (code, "was not found" in text) == (10181, True)


def test_life_of_a_database(client: Cloudflare, raw: Any, account: str):
    databases = client.d1.database
    made = databases.create(account_id=account, name="one")
    assert made is not None
    assert made.uuid is not None
    with pytest.raises(BadRequestError, match="already exists"):
        databases.create(account_id=account, name="one")
    databases.query(made.uuid, account_id=account, sql=TABLE)
    read = databases.get(made.uuid, account_id=account)
    assert read is not None
    assert read.num_tables == 1
    assert [each.name for each in databases.list(account_id=account, name="one")] == ["one"]
    assert raw.refusal("GET", f"/accounts/{account}/d1/database/none")[:2] == (404, 7404)
    databases.delete(made.uuid, account_id=account)
    assert list(databases.list(account_id=account)) == []


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("SELECT * FROM nowhere", "no such table: nowhere: SQLITE_ERROR"),
        ("ATTACH 'other.sqlite' AS other", "not authorized"),
        ("PRAGMA journal_mode = WAL", "not authorized"),
        ("BEGIN", "not authorized"),
        ("SELECT 'open", "unrecognized token"),
        (" ; ", "No SQL statements detected."),
    ],
)
def test_what_a_query_may_not_do(raw: Any, account: str, sql: str, problem: str):
    base = f"/accounts/{account}/d1/database"
    database = raw.api("POST", base, json={"name": "notes"}).json()["result"]["uuid"]
    status, code, text = raw.refusal("POST", f"{base}/{database}/query", json={"sql": sql})
    assert (status, code) == (400, 7500)
    assert problem in text


def test_a_query_without_an_end_is_cut_off(raw: Any, account: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine, "PATIENCE", 0.2)
    base = f"/accounts/{account}/d1/database"
    database = raw.api("POST", base, json={"name": "notes"}).json()["result"]["uuid"]
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    assert "CPU time limit" in raw.refusal("POST", f"{base}/{database}/query", json={"sql": endless})[2]
