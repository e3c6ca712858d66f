"""What the dashboard's snapshot says, list by list."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from emulator.dashboard.listing import MOST, plain
from emulator.dashboard.snapshot import snapshot
from emulator.settings import Account, Settings
from emulator.state import State
from emulator.testing import Running, running
from testbed.emulator.control import Control
from testbed.emulator.populated import NAME, PLANTED, Populated
from testbed.emulator.workers_upload import exporting, parts


@pytest.fixture
def populated(raw: Control) -> Populated:
    return Populated(raw)


@pytest.fixture
def browser(emulator: Running) -> Iterator[httpx.Client]:
    """What a browser asks with: no token."""
    with httpx.Client(base_url=emulator.origin, timeout=20) as client:
        yield client


def _lists(browser: httpx.Client) -> Any:
    return browser.get("/dashboard/snapshot").json()["lists"]


def _row(lists: Any, listed: str, **wanted: Any) -> Any:
    return next(row for row in lists[listed]["rows"] if wanted.items() <= row.items())


def test_why_no_sandbox_can_run_is_said(browser: httpx.Client, emulator: Running, raw: Control):
    """In the words of the control API, which the smoke test and the Worker's 503 have too."""
    reason = raw.control("GET", "/runtime")["containers"]["reason"]
    assert browser.get("/dashboard/snapshot").json()["no_sandboxes"] == (reason or "")
    assert reason.startswith("Sandboxes cannot start on this machine: ")
    assert 'id="no-sandboxes"' in browser.get("/dashboard").text
    assert emulator.state.runtime.containers()["available"] is False


def test_a_new_account_has_empty_lists(browser: httpx.Client, emulator: Running):
    document = browser.get("/dashboard/snapshot").json()
    assert document["account"] == {"id": emulator.account_id, "name": "Emulated account"}
    assert document["accounts"] == [document["account"]]
    assert (document["address"], document["clock_ahead"]) == (emulator.url, 0)
    assert document["journal"] == {"total": document["journal"]["total"], "rows": []}
    assert list(document["lists"]) == [
        *("workers", "classes", "applications", "images", "buckets", "kv", "queues"),
        *("routes", "domains", "records", "certificates", "access", "sandboxes"),
    ]
    assert all(found == {"total": 0, "rows": []} for found in document["lists"].values())


def test_workers_are_shown_with_versions_and_the_names_of_bindings(populated: Populated, browser: httpx.Client):
    lists = _lists(browser)
    worker = _row(lists, "workers", name=NAME)
    assert worker == {
        "key": worker["key"],
        "name": NAME,
        "latest": 3,
        "versions": 3,
        "traffic": [{"version": 3, "percentage": 100}],
        "compatibility_date": "2026-11-01",
        "migration_tag": "v1",
        "deployed": worker["deployed"],
        "bindings": [
            {"name": "API_KEY", "type": "secret_text", "target": None},
            {"name": "EVENTS", "type": "queue", "target": f"{NAME}-events"},
            {"name": "FILES", "type": "r2_bucket", "target": f"{NAME}-files"},
            {"name": "GREETING", "type": "plain_text", "target": None},
            {"name": "LIMITS", "type": "json", "target": None},
            {"name": "SANDBOX", "type": "durable_object_namespace", "target": "Sandbox"},
            {"name": "SESSIONS", "type": "kv_namespace", "target": f"{NAME}-sessions"},
            {"name": "SIGNING_KEY", "type": "secret_text", "target": None},
        ],
    }
    assert _row(lists, "workers", name=f"{NAME}-previews")["bindings"] == [
        {"name": "SANDBOXES", "type": "service", "target": NAME}
    ]
    assert lists["classes"]["rows"] == [
        {
            "key": populated.namespace,
            "class": "Sandbox",
            "worker": NAME,
            "namespace": populated.namespace,
            "storage": "SQLite",
            "container": True,
            "application": NAME,
        }
    ]


def test_a_version_that_waits_and_a_split(populated: Populated, browser: httpx.Client):
    base = f"{populated.account}/workers/scripts/{NAME}"
    ids = [each["id"] for each in populated.made("GET", f"{base}/versions")["items"]]
    shares = [{"version_id": ids[0], "percentage": 90}, {"version_id": ids[1], "percentage": 10}]
    populated.made("POST", f"{base}/deployments?force=true", json={"strategy": "percentage", "versions": shares})
    populated.made(
        "POST",
        f"{base}/versions",
        files=parts({"compatibility_date": "2026-11-02"}, {"index.js": exporting("Sandbox")}),
    )
    worker = _row(_lists(browser), "workers", name=NAME)
    assert worker["traffic"] == [{"version": 3, "percentage": 90}, {"version": 2, "percentage": 10}]
    assert (worker["latest"], worker["versions"], worker["compatibility_date"]) == (4, 4, "2026-11-01")


def test_a_rollout_is_followed_without_being_written_down(raw: Control, emulator: Running, browser: httpx.Client):
    Populated(raw)

    def state() -> Any:
        app = _row(_lists(browser), "applications", name=NAME)
        rollout = app["rollout"]
        return (
            app["version"],
            app["image"].rpartition(":")[2],
            rollout["status"],
            rollout["step"],
            rollout["percentage"],
        )

    app = _row(_lists(browser), "applications", name=NAME)
    assert (app["class"], app["state"], app["max_instances"]) == (f"{NAME}/Sandbox", "active", 10)
    assert app["instances"] == {"running": 4, "provisioning": 0, "failed": 0}
    expected = {"status": "progressing", "step": 2, "steps": 4, "percentage": 25, "from": 1, "to": 2, "errors": []}
    assert app["rollout"] == expected
    before = emulator.state.store.everywhere("container_rollout")
    emulator.state.clock.offset += 60  # not by the control route, which writes down what time has done
    assert state() == (1, "1.0.0", "progressing", 3, 50)
    emulator.state.clock.offset += 120
    assert state() == (2, "1.1.0", "completed", 4, 100)
    assert emulator.state.store.everywhere("container_rollout") == before
    raw.advance(0)
    assert state() == (2, "1.1.0", "completed", 4, 100)


def test_a_rollout_that_fails_says_so(raw: Control, populated: Populated, browser: httpx.Client):
    path = f"/containers/{raw.emulator.account_id}/applications/{populated.application}/rollout-failure"
    failure = {"step": 3, "event": "ImagePullError", "message": f"{PLANTED}message", "then": "revert"}
    raw.control("PUT", path, json=failure)
    raw.advance(300)
    app = _row(_lists(browser), "applications", name=NAME)
    assert (app["version"], app["image"].rpartition(":")[2]) == (1, "1.0.0")
    assert (app["rollout"]["status"], app["rollout"]["errors"]) == ("reverted", ["ImagePullError"])


def test_an_application_on_its_way_out(raw: Control, emulator: Running, populated: Populated, browser: httpx.Client):
    path = f"{populated.account}/containers/applications/{populated.application}"
    assert raw.api("DELETE", path).status_code == 200
    assert _row(_lists(browser), "applications", name=NAME)["state"] == "being deleted"
    emulator.state.clock.offset += 10
    assert _lists(browser)["applications"] == {"total": 0, "rows": []}
    assert emulator.state.store.counts()["container_application"] == 1


def test_images_storage_and_addresses(populated: Populated, browser: httpx.Client):
    lists = _lists(browser)
    image = _row(lists, "images", tags=["1.1.0"])
    assert (image["repository"], image["kind"]) == (f"{NAME}-image", "image")
    assert image["digest"].startswith("sha256:")
    manifest = populated.raw.emulator.state.store.everywhere("image_manifest")[1][2]
    blobs = populated.raw.emulator.state.store.everywhere("image_blob")
    sizes = {key: blob["size"] for _, key, blob in blobs}
    assert image["size"] == manifest["size"] + sum(sizes[digest] for digest in manifest["blobs"])
    bucket = _row(lists, "buckets", name=f"{NAME}-files")
    assert (bucket["objects"], bucket["location"], bucket["jurisdiction"]) == (3, "weur", "default")
    assert [row["name"] for row in lists["buckets"]["rows"]] == [
        f"{NAME}-{x}" for x in ("artifacts", "backups", "files")
    ]
    assert [(row["title"], row["keys"]) for row in lists["kv"]["rows"]] == [(f"{NAME}-sessions", 1)]
    assert [(row["name"], row["producers"], row["consumers"]) for row in lists["queues"]["rows"]] == [
        (f"{NAME}-events", [NAME], [])
    ]
    assert [(row["pattern"], row["worker"]) for row in lists["routes"]["rows"]] == [
        ("*.preview.example/*", f"{NAME}-previews")
    ]
    assert [(row["hostname"], row["worker"]) for row in lists["domains"]["rows"]] == [("api.sandbox.example", NAME)]
    record = _row(lists, "records", name="*.preview.example")
    assert [record[name] for name in ("type", "content", "proxied", "ttl", "zone")] == [
        *("AAAA", "100::", True, 1, "preview.example")
    ]
    assert [(row["hosts"], row["status"]) for row in lists["certificates"]["rows"]] == [
        (["preview.example", "*.preview.example"], "active")
    ]
    assert [(row["name"], row["domain"], row["policies"]) for row in lists["access"]["rows"]] == [
        ("Sandbox previews", "*.preview.example", 1)
    ]


def test_the_journal_is_shown_newest_first_without_queries(raw: Control, emulator: Running, browser: httpx.Client):
    fault = raw.fault(operation="queues.list_queues", status=503)
    raw.api("GET", f"/accounts/{emulator.account_id}/queues?token=hidden&note=hidden")
    raw.api("GET", "/user/%E2%80%AEtokens")
    newest, older = browser.get("/dashboard/snapshot").json()["journal"]["rows"]
    assert (newest["path"], newest["status"], newest["operation"]) == ("/client/v4/user/\ufffdtokens", 400, "")
    assert set(older) == {"key", "sequence", "time", "method", "path", "status", "ms", "operation", "fault"}
    assert (older["path"], older["status"]) == (f"/client/v4/accounts/{emulator.account_id}/queues", 503)
    assert (older["operation"], older["fault"]) == ("queues.list_queues", str(fault["id"]))
    assert newest["sequence"] == older["sequence"] + 1


def test_long_and_odd_text_becomes_one_short_line():
    assert plain("a\u202eb\nc\x00") == "a\ufffdb\ufffdc\ufffd"
    assert plain("x" * 300) == "x" * 300
    assert plain("x" * 301) == "x" * 300 + "…"


def test_lists_are_bounded_and_counted(emulator: Running, browser: httpx.Client):
    account = emulator.account_id
    for number in range(MOST + 50):
        body = {"id": f"{number}", "title": f"t{number}"}
        emulator.state.store.put("kv_namespace", account, f"{number}", body, labels={"title": f"t{number}"})
    found = _lists(browser)["kv"]
    assert (found["total"], len(found["rows"])) == (MOST + 50, MOST)
    for _ in range(MOST + 50):
        browser.get("/client/v4/user")
    journal = browser.get("/dashboard/snapshot").json()["journal"]
    assert len(journal["rows"]) == MOST
    assert journal["rows"][0]["sequence"] == journal["total"]


def test_equal_states_give_equal_documents_and_no_content(raw: Control, browser: httpx.Client):
    Populated(raw)
    first = browser.get("/dashboard/snapshot")
    tag = first.headers["etag"]
    again = browser.get("/dashboard/snapshot", headers={"if-none-match": tag})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    raw.api("GET", "/user/tokens/verify")
    changed = browser.get("/dashboard/snapshot", headers={"if-none-match": tag})
    assert (changed.status_code, changed.headers["etag"] != tag) == (200, True)


def test_accounts_are_shown_one_at_a_time(tmp_path: Path):
    accounts = (Account("a" * 32, "First", ()), Account("b" * 32, "Second", ()))
    with running(tmp_path, accounts=accounts) as emulator, httpx.Client(base_url=emulator.origin) as browser:
        body = {"id": "1", "title": "of the second"}
        emulator.state.store.put("kv_namespace", "b" * 32, "1", body)
        first = browser.get("/dashboard/snapshot").json()
        second = browser.get("/dashboard/snapshot", params={"account": "b" * 32}).json()
        assert [each["name"] for each in first["accounts"]] == ["First", "Second"]
        assert (first["account"]["name"], first["lists"]["kv"]["total"]) == ("First", 0)
        assert (second["account"]["name"], second["lists"]["kv"]["total"]) == ("Second", 1)
        absent = browser.get("/dashboard/snapshot", params={"account": "c" * 32})
        assert (absent.status_code, absent.text) == (404, "There is no such account here.\n")


def test_the_snapshot_depends_on_store_and_moment_alone(tmp_path: Path):
    state = State(Settings(), tmp_path)
    account = state.store.select("account", "")[0]
    moment = datetime(2026, 11, 16, tzinfo=UTC)
    with state.store.reading():
        assert snapshot(state.store, account, moment) == snapshot(state.store, account, moment)
    state.close()
