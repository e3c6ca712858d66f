"""Scripts through the official SDK, and their refusals."""

from pathlib import Path
from typing import Any

import pytest
from cloudflare import Cloudflare, NotFoundError

from emulator.services.workers import bindings, rules
from emulator.testing import running
from testbed.emulator.control import Control
from testbed.emulator.workers_upload import MODULE, PLAIN, Uploads, parts

SECRET = "never-to-be-seen-again"


@pytest.fixture
def uploads(raw: Any) -> Uploads:
    return Uploads(raw)


def upload(client: Cloudflare, account: str, name: str, **metadata: Any) -> Any:
    files = [("index.js", PLAIN.encode(), MODULE)]
    return client.workers.scripts.update(
        name, account_id=account, metadata={"main_module": "index.js", **metadata}, files=files
    )


def test_life_of_a_script(client: Cloudflare, account: str):
    scripts = client.workers.scripts
    made = upload(
        client,
        account,
        "app",
        compatibility_date="2026-11-01",
        compatibility_flags=["nodejs_compat"],
        bindings=[
            {"type": "plain_text", "name": "VAR", "text": "1"},
            {"type": "json", "name": "J", "json": {"a": [1]}},
            {"type": "secret_text", "name": "S", "text": SECRET},
            {"type": "version_metadata", "name": "V"},
            {"type": "ratelimit", "name": "R", "namespace_id": "1", "simple": {"limit": 10, "period": 60}},
        ],
        observability={"enabled": True, "head_sampling_rate": 0.5},
        placement={"mode": "smart"},
        limits={"cpu_ms": 100},
        tags=["team:a"],
        annotations={"workers/message": "first"},
    )
    assert (made.id, made.has_modules, made.compatibility_date) == ("app", True, "2026-11-01")
    assert made.startup_time_ms > 0
    assert [script.id for script in scripts.list(account_id=account)] == ["app"]
    assert [script.id for script in scripts.list(account_id=account, tags="team:a:yes")] == ["app"]
    assert [script.id for script in scripts.list(account_id=account, tags="team:a:no")] == []
    settings = scripts.script_and_version_settings.get("app", account_id=account)
    assert [binding.name for binding in settings.bindings or []] == ["J", "R", "S", "V", "VAR"]
    assert settings.limits
    assert settings.limits.cpu_ms == 100
    content = scripts.content.get("app", account_id=account)
    assert PLAIN.encode() in content.read()
    assert PLAIN in scripts.get("app", account_id=account)
    assert scripts.search(account_id=account, name="ap")[0].script_name == "app"
    scripts.delete("app", account_id=account)
    with pytest.raises(NotFoundError, match="10007"):
        scripts.script_and_version_settings.get("app", account_id=account)


def test_settings_are_patched_by_a_new_version(client: Cloudflare, account: str):
    upload(client, account, "app", bindings=[{"type": "plain_text", "name": "VAR", "text": "1"}])
    edited = client.workers.scripts.script_and_version_settings.edit(
        "app",
        account_id=account,
        settings={
            "bindings": [{"type": "inherit", "name": "VAR"}, {"type": "secret_text", "name": "S", "text": SECRET}],
            "tags": ["x"],
            "logpush": True,
        },
    )
    assert [binding.name for binding in edited.bindings or []] == ["S", "VAR"]
    assert edited.tags == ["x"]
    assert edited.logpush is True
    versions = list(client.workers.scripts.versions.list("app", account_id=account))
    assert [version.number for version in versions] == [2, 1]
    script = client.workers.scripts.settings.edit("app", account_id=account, tags=["y"], logpush=False)
    assert (script.tags, script.logpush) == (["y"], False)
    assert client.workers.scripts.settings.get("app", account_id=account).tags == ["y"]
    assert len(list(client.workers.scripts.versions.list("app", account_id=account))) == 2


@pytest.mark.parametrize("off", [None, {}, {"mode": "off"}])
def test_null_takes_settings_back(uploads: Uploads, raw: Any, off: Any):
    given = {"logpush": True, "observability": {"enabled": True}, "tags": ["x"], "tail_consumers": [{"service": "t"}]}
    bound = [{"type": "plain_text", "name": "VAR", "text": "1"}]
    kept = {"limits": {"cpu_ms": 50}, "placement": {"mode": "smart"}, "compatibility_flags": ["nodejs_compat"]}
    uploads.put("fresh", bindings=bound)
    before = uploads.get("scripts/fresh/settings")
    uploads.put("app", bindings=bound, **given, **kept)
    path = f"{uploads.base}/scripts/app/settings"
    assert raw.api("PATCH", path, json={}).json()["result"]["limits"] == {"cpu_ms": 50}
    nulls = {**dict.fromkeys((*given, *kept)), "placement": off, "bindings": None}
    assert raw.api("PATCH", path, json=nulls).json()["result"] == before
    assert uploads.get("scripts/app/settings") == before


def test_content_is_replaced_and_the_rest_stays(client: Cloudflare, account: str):
    upload(client, account, "app", bindings=[{"type": "plain_text", "name": "VAR", "text": "1"}])
    code = b"export default { fetch() { return new Response('new'); } };"
    client.workers.scripts.content.update(
        "app", account_id=account, metadata={"main_module": "other.js"}, files=[("other.js", code, MODULE)]
    )
    assert code in client.workers.scripts.content.get("app", account_id=account).read()
    settings = client.workers.scripts.script_and_version_settings.get("app", account_id=account)
    assert [binding.name for binding in settings.bindings or []] == ["VAR"]


def test_secrets_come_and_go_and_survive_uploads(client: Cloudflare, account: str):
    upload(client, account, "app")
    secrets = client.workers.scripts.secrets
    secrets.update("app", account_id=account, name="A", text=SECRET, type="secret_text")
    key = {"type": "secret_key", "format": "raw", "usages": ["sign"], "algorithm": {"name": "HMAC"}}
    secrets.update("app", account_id=account, name="K", key_base64="AAAA", **key)
    upload(client, account, "app")
    assert {each.name for each in secrets.list("app", account_id=account)} == {"A", "K"}
    assert secrets.get("A", account_id=account, script_name="app").name == "A"
    changed = {"A": None, "B": {"type": "secret_text", "name": "B", "text": SECRET}}
    secrets.bulk_update("app", account_id=account, secrets=changed)
    assert {each.name for each in secrets.list("app", account_id=account)} == {"B", "K"}
    secrets.delete("B", account_id=account, script_name="app")
    with pytest.raises(NotFoundError, match="10056"):
        secrets.get("B", account_id=account, script_name="app")


def test_kept_inherited_and_dropped_bindings(uploads: Uploads):
    kinds = [
        {"type": "plain_text", "name": "P", "text": "1"},
        {"type": "json", "name": "J", "json": 1},
        {"type": "secret_text", "name": "S", "text": SECRET},
    ]
    names = lambda: [each["name"] for each in uploads.get("scripts/app/settings")["bindings"]]  # noqa: E731
    first = uploads.put("app", bindings=kinds)
    uploads.put("app", keep_bindings=["plain_text"])
    assert names() == ["P", "S"]
    uploads.put("app", bindings=[{"type": "inherit", "name": "Q", "old_name": "P"}])
    assert names() == ["Q", "S"]
    version = first["deployment_id"]
    old = f"{version[:8]}-{version[8:12]}-{version[12:16]}-{version[16:20]}-{version[20:]}"
    uploads.put("app", bindings=[{"type": "inherit", "name": "J", "version_id": old}])
    assert names() == ["J", "S"]
    lost = [{"type": "inherit", "name": "GONE"}]
    assert uploads.refused("app", query="bindings_inherit=strict", bindings=lost)[0] == 10057
    uploads.put("app", bindings=lost)
    assert names() == ["S"]


def test_no_route_gives_a_secret_away(uploads: Uploads, raw: Any, account: str):
    """Set secrets in every way there is, then read everything that can be read."""
    seen = (
        "uploaded-secret",
        "put-secret",
        "bulk-secret",
        "a2V5LXNlY3JldA==",
        "version-secret",
        "beta-secret",
        "env-secret",
        "preview-secret",
    )
    uploads.put("app", bindings=[{"type": "secret_text", "name": "A", "text": seen[0]}])
    base = uploads.base
    sent = [
        raw.api("PUT", f"{base}/scripts/app/secrets", json={"type": "secret_text", "name": "B", "text": seen[1]}),
        raw.api(
            "PATCH",
            f"{base}/scripts/app/secrets-bulk",
            json={"secrets": {"C": {"type": "secret_text", "name": "C", "text": seen[2]}}},
        ),
        raw.api(
            "PUT",
            f"{base}/scripts/app/secrets",
            json={
                "type": "secret_key",
                "name": "D",
                "format": "raw",
                "usages": ["sign"],
                "algorithm": {"name": "HMAC"},
                "key_base64": seen[3],
            },
        ),
        raw.api(
            "POST",
            f"{base}/scripts/app/versions",
            files=parts({"bindings": [{"type": "secret_text", "name": "E", "text": seen[4]}]}),
        ),
        raw.api(
            "POST",
            f"{base}/workers/app/versions",
            json={
                "main_module": "i.js",
                "modules": [{"name": "i.js", "content_type": MODULE, "content_base64": "ZXhwb3J0IGRlZmF1bHQge30="}],
                "bindings": [{"type": "secret_text", "name": "F", "text": seen[5]}],
            },
        ),
        raw.api(
            "PATCH",
            f"{base}/workers/app/versions/latest",
            json={"env": {"G": {"type": "secret_text", "text": seen[6]}}},
        ),
        raw.api(
            "PATCH",
            f"{base}/workers/app",
            json={"previews_base_config": {"env": {"H": {"type": "secret_text", "text": seen[7]}}}},
        ),
    ]
    assert [answer.status_code for answer in sent] == [200] * 7
    texts = [answer.text for answer in sent]
    versions = [each["id"] for each in uploads.get("scripts/app/versions?per_page=100")["items"]]
    deployments = [each["id"] for each in uploads.get("scripts/app/deployments?per_page=100")["deployments"]]
    worker = uploads.get("workers/app")["id"]
    values = {"account_id": account, "script_name": "app", "service_name": "app", "environment_name": "production"}
    values |= {"secret_name": "A", "worker_id": worker, "subdomain_name": "x"}
    operations = [
        each for each in raw.control("GET", "/operations") if each["method"] == "GET" and "/workers/" in each["path"]
    ]
    read = 0
    for operation in operations:
        for version, deployment in zip(versions, (deployments * len(versions))[: len(versions)], strict=True):
            path = operation["path"].removeprefix("/client/v4")
            for name, value in (values | {"version_id": version, "deployment_id": deployment}).items():
                path = path.replace("{" + name + "}", value)
            if "{" not in path:
                texts += [raw.api("GET", path).text, raw.api("GET", f"{path}?include=modules").text]
                read += 1
    assert read > 100
    assert not [(value, text) for value in seen for text in texts if value in text]
    state = raw.emulator.state.folder
    stored = b"".join(path.read_bytes() for path in state.rglob("*") if path.is_file() and path.name != "lock")
    assert not [value for value in seen if value.encode() in stored]
    assert (state / "key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("metadata", "code", "message"),
    [
        ({"main_module": "missing.js"}, 10021, 'No such module "missing.js".'),
        ({"compatibility_date": "yesterday"}, 10021, "Invalid metadata: compatibility_date has an invalid format"),
        ({"compatibility_date": "2026-02-99"}, 10021, "Invalid compatibility date: 2026-02-99"),
        ({"compatibility_date": "2999-01-01"}, 10021, 'Can\'t set compatibility date in the future: "2999-01-01"'),
        ({"bindings": {}}, 10021, "Invalid metadata: bindings must be an array"),
        ({"bindings": [{"type": "ai"}]}, 10021, "bindings[0] must have a name"),
        ({"bindings": [{"type": "what", "name": "X"}]}, 10021, "binding X has an unknown type what"),
        (
            {"bindings": [{"type": "d1", "name": "DB"}]},
            10021,
            "binding DB of type d1 must have a valid `id` specified",
        ),
        (
            {"bindings": [{"type": "plain_text", "name": "X", "text": 5}]},
            10021,
            "binding X of type plain_text must have a valid `text` specified",
        ),
        ({"bindings": [{"type": "ai", "name": "X"}, {"type": "ai", "name": "X"}]}, 10053, "Binding name 'X' already"),
        (
            {"bindings": [{"type": "kv_namespace", "name": "X", "namespace_id": "0"}]},
            10041,
            "KV namespace '0' not found.",
        ),
        ({"bindings": [{"type": "r2_bucket", "name": "X", "bucket_name": "no"}]}, 10085, "R2 bucket 'no' not found."),
        ({"bindings": [{"type": "queue", "name": "X", "queue_name": "no"}]}, 11000, "Queue 'no' not found."),
        ({"bindings": [{"type": "service", "name": "X", "service": "no"}]}, 10144, "Target script 'no' not found."),
        (
            {"bindings": [{"type": "durable_object_namespace", "name": "X", "class_name": "C"}]},
            10061,
            "Cannot create binding for class 'C' because it is not currently configured to implement Durable Objects.",
        ),
        ({"containers": [{"class_name": "C"}]}, 10021, "The container of class 'C' has no Durable Object class"),
        ({"exports": {"C": {"type": "what"}}}, 10021, "exports.C.type must be one of"),
        ({"assets": {"jwt": "wrong"}}, 10021, "The token of the assets upload session is not valid"),
    ],
)
def test_refused_uploads(uploads: Uploads, raw: Any, metadata: dict[str, Any], code: int, message: str):
    found, text = uploads.refused("app", **metadata)
    assert found == code
    assert message in text
    assert raw.control("GET", "/state")["empty"]


def test_uploads_that_are_none(raw: Any, account: str):
    path = f"/accounts/{account}/workers/scripts/app"
    assert raw.refusal("PUT", path, json={"main_module": "x"})[1] == 10001
    assert raw.refusal("PUT", path, files=[("index.js", ("index.js", PLAIN, MODULE))])[1] == 10001
    assert raw.refusal("PUT", path, files=[("metadata", (None, "{", "application/json"))])[1] == 6007
    assert raw.refusal("PUT", path, files=parts({}, {}))[1] == 10021
    assert raw.refusal("PUT", path, files=parts({}, {"index.js": "const nothing = 1;"}))[1] == 10068
    assert raw.refusal("PUT", path.replace("/app", "/a%20b"), files=parts({}))[1] == 10016
    assert (
        raw.refusal("PUT", path, content=b"x", headers={"content-type": "multipart/form-data; boundary=b"})[1] == 10001
    )


def test_older_syntax(raw: Any, account: str, uploads: Uploads):
    code = "addEventListener('fetch', (event) => event.respondWith(new Response('old')));"
    path = f"/accounts/{account}/workers/scripts/old"
    answer = raw.api("PUT", path, content=code, headers={"content-type": "application/javascript"})
    assert answer.json()["result"]["handlers"] == ["fetch"]
    assert answer.json()["result"]["has_modules"] is False
    downloaded = raw.api("GET", path + "/content/v2")
    assert (downloaded.text, downloaded.headers["content-type"]) == (code, "application/javascript")
    assert uploads.get("services/old")["default_environment"]["script"]["id"] == "old"


def test_a_script_others_need_goes_only_by_force(uploads: Uploads, raw: Any, client: Cloudflare, account: str):
    code = "export class Room {}\nexport default {};"
    uploads.put("target", code, migrations={"new_tag": "v1", "new_sqlite_classes": ["Room"]})
    uploads.put("caller", bindings=[{"type": "service", "name": "T", "service": "target"}])
    path = f"{uploads.base}/scripts/target"
    assert raw.refusal("DELETE", path)[1:] == (10142, "This Worker is the target of service bindings of: caller.")
    room = {"type": "durable_object_namespace", "name": "R", "class_name": "Room", "script_name": "target"}
    uploads.put("caller", bindings=[room])
    assert raw.refusal("DELETE", path)[1] == 10064
    uploads.put("caller")
    queue = client.queues.create(account_id=account, queue_name="jobs")
    assert queue.queue_id
    client.queues.consumers.create(queue.queue_id, account_id=account, type="worker", script_name="target")
    assert raw.refusal("DELETE", path)[1:] == (10064, "This Worker is still a consumer of queues: jobs.")
    assert uploads.get("workers/target")["references"]["queues"][0]["queue_name"] == "jobs"
    assert raw.api("DELETE", f"{path}?force=true").status_code == 200
    assert uploads.classes("target") == {}


def test_queues_know_their_producers(uploads: Uploads, client: Cloudflare, account: str):
    queue = client.queues.create(account_id=account, queue_name="jobs")
    uploads.put("app", bindings=[{"type": "queue", "name": "Q", "queue_name": "jobs"}])
    assert queue.queue_id
    read = client.queues.get(queue.queue_id, account_id=account)
    assert [producer.script for producer in read.producers or []] == ["app"]
    uploads.put("app")
    assert client.queues.get(queue.queue_id, account_id=account).producers_total_count == 0


def test_a_queue_under_another_name_is_the_same_queue(uploads: Uploads, raw: Any, client: Cloudflare, account: str):
    queue_id = str(client.queues.create(account_id=account, queue_name="jobs").queue_id)
    uploads.put("app", bindings=[{"type": "queue", "name": "Q", "queue_name": "jobs", "queue_id": 5}])
    client.queues.consumers.create(queue_id, account_id=account, type="worker", script_name="app")
    client.r2.buckets.create(account_id=account, name="data")
    events = client.r2.buckets.event_notifications
    events.update(queue_id, account_id=account, bucket_name="data", rules=[{"actions": ["PutObject"]}])

    def producers(queue: str) -> int:
        found = client.queues.get(queue, account_id=account).producers or []
        return sum(getattr(each, "script", None) == "app" for each in found)

    client.queues.edit(queue_id, account_id=account, queue_name="work")
    other = str(client.queues.create(account_id=account, queue_name="jobs").queue_id)
    raw.api("PUT", f"{uploads.base}/scripts/app/secrets", json={"name": "S", "type": "secret_text", "text": "x"})
    assert (producers(queue_id), producers(other)) == (1, 0)
    for shown in (uploads.get("scripts/app/settings"), uploads.get("workers/app/versions")[0]):
        bindings = {each["name"]: each for each in shown["bindings"]}
        assert bindings["Q"] == {"type": "queue", "name": "Q", "queue_name": "work"}
    assert [each.queue_name for each in client.queues.consumers.list(queue_id, account_id=account)] == ["work"]
    assert uploads.get("workers/app")["references"]["queues"][0]["queue_name"] == "work"
    assert events.get(queue_id, account_id=account, bucket_name="data").queue_name == "work"
    assert [each.queue_name for each in events.list("data", account_id=account).queues or []] == ["work"]
    uploads.put("app", keep_bindings=["queue"])
    assert (producers(queue_id), producers(other)) == (1, 0)
    uploads.put("app")
    assert (producers(queue_id), producers(other)) == (0, 0)


def test_missing_permission(uploads: Uploads, raw: Any):
    uploads.put("app")
    answer = raw.http.get(
        f"{raw.emulator.url}{uploads.base}/scripts",
        headers={"authorization": "Bearer wrong_token_0123456789_0123456789_0"},
    )
    assert answer.status_code == 401


def test_a_restart_keeps_all_and_only_the_runtime_opens_secrets(tmp_path: Path):
    with running(tmp_path) as first:
        control = Control(first)
        uploads = Uploads(control)
        uploads.put("app", bindings=[{"type": "secret_text", "name": "S", "text": SECRET}])
        before = uploads.get("scripts/app/settings")
        control.http.close()
    with running(tmp_path) as second:
        control = Control(second)
        assert Uploads(control).get("scripts/app/settings") == before
        store, account = second.state.store, second.account_id
        worker = rules.find(store, account, "app")
        assert worker
        version = rules.live_version(store, account, worker)
        assert version
        assert bindings.open_secret(version["bindings"][0], second.state.vault) == SECRET
        (module,) = version["modules"]
        assert second.state.blobs.get(module["sha256"]) == PLAIN.encode()
        control.http.close()


def test_a_script_of_65_mebibytes_is_too_big_even_if_it_packs_well(uploads: Uploads):
    code, text = uploads.refused("app", PLAIN + " " * (65 * 1024 * 1024))
    assert (code, text) == (10027, "Your Worker exceeded the size limit of 64 MiB before compression.")
