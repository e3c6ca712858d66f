"""The real wrangler against the emulator: deploy, again, migrate, versions, secrets, triggers, delete."""

from pathlib import Path
from typing import Any

PLAIN = "export default { fetch() { return new Response('plain'); } };"
ROOM = """
import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {}
export default { fetch() { return new Response("room"); } };
"""
TWO_ROOMS = ROOM + "export class Hall extends DurableObject {}\n"
DATE = "2026-11-01"


def config(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "main": "index.js", "compatibility_date": DATE, **more}


def bound(*classes: str) -> dict[str, Any]:
    return {"durable_objects": {"bindings": [{"name": each.upper(), "class_name": each} for each in classes]}}


V1 = {"tag": "v1", "new_sqlite_classes": ["Room"]}
V2 = {"tag": "v2", "new_sqlite_classes": ["Hall"]}


def namespaces(raw: Any, account: str) -> dict[str, str]:
    listed = raw.api("GET", f"/accounts/{account}/workers/durable_objects/namespaces").json()["result"]
    return {each["class"]: each["id"] for each in listed}


def called(raw: Any) -> list[str]:
    """Operations wrangler asked for that the emulator does not have."""
    return [f"{each['method']} {each['path']}" for each in raw.control("GET", "/journal") if not each["operation"]]


def test_plain_worker_twice_then_delete(wrangler: Any, raw: Any, account: str, tmp_path: Path):
    folder = wrangler.project(tmp_path / "plain", config("plain", vars={"GREETING": "hi"}), {"index.js": PLAIN})
    assert "plain.emulated-" in wrangler("deploy", cwd=folder).stdout
    wrangler("deploy", cwd=folder)
    versions = raw.api("GET", f"/accounts/{account}/workers/scripts/plain/versions").json()["result"]["items"]
    assert [each["number"] for each in versions] == [2, 1]
    settings = raw.api("GET", f"/accounts/{account}/workers/scripts/plain/settings").json()["result"]
    assert settings["bindings"] == [{"name": "GREETING", "text": "hi", "type": "plain_text"}]
    assert "Successfully deleted plain" in wrangler("delete", cwd=folder).stdout
    assert raw.refusal("GET", f"/accounts/{account}/workers/scripts/plain/settings")[:2] == (404, 10007)
    assert raw.control("GET", "/state")["empty"]
    assert called(raw) == []


def test_durable_object_migrations(wrangler: Any, raw: Any, account: str, tmp_path: Path):
    files = {"index.js": ROOM}
    folder = wrangler.project(tmp_path / "rooms", config("rooms", migrations=[V1], **bound("Room")), files)
    wrangler("deploy", cwd=folder)
    first = namespaces(raw, account)
    wrangler("deploy", cwd=folder)
    assert namespaces(raw, account) == first
    wrangler.project(folder, config("rooms", migrations=[V1, V2], **bound("Room", "Hall")), {"index.js": TWO_ROOMS})
    wrangler("deploy", cwd=folder)
    after = namespaces(raw, account)
    assert set(after) == {"Room", "Hall"}
    assert after["Room"] == first["Room"]
    service = raw.api("GET", f"/accounts/{account}/workers/services/rooms").json()["result"]
    assert service["default_environment"]["script"]["migration_tag"] == "v2"
    assert service["default_environment"]["script"]["last_deployed_from"] == "wrangler"
    wrangler("delete", cwd=folder)
    assert namespaces(raw, account) == {}
    lost = raw.control("GET", "/durable_objects/data_loss")
    assert {(each["class"], each["cause"]) for each in lost} == {
        ("Room", "script deleted"),
        ("Hall", "script deleted"),
    }
    assert raw.control("GET", "/state")["empty"]
    assert called(raw) == []


REFUSED: tuple[tuple[int, dict[str, Any]], ...] = (
    (10064, {"source": PLAIN, "classes": ()}),
    (10061, {"migrations": [V1, {"tag": "v2", "deleted_classes": ["Room"]}]}),
    (10074, {"migrations": [{"tag": "other", "new_sqlite_classes": ["Room"]}]}),
    (10061, {"source": TWO_ROOMS, "classes": ("Room", "Hall")}),
    (10070, {"migrations": [V1, V2]}),
)


def test_refused_uploads_leave_what_was(wrangler: Any, raw: Any, account: str, tmp_path: Path):
    first = config("rooms", migrations=[V1], **bound("Room"))
    folder = wrangler.project(tmp_path / "rooms", first, {"index.js": ROOM})
    wrangler("deploy", cwd=folder)
    path = f"/accounts/{account}/workers/scripts/rooms/deployments"
    before = raw.api("GET", path).json()["result"]["deployments"]
    for code, change in REFUSED:
        classes = change.get("classes", ("Room",))
        changed = config("rooms", migrations=change.get("migrations", [V1]), **bound(*classes))
        wrangler.project(folder, changed, {"index.js": change.get("source", ROOM)})
        done = wrangler("deploy", cwd=folder, ok=False)
        assert done.returncode != 0
        assert f"[code: {code}]" in done.stdout + done.stderr
        assert raw.api("GET", path).json()["result"]["deployments"] == before


def test_declarative_exports(wrangler: Any, raw: Any, account: str, tmp_path: Path):
    live = {"type": "durable-object", "storage": "sqlite"}
    folder = wrangler.project(
        tmp_path / "rooms", config("rooms", exports={"Room": live}, **bound("Room")), {"index.js": ROOM}
    )
    assert "Created: Room" in wrangler("deploy", cwd=folder).stdout
    assert "Created" not in wrangler("deploy", cwd=folder).stdout
    renamed = {"Room": {"type": "durable-object", "state": "renamed", "renamed_to": "Hall"}, "Hall": live}
    source = ROOM.replace("Room", "Hall")
    wrangler.project(folder, config("rooms", exports=renamed, **bound("Hall")), {"index.js": source})
    identity = namespaces(raw, account)["Room"]
    assert "Renamed: Room → Hall" in wrangler("deploy", cwd=folder).stdout
    assert namespaces(raw, account) == {"Hall": identity}
    gone = {"Hall": {"type": "durable-object", "state": "deleted"}}
    wrangler.project(folder, config("rooms", exports=gone), {"index.js": source})
    refused = wrangler("deploy", cwd=folder, ok=False)
    assert "[tombstone_delete_class_still_in_code]" in refused.stdout + refused.stderr
    wrangler.project(folder, config("rooms", exports=gone), {"index.js": PLAIN})
    assert "Deleted: Hall" in wrangler("deploy", cwd=folder).stdout
    again = wrangler("deploy", cwd=folder).stdout
    assert "[stale_tombstone] Hall" in again
    assert "Safe to remove from `exports`: Hall" in again
    assert namespaces(raw, account) == {}


def test_versions_and_secrets(wrangler: Any, raw: Any, account: str, tmp_path: Path):
    folder = wrangler.project(tmp_path / "plain", config("plain"), {"index.js": PLAIN})
    wrangler("deploy", cwd=folder)
    wrangler("secret", "put", "KEY", cwd=folder, stdin="s3cret-value")
    assert "KEY" in wrangler("secret", "list", cwd=folder).stdout
    wrangler("deploy", cwd=folder)
    assert "KEY" in wrangler("secret", "list", cwd=folder).stdout
    uploaded = wrangler("versions", "upload", "--message", "second thoughts", cwd=folder).stdout
    version = uploaded.split("Worker Version ID: ")[1].split()[0]
    wrangler("versions", "secret", "put", "OTHER", cwd=folder, stdin="another-value")
    assert version in wrangler("versions", "list", cwd=folder).stdout
    assert "second thoughts" in wrangler("versions", "view", version, cwd=folder).stdout
    wrangler("versions", "deploy", f"{version}@100%", "--yes", cwd=folder)
    assert version in wrangler("deployments", "status", cwd=folder).stdout
    wrangler("deployments", "list", cwd=folder)
    wrangler("rollback", "--yes", "--message", "back", cwd=folder)
    refused = wrangler("secret", "bulk", cwd=folder, stdin='{"KEY": "x", "MORE": "y"}', ok=False)
    assert refused.returncode != 0
    assert "wrangler versions secret bulk" in refused.stdout + refused.stderr  # its advice for code 10215
    live = raw.api("GET", f"/accounts/{account}/workers/scripts/plain/deployments").json()["result"]["deployments"][0]
    assert live["versions"][0]["version_id"] != version
    assert called(raw) == []


def test_triggers(wrangler: Any, raw: Any, account: str, zone: str, tmp_path: Path):
    routes = [
        {"pattern": "app.sandbox.example/*", "zone_name": "sandbox.example"},
        {"pattern": "own.sandbox.example", "custom_domain": True},
    ]
    more = {"routes": routes, "triggers": {"crons": ["*/5 * * * *"]}, "observability": {"enabled": True}}
    folder = wrangler.project(tmp_path / "app", config("app", **more), {"index.js": PLAIN})
    wrangler("deploy", cwd=folder)
    wrangler("deploy", cwd=folder)
    listed = raw.api("GET", f"/zones/{zone}/workers/routes").json()["result"]
    assert [(each["pattern"], each["script"]) for each in listed] == [("app.sandbox.example/*", "app")]
    domains = raw.api("GET", f"/accounts/{account}/workers/domains").json()["result"]
    assert [(each["hostname"], each["service"]) for each in domains] == [("own.sandbox.example", "app")]
    schedules = raw.api("GET", f"/accounts/{account}/workers/scripts/app/schedules").json()["result"]["schedules"]
    assert [each["cron"] for each in schedules] == ["*/5 * * * *"]
    settings = raw.api("GET", f"/accounts/{account}/workers/scripts/app/script-settings").json()["result"]
    assert settings["observability"]["enabled"] is True
    wrangler("delete", cwd=folder)
    assert raw.control("GET", "/state")["empty"]
    assert called(raw) == []


def test_assets(wrangler: Any, raw: Any, account: str, tmp_path: Path):
    more = {"assets": {"directory": "public", "binding": "ASSETS"}}
    files = {"index.js": PLAIN, "public/index.html": "<p>one</p>", "public/style.css": "p {}"}
    folder = wrangler.project(tmp_path / "site", config("site", **more), files)
    assert "Uploaded 2 of 2 assets" in wrangler("deploy", cwd=folder).stdout
    assert "No updated asset files to upload" in wrangler("deploy", cwd=folder).stdout
    script = raw.api("GET", f"/accounts/{account}/workers/scripts").json()["result"][0]
    assert script["has_assets"] is True
    wrangler("delete", cwd=folder)
    assert raw.control("GET", "/state")["empty"]


def test_a_worker_others_need_is_kept(wrangler: Any, raw: Any, account: str, tmp_path: Path):
    target = wrangler.project(tmp_path / "target", config("target"), {"index.js": PLAIN})
    wrangler("deploy", cwd=target)
    services = {"services": [{"binding": "TARGET", "service": "target"}]}
    caller = wrangler.project(tmp_path / "caller", config("caller", **services), {"index.js": PLAIN})
    wrangler("deploy", cwd=caller)
    references = raw.api("GET", f"/accounts/{account}/workers/scripts/target/references").json()["result"]
    assert [each["service"] for each in references["services"]["incoming"]] == ["caller"]
    assert raw.refusal("DELETE", f"/accounts/{account}/workers/services/target")[1] == 10142
    wrangler("delete", cwd=target, stdin="y\n")
    assert raw.api("GET", f"/accounts/{account}/workers/services/caller").status_code == 200
