"""Versions, deployments and the newer view of Workers."""

import base64
from typing import Any

import pytest
from cloudflare import BadRequestError, Cloudflare, NotFoundError

from testbed.emulator.workers_upload import MODULE, PLAIN, Uploads, exporting, parts

ROOM = exporting("Room")


@pytest.fixture
def uploads(raw: Any) -> Uploads:
    return Uploads(raw)


def module(code: str = PLAIN) -> list[dict[str, str]]:
    content = base64.b64encode(code.encode()).decode()
    return [{"name": "index.js", "content_type": MODULE, "content_base64": content}]


def share(*versions: tuple[str, float]) -> dict[str, Any]:
    return {
        "strategy": "percentage",
        "versions": [{"version_id": version, "percentage": percentage} for version, percentage in versions],
    }


def test_versions_and_deployments(uploads: Uploads, client: Cloudflare, account: str):
    uploads.put("app")
    scripts = client.workers.scripts
    files = [("index.js", PLAIN.encode(), MODULE)]
    metadata = {"main_module": "index.js", "annotations": {"workers/tag": "second"}}
    version = scripts.versions.create("app", account_id=account, metadata=metadata, files=files)
    assert version.id
    assert version.number == 2
    read = scripts.versions.get(version.id, account_id=account, script_name="app")
    assert read.resources.script
    assert read.resources.script.handlers == ["fetch"]
    first, second = (
        each.id for each in sorted(scripts.versions.list("app", account_id=account), key=lambda v: v.number)
    )
    assert second == version.id
    live = next(iter(scripts.deployments.list("app", account_id=account))).deployments[0]
    assert live.versions[0].version_id == first
    split = scripts.deployments.create("app", account_id=account, **share((first, 40), (second, 60)))
    assert scripts.deployments.get(split.id, account_id=account, script_name="app").versions[0].version_id == second
    scripts.deployments.create("app", account_id=account, **share((second, 100)))
    scripts.deployments.delete(split.id, account_id=account, script_name="app")
    with pytest.raises(NotFoundError, match="10336"):
        scripts.deployments.get(split.id, account_id=account, script_name="app")


def test_lists_over_several_pages(uploads: Uploads, client: Cloudflare, account: str):
    for _ in range(23):
        uploads.put("app")
    versions = [each.number for each in client.workers.scripts.versions.list("app", account_id=account, per_page=5)]
    assert versions == list(range(23, 0, -1))
    pages = client.workers.scripts.deployments.list("app", account_id=account, per_page=5)
    deployments = [each.id for page in pages for each in page.deployments]
    assert len(set(deployments)) == 23
    beta = [each.number for each in client.workers.beta.workers.versions.list("app", account_id=account, per_page=4)]
    assert beta == list(range(23, 0, -1))
    for number in range(12):
        uploads.put(f"other-{number:02}")
    listed = client.workers.beta.workers.list(account_id=account, per_page=5, order_by="name", order="asc")
    assert [each.name for each in listed] == ["app", *(f"other-{number:02}" for number in range(12))]
    assert len(list(client.workers.scripts.list(account_id=account))) == 13


def test_refused_versions(uploads: Uploads, raw: Any):
    path = f"{uploads.base}/scripts/app/versions"
    assert raw.refusal("POST", path, files=parts({}))[:2] == (404, 10007)
    uploads.put("app", ROOM, migrations={"new_tag": "v1", "new_sqlite_classes": ["Room"]})
    migration = parts({"migrations": {"old_tag": "v1", "new_tag": "v2"}}, {"index.js": ROOM})
    status, code, message = raw.refusal("POST", path, files=migration)
    assert (status, code) == (400, 10211)
    assert "migrations must be fully applied" in message
    assert raw.refusal("POST", path, files=parts({}))[1] == 10064
    hall = {"type": "durable_object_namespace", "name": "H", "class_name": "Hall"}
    code_both = {"index.js": exporting("Room", "Hall")}
    assert raw.refusal("POST", path, files=parts({"bindings": [hall]}, code_both))[1] == 10061
    live = {"type": "durable-object", "storage": "sqlite"}
    declared = {"bindings": [hall], "exports": {"Room": live, "Hall": live}}
    assert raw.refusal("POST", path, files=parts(declared, code_both))[1] == 100406
    assert raw.refusal("GET", f"{path}/nothing")[:2] == (404, 100146)


def test_refused_deployments(uploads: Uploads, raw: Any):
    path = f"{uploads.base}/scripts/app/deployments"
    uploads.put("app")
    uploads.put("app")
    second, first = (each["id"] for each in uploads.get("scripts/app/versions")["items"])
    assert raw.refusal("POST", path, json=share(("nothing", 100)))[:2] == (404, 100146)
    assert raw.refusal("POST", path, json=share((first, 50)))[2].endswith("must add up to 100")
    assert raw.refusal("POST", path, json=share((first, 50), (first, 50)))[2].startswith("A version can be named only")
    assert raw.refusal("POST", path, json=share((first, 50), (second, 25), (first, 25)))[1] == 10021
    assert raw.refusal("POST", path, json=share())[2] == "versions must have 1 to 2 items"
    live = uploads.get("scripts/app/deployments")["deployments"][0]["id"]
    assert raw.refusal("DELETE", f"{path}/{live}")[1] == 10335


def test_a_deployment_cannot_go_back_behind_a_change_of_classes(uploads: Uploads, raw: Any):
    uploads.put("app")
    first = uploads.get("scripts/app/versions")["items"][0]["id"]
    uploads.put("app", ROOM, migrations={"new_tag": "v1", "new_sqlite_classes": ["Room"]})
    path = f"{uploads.base}/scripts/app/deployments"
    assert raw.refusal("POST", path, json=share((first, 100)))[1] == 10210


def test_changed_secrets_need_force(uploads: Uploads, raw: Any):
    uploads.put("app", bindings=[{"type": "secret_text", "name": "S", "text": "one"}])
    first = uploads.get("scripts/app/versions")["items"][0]["id"]
    uploads.put("app")
    path = f"{uploads.base}/scripts/app/deployments"
    assert raw.api("POST", path, json=share((first, 100))).status_code == 200
    uploads.put("app", bindings=[{"type": "secret_text", "name": "S", "text": "two"}])
    _, code, message = raw.refusal("POST", path, json=share((first, 100)))
    assert code == 10220
    assert message.endswith("The following secrets have changed: S")  # wrangler cuts the names out of this
    assert raw.api("POST", f"{path}?force=true", json=share((first, 100))).status_code == 200
    secret = {"type": "secret_text", "name": "T", "text": "x"}
    assert raw.refusal("PUT", f"{uploads.base}/scripts/app/secrets", json=secret)[1] == 10215
    patch = {"files": [("settings", (None, "{}", "application/json"))]}
    assert raw.refusal("PATCH", f"{uploads.base}/scripts/app/settings", **patch)[1] == 10214


KEY = {"type": "secret_key", "name": "K", "algorithm": {"name": "HMAC"}, "format": "raw", "usages": ["sign"]}


def test_secrets_that_were_only_sent_again_have_not_changed(uploads: Uploads, raw: Any):
    same = [{"type": "secret_text", "name": "S", "text": "one"}, {**KEY, "key_base64": "b25l"}]
    uploads.put("app", bindings=same)
    first = uploads.get("scripts/app/versions")["items"][0]["id"]
    path = f"{uploads.base}/scripts/app/deployments"
    uploads.put("app", bindings=same)
    assert raw.api("POST", path, json=share((first, 100))).status_code == 200
    uploads.put("app", bindings=[same[0], {**KEY, "key_base64": "dHdv"}])
    assert raw.refusal("POST", path, json=share((first, 100)))[2].endswith("have changed: K")
    uploads.put("app", bindings=[*same, {"type": "secret_text", "name": "NEW", "text": "x"}])
    assert raw.refusal("POST", path, json=share((first, 100)))[2].endswith("have changed: NEW")


def test_versions_of_a_split_declare_the_same(uploads: Uploads, raw: Any):
    live = {"type": "durable-object", "storage": "sqlite"}
    uploads.put("app", ROOM, exports={"Room": live})
    uploads.put("app", ROOM, exports={"Room": live, "default": {"type": "worker"}})
    second, first = (each["id"] for each in uploads.get("scripts/app/versions")["items"])
    path = f"{uploads.base}/scripts/app/deployments"
    assert raw.refusal("POST", path, json=share((first, 50), (second, 50)))[1] == 100405


def test_life_of_a_beta_worker(client: Cloudflare, account: str):
    workers = client.workers.beta.workers
    made = workers.create(
        account_id=account,
        name="app",
        observability={"enabled": True, "logs": {"enabled": True, "invocation_logs": False}},
        subdomain={"enabled": True},
        tags=["a"],
        logpush=True,
    )
    assert (made.name, made.tags, made.subdomain.previews_enabled) == ("app", ["a"], True)
    assert made.observability.logs
    assert made.observability.logs.invocation_logs is False
    version = workers.versions.create(
        made.id,
        account_id=account,
        main_module="index.js",
        modules=module(ROOM),
        compatibility_date="2026-11-01",
        containers=[{"class_name": "Room"}],
        migrations={"new_tag": "v1", "new_sqlite_classes": ["Room"]},
        bindings=[
            {"type": "durable_object_namespace", "name": "ROOM", "class_name": "Room"},
            {"type": "secret_text", "name": "S", "text": "hidden"},
        ],
    )
    assert list(client.durable_objects.namespaces.list(account_id=account)) == []
    assert version.migration_tag is None
    assert version.modules is None
    client.workers.scripts.deployments.create("app", account_id=account, **share((version.id, 100)))
    (namespace,) = client.durable_objects.namespaces.list(account_id=account)
    read = workers.versions.get(version.id, account_id=account, worker_id=made.id, include="modules")
    assert read.migration_tag == "v1"
    assert read.bindings
    assert read.bindings[0].namespace_id == namespace.id
    assert read.modules
    assert base64.b64decode(read.modules[0].content_base64).decode() == ROOM
    assert read.containers
    assert read.containers[0].class_name == "Room"
    deployed = workers.versions.create(
        made.id,
        account_id=account,
        deploy=True,
        main_module="index.js",
        modules=module(ROOM),
        bindings=[{"type": "inherit", "name": "S"}],
    )
    live = next(iter(client.workers.scripts.deployments.list("app", account_id=account))).deployments[0]
    assert live.versions[0].version_id == deployed.id
    with pytest.raises(BadRequestError, match="serves traffic"):
        workers.versions.delete(deployed.id, account_id=account, worker_id=made.id)
    workers.versions.delete(version.id, account_id=account, worker_id=made.id)
    with pytest.raises(NotFoundError, match="10071"):
        workers.versions.get(version.id, account_id=account, worker_id=made.id)
    workers.delete(made.id, account_id=account)
    with pytest.raises(NotFoundError, match="10007"):
        workers.get(made.id, account_id=account)


def test_a_beta_worker_is_changed_and_renamed(uploads: Uploads, client: Cloudflare, account: str, zone: str):
    room = {"new_tag": "v1", "new_sqlite_classes": ["Room"]}
    uploads.put("app", ROOM, migrations=room, tags=["a"], observability={"enabled": True})
    client.workers.routes.create(zone_id=zone, pattern="sandbox.example/*", script="app")
    workers = client.workers.beta.workers
    worker = workers.get("app", account_id=account)
    edited = workers.edit(
        worker.id,
        account_id=account,
        name="app",
        logpush=True,
        observability={"enabled": False},
        subdomain={"enabled": True},
        tags=["b"],
        tail_consumers=[],
    )
    assert (edited.tags, edited.logpush, edited.subdomain.enabled) == (["b"], True, True)
    renamed = workers.update(worker.id, account_id=account, name="renamed")
    assert (renamed.id, renamed.name, renamed.tags, renamed.logpush) == (worker.id, "renamed", [], False)
    assert set(uploads.classes("renamed")) == {"Room"}
    assert [route.script for route in client.workers.routes.list(zone_id=zone)] == ["renamed"]
    with pytest.raises(NotFoundError):
        client.workers.scripts.script_and_version_settings.get("app", account_id=account)
    assert uploads.get("scripts/renamed/settings")["bindings"] == []


def test_what_belongs_to_a_worker_follows_it_to_another_name(uploads: Uploads, raw: Any, account: str):
    manifest = {"/a.html": {"hash": "a" * 32, "size": 1}}
    session = "scripts/{}/assets-upload-session"
    opened = uploads.post(session.format("app"), {"manifest": manifest})
    uploads.put("app")
    queue = raw.api("POST", f"/accounts/{account}/queues", json={"queue_name": "jobs"}).json()["result"]
    consumers = f"/accounts/{account}/queues/{queue['queue_id']}/consumers"
    raw.api("POST", consumers, json={"type": "worker", "script_name": "app"})
    raw.api("PATCH", f"{uploads.base}/workers/app", json={"name": "renamed"})
    files = [("a" * 32, ("a.html", "eA==", "text/html"))]
    headers = {"authorization": f"Bearer {opened['jwt']}"}
    sent = raw.api("POST", f"{uploads.base}/assets/upload?base64=true", files=files, headers=headers)
    uploads.put("renamed", assets={"jwt": sent.json()["result"]["jwt"]})
    assert uploads.post(session.format("renamed"), {"manifest": manifest})["buckets"] == []
    assert uploads.post(session.format("app"), {"manifest": manifest})["buckets"] == [["a" * 32]]
    assert [each["script_name"] for each in raw.api("GET", consumers).json()["result"]] == ["renamed"]
    assert raw.refusal("DELETE", f"{uploads.base}/scripts/renamed")[:2] == (400, 10064)
    assert raw.api("DELETE", f"{uploads.base}/scripts/renamed?force=true").status_code == 200
    assert raw.emulator.state.store.count("worker_asset", f"{account}/assets/renamed") == 0


def test_refused_beta_workers(uploads: Uploads, raw: Any):
    path = f"{uploads.base}/workers"
    assert raw.api("POST", path, json={"name": "app"}).status_code == 200
    assert raw.refusal("POST", path, json={"name": "app"})[:2] == (409, 10040)
    assert raw.refusal("POST", path, json={"name": "a b"})[1] == 10016
    assert raw.refusal("POST", path, json={"name": "b", "what": 1})[2] == "what is not a known field"
    assert raw.refusal("PATCH", f"{path}/app/versions/latest", json={"env": {}})[:2] == (404, 10222)
    bad = {"main_module": "index.js", "modules": [{"name": "index.js", "content_type": MODULE, "content_base64": "%"}]}
    assert raw.refusal("POST", f"{path}/app/versions", json=bad)[2] == "modules must have their content in base64"
    hall = {"type": "durable_object_namespace", "name": "H", "class_name": "Hall"}
    body = {"main_module": "index.js", "modules": module(), "bindings": [hall]}
    assert raw.refusal("POST", f"{path}/app/versions", json=body)[1] == 10061
    assert raw.refusal("GET", f"{uploads.base}/scripts/app/settings")[1] == 10007
    assert uploads.get("scripts") == []
