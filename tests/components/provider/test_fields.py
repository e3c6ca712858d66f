"""Every property: changed in place or by replacement as documented, and read back the same."""

from typing import Any

import pytest

from components.provider.container_application.declaration import DECLARATION as CONTAINER_APPLICATION
from components.provider.container_application.lifecycle import application
from components.provider.worker_script.declaration import DECLARATION as WORKER_SCRIPT
from components.provider.worker_script.lifecycle import script
from testbed.plugin.account import Cloud, Worker
from testbed.plugin.driver import APPLICATION, SCRIPT, Stack

KEY = {"name": "me", "publicKey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 me"}
BOUND = {"Sandbox": {"type": "durable_object_namespace", "className": "Sandbox"}}

SCRIPT_CHANGES: dict[str, Any] = {
    "mainModule": "main.js",
    "modules": "other",
    "compatibilityDate": "2026-09-01",
    "compatibilityFlags": ["nodejs_compat", "global_fetch_strictly_public"],
    "bindings": {
        **BOUND,
        "SECRET": {"type": "secret_text", "text": "hidden"},
        "PLAIN": {"type": "plain_text", "text": "shown"},
        "JSON": {"type": "json", "json": {"some_key": [1, None, {"x": True}]}},
        "AI": {"type": "ai"},
        "SELF": {"type": "service", "service": "small", "entrypoint": "Sandbox"},
        "LIMIT": {"type": "ratelimit", "namespaceId": "7", "simple": {"limit": 10, "period": 60}},
        "STORE": {"type": "secrets_store_secret", "storeId": "s", "secretName": "n"},
        "FILES": {"type": "r2_bucket", "bucketName": "files"},
        "TALKS": {"type": "kv_namespace", "namespaceId": "…"},
        "JOBS": {"type": "queue", "queueName": "jobs"},
        "VERSION": {"type": "version_metadata"},
    },
    "keepBindings": ["plain_text"],
    "classes": {"Sandbox": {"container": {}}, "Helper": {}},
    "lifecycle": "exports",
    "observability": {"enabled": True, "headSamplingRate": 0.5, "logs": {"enabled": True, "invocationLogs": False}},
    "placement": {"mode": "smart"},
    "limits": {"cpuMs": 500},
    "logpush": True,
    "tailConsumers": [{"service": "small"}],
    "tags": ["team-a"],
    "workersDev": True,
    "previewUrls": True,
}
APPLICATION_CHANGES: dict[str, Any] = {
    "image": "two",
    "instanceType": "standard-1",
    "size": {"vcpu": 1, "memoryMib": 3072, "diskMb": 6000},
    "command": ["run"],
    "entrypoint": ["/bin/sh"],
    "environment": {"MODE": "fast", "LEVEL": "2"},
    "trustedUserCaKeys": [KEY],
    "maxInstances": 9,
    "constraints": {"regions": ["WEUR"], "jurisdiction": "eu", "cities": ["paris"], "tiers": [1]},
    "affinities": {"colocation": "datacenter", "hardwareGeneration": "highest-overall-performance"},
    "observability": {"logs": {"enabled": True}},
    "authorizedKeys": [KEY],
    "ssh": {"enabled": False, "port": 2222},
    "rollout": {"gracePeriodSeconds": 60},
}


def prepared(name: str, value: Any, cloud: Cloud, worker: Worker) -> dict[str, Any]:
    """The changed inputs, and what they need in the account."""
    worker.write("hello", "Helper")
    if name == "modules":
        worker.write("other", "Helper")
        return {}
    if name == "mainModule":
        return {"mainModule": value, "modules": {value: {"file": str(worker.folder / "small.js")}}}
    if name == "bindings":
        cloud.api("POST", "/r2/buckets", json={"name": "files"})
        cloud.api("POST", "/queues", json={"queue_name": "jobs"})
        kv = cloud.api("POST", "/storage/kv/namespaces", json={"title": "talks"})
        return {name: {**value, "TALKS": {**value["TALKS"], "namespaceId": kv["id"]}}}
    if name == "size":
        return {"size": value, "instanceType": None}
    return {name: cloud.images[1] if name == "image" else value}


@pytest.mark.parametrize(("name", "value"), SCRIPT_CHANGES.items(), ids=SCRIPT_CHANGES)
def test_a_script_changes_in_place_and_back(name: str, value: Any, stack: Stack, cloud: Cloud, worker: Worker):
    worker.write("hello", "Helper")
    stack.up(worker.script())
    changed = prepared(name, value, cloud, worker)
    assert stack.up(worker.script(**changed)) == ["update"]
    assert stack.refresh() == []
    cloud.clear()
    assert stack.up(worker.script(**changed)) == ["same"]
    assert cloud.calls() == []
    back = {"deletedClasses": ["Helper"]} if name == "classes" else {}
    if name == "lifecycle":
        return
    worker.write("hello", "Helper")
    expected = "same" if name == "keepBindings" and back else "update"
    assert stack.up(worker.script(**back)) == [expected]
    assert stack.refresh() == []
    assert {each["name"] for each in cloud.api("GET", "/workers/scripts/small/settings")["bindings"]} == {"Sandbox"}


@pytest.mark.parametrize(("name", "value"), APPLICATION_CHANGES.items(), ids=APPLICATION_CHANGES)
def test_an_application_changes_in_place_and_back(name: str, value: Any, stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(), worker.application())
    before = stack.outputs(APPLICATION, "small-app")
    changed = prepared(name, value, cloud, worker)
    worker.write()
    cloud.clear()
    assert stack.up(worker.script(), worker.application(**changed)) == ["same", "update"]
    rolled = "POST containers.create_rollout" in cloud.calls()
    patched = "PATCH containers.edit_application" in cloud.calls()
    assert (rolled, patched) == (name in application.ROLLED, name not in application.ROLLED)
    assert stack.refresh() == []
    cloud.clear()
    assert stack.up(worker.script(), worker.application(**changed)) == ["same", "same"]
    assert cloud.calls() == []
    assert stack.up(worker.script(), worker.application()) == ["same", "update"]
    assert stack.refresh() == []
    after = stack.outputs(APPLICATION, "small-app")
    assert (after["applicationId"], after["version"]) == (before["applicationId"], 3 if rolled else 1)


@pytest.mark.parametrize(
    "changes",
    [{"name": "other"}, {"className": "Helper"}, {"schedulingPolicy": "durable_object"}],
    ids=["name", "class", "policy"],
)
def test_another_identity_replaces_the_application_the_old_one_first(
    changes: dict[str, Any], stack: Stack, cloud: Cloud, worker: Worker
):
    worker.write("hello", "Helper")
    both = {"classes": {"Sandbox": {"container": {}}, "Helper": {"container": {}}}}
    stack.up(worker.script(**both), worker.application())
    if "schedulingPolicy" in changes:
        changes = {**changes, "image": None, "instanceType": None, "maxInstances": None}
    cloud.clear()
    assert stack.up(worker.script(**both), worker.application(**changes)) == ["same", "replace"]
    assert cloud.writes() == ["DELETE containers.delete_application", "POST containers.create_application"]
    assert stack.refresh() == []
    assert len(cloud.picture()["applications"]) == 1


QUIET: dict[str, Any] = {
    "adopt": True,
    "workerVersionId": "11111111-1111-1111-1111-111111111111",
    "rollout": {"kind": "immediate", "onFailure": "fail"},
}


@pytest.mark.parametrize(("name", "value"), QUIET.items(), ids=QUIET)
def test_settings_of_the_way_are_no_change_of_the_application(
    name: str, value: Any, stack: Stack, cloud: Cloud, worker: Worker
):
    stack.up(worker.script(), worker.application())
    cloud.clear()
    assert stack.up(worker.script(), worker.application(**{name: value})) == ["same", "same"]
    assert cloud.calls() == []


def test_every_property_is_in_one_of_the_tables():
    tried = {*SCRIPT_CHANGES, *script.IDENTITY, "adopt", "forceDelete", "deletedClasses", "transferredClasses"}
    assert set(WORKER_SCRIPT.inputs) == tried
    assert set(CONTAINER_APPLICATION.inputs) == {*APPLICATION_CHANGES, *application.IDENTITY, *QUIET}


def test_moving_a_file_with_the_same_content_is_no_change(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script())
    (worker.folder / "elsewhere.js").write_bytes((worker.folder / "small.js").read_bytes())
    cloud.clear()
    moved = {"index.js": {"file": str(worker.folder / "elsewhere.js")}}
    assert stack.up(worker.script(modules=moved)) == ["same"]
    assert cloud.calls() == []


def test_the_state_holds_the_hash_and_not_the_code(stack: Stack, worker: Worker):
    worker.write("a very particular text")
    stack.up(worker.script())
    assert "a very particular text" not in stack.text()
    assert len(stack.outputs(SCRIPT, "small")["modules"]["index.js"]["sha256"]) == 64
