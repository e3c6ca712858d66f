"""Every stage in the life of a Durable Object class, against what the account has and loses."""

from typing import Any

import grpc
import pytest

from testbed.plugin.account import Cloud, Worker
from testbed.plugin.driver import SCRIPT, CheckFailedError, Plugin, Stack

ALL = ("Sandbox", "Helper", "Box")


def bound(*names: str) -> dict[str, Any]:
    return {name: {"type": "durable_object_namespace", "className": name} for name in names}


def script(worker: Worker, **classes: Any) -> tuple[str, str, dict[str, Any]]:
    """A script with these classes, all of them bound; a key `extra` adds other inputs."""
    extra = classes.pop("extra", {})
    worker.write("hello", *(name for name in ALL if name != "Sandbox"))
    return worker.script(classes=classes, bindings=bound(*classes), **extra)


def ids(stack: Stack, name: str = "small") -> dict[str, str]:
    found: dict[str, str] = stack.outputs(SCRIPT, name)["namespaceIds"]
    return found


def test_a_class_is_created_with_the_script(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(script(worker, Sandbox={"container": {}}))
    assert cloud.picture()["classes"] == ["small/Sandbox"]
    assert stack.outputs(SCRIPT, "small")["migrationTag"].startswith("sandbox-")


def test_a_second_class_leaves_the_first_alone(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(script(worker, Sandbox={"container": {}}))
    before = ids(stack)
    stack.up(script(worker, Sandbox={"container": {}}, Helper={}))
    assert ids(stack)["Sandbox"] == before["Sandbox"]
    assert set(ids(stack)) == {"Sandbox", "Helper"}
    assert cloud.losses() == []


def test_a_class_is_renamed_with_its_objects_and_the_hint_may_stay(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(script(worker, Sandbox={"container": {}}))
    before = ids(stack)["Sandbox"]
    renamed = script(worker, Box={"container": {}, "renamedFrom": "Sandbox"})
    stack.up(renamed)
    assert ids(stack) == {"Box": before}
    assert stack.up(renamed) == ["same"]
    worker.write("again", "Helper", "Box")
    assert stack.up(renamed) == ["update"]
    assert ids(stack) == {"Box": before}
    assert cloud.losses() == []


def test_a_class_moves_to_another_script_with_its_objects(stack: Stack, cloud: Cloud, worker: Worker):
    giver = Worker(worker.folder, cloud, "giver")
    stack.up(script(giver, Sandbox={}, Helper={}))
    before = ids(stack, "giver")["Sandbox"]
    taker = script(worker, Sandbox={"transferredFrom": {"scriptName": "giver"}})
    giver.write("without")
    stack.up(taker, script(giver, Helper={}, extra={"transferredClasses": {"Sandbox": "small"}}))
    assert ids(stack) == {"Sandbox": before}
    assert set(ids(stack, "giver")) == {"Helper"}
    assert cloud.losses() == []


def test_a_class_that_is_not_taken_over_yet_is_not_left_out(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(script(worker, Sandbox={}, Helper={}))
    with pytest.raises(grpc.RpcError) as caught:
        stack.up(script(worker, Helper={}, extra={"transferredClasses": {"Sandbox": "other"}}))
    assert caught.value.details() == (
        "script other has not taken over class Sandbox of small yet; let other be updated first "
        "(transferredFrom there, dependsOn here)"
    )
    assert cloud.losses() == []


def test_a_class_is_not_deleted_without_consent(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(script(worker, Sandbox={}, Helper={}))
    cloud.clear()
    with pytest.raises(CheckFailedError) as caught:
        stack.up(script(worker, Sandbox={}))
    text = (
        "class Helper of script small holds Durable Objects and the program no longer names it; leaving it out would "
        "lose all its objects and their data. Keep Helper in classes, or say where its objects go (renamedFrom of "
        "the new class, or transferredClasses), or give them up by naming Helper in deletedClasses"
    )
    assert caught.value.failures == [("classes.Helper", text)]
    assert cloud.calls() == []


def test_a_class_is_deleted_with_consent_which_may_stay(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(script(worker, Sandbox={}, Helper={}))
    without = script(worker, Sandbox={}, extra={"deletedClasses": ["Helper"]})
    stack.up(without)
    assert cloud.picture()["classes"] == ["small/Sandbox"]
    assert cloud.losses() == ["small/Helper"]
    assert stack.up(without) == ["same"]
    assert stack.up(script(worker, Sandbox={})) == ["same"]


def wrangler_made(worker: Worker, tag: str, *classes: str) -> None:
    """A script as another tool deploys it: with a tag of its own."""
    worker.write("by hand", *(name for name in ALL if name != "Sandbox"))
    step = {"new_sqlite_classes": list(classes)}
    metadata = {
        "main_module": "index.js",
        "compatibility_date": "2026-10-01",
        "bindings": [{"name": name, "type": "durable_object_namespace", "class_name": name} for name in classes],
        "migrations": {"new_tag": tag, "steps": [step]},
        "containers": [{"class_name": classes[0]}],
    }
    worker.upload_by_hand(metadata)


def test_a_script_of_others_is_not_taken_over_silently(stack: Stack, cloud: Cloud, worker: Worker):
    wrangler_made(worker, "v1", "Sandbox")
    before = cloud.picture()
    with pytest.raises(grpc.RpcError) as caught:
        stack.up(script(worker, Sandbox={"container": {}}))
    assert caught.value.details() == (
        "script small already exists in the account and was not made by this resource. Set adopt to true to take it "
        f"over, or import it: pulumi import cloudflare-sandbox:index:WorkerScript <name> {cloud.account}/small"
    )
    assert cloud.picture() == before
    assert stack.state == {}


def test_a_script_is_our_own_only_as_this_program_uploads_it(
    stack: Stack, cloud: Cloud, worker: Worker, plugin: Plugin
):
    ours = script(worker, Sandbox={"container": {}})
    stack.up(ours)
    before = cloud.picture()
    assert Stack(plugin).up(ours) == ["create"]  # as after a creation that died
    assert cloud.picture() == before
    with pytest.raises(grpc.RpcError, match="was not made by this resource"):  # the same URN in another organisation
        Stack(plugin).up(script(worker, Sandbox={"container": {}}, extra={"compatibilityFlags": []}))
    assert cloud.picture() == before


def test_a_class_that_another_tool_created_is_adopted_with_its_objects(stack: Stack, cloud: Cloud, worker: Worker):
    wrangler_made(worker, "v1", "Sandbox")
    stack.up(script(worker, Sandbox={"container": {}}, extra={"adopt": True}))
    assert stack.outputs(SCRIPT, "small")["migrationTag"] == "v1"
    assert cloud.losses() == []


def test_adopting_refuses_to_lose_a_class_the_program_does_not_know(stack: Stack, cloud: Cloud, worker: Worker):
    wrangler_made(worker, "v7", "Sandbox", "Helper")
    with pytest.raises(grpc.RpcError, match="class Helper of script small holds Durable Objects"):
        stack.up(script(worker, Sandbox={"container": {}}, extra={"adopt": True}))
    stack.up(script(worker, Sandbox={"container": {}}, extra={"adopt": True, "deletedClasses": ["Helper"]}))
    assert cloud.losses() == ["small/Helper"]


def test_a_live_tag_that_is_unknown_or_ahead_is_built_upon(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(script(worker, Sandbox={"container": {}}))
    wrangler_next(cloud, worker)
    stack.up(script(worker, Sandbox={"container": {}}, Helper={}, Box={}))
    assert set(ids(stack)) == {"Sandbox", "Helper", "Box"}
    assert cloud.losses() == []


def wrangler_next(cloud: Cloud, worker: Worker) -> None:
    """Another tool adds a class behind our back."""
    live = cloud.api("GET", "/workers/services/small")["default_environment"]["script"]["migration_tag"]
    metadata = {
        "main_module": "index.js",
        "compatibility_date": "2026-10-01",
        "migrations": {"old_tag": live, "new_tag": "v99", "steps": [{"new_sqlite_classes": ["Helper"]}]},
        "containers": [{"class_name": "Sandbox"}],
    }
    worker.upload_by_hand(metadata)


def test_from_migrations_to_exports_and_not_back(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(script(worker, Sandbox={"container": {}}))
    before = ids(stack)
    stack.up(script(worker, Sandbox={"container": {}}, extra={"lifecycle": "exports"}))
    assert ids(stack) == before
    assert stack.refresh() == []
    stack.up(script(worker, Sandbox={"container": {}}, Helper={}, extra={"lifecycle": "exports"}))
    stack.up(script(worker, Box={"container": {}, "renamedFrom": "Sandbox"}, Helper={}, extra={"lifecycle": "exports"}))
    assert ids(stack)["Box"] == before["Sandbox"]
    with pytest.raises(CheckFailedError, match="cannot go back to migrations; set lifecycle to exports"):
        stack.up(script(worker, Box={"container": {}}, Helper={}))
    worker.write("without", "Box")
    final = worker.script(
        classes={"Box": {"container": {}}}, bindings=bound("Box"), lifecycle="exports", deletedClasses=["Helper"]
    )
    stack.up(final)
    assert cloud.losses() == ["small/Helper"]
    assert cloud.picture()["classes"] == ["small/Box"]


def test_a_class_moves_between_scripts_that_use_exports(stack: Stack, cloud: Cloud, worker: Worker):
    giver = Worker(worker.folder, cloud, "giver")
    stack.up(script(giver, Sandbox={}, Helper={}, extra={"lifecycle": "exports"}))
    before = ids(stack, "giver")["Sandbox"]
    expecting = script(worker, Sandbox={"transferredFrom": {"scriptName": "giver"}}, extra={"lifecycle": "exports"})
    gone = script(giver, Helper={}, extra={"lifecycle": "exports", "transferredClasses": {"Sandbox": "small"}})
    stack.up(expecting, gone)
    stack.refresh()
    assert ids(stack) == {"Sandbox": before}
    assert cloud.losses() == []


def test_another_name_for_a_script_is_refused_unless_the_objects_move(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(script(worker, Sandbox={}))
    before = ids(stack)["Sandbox"]
    with pytest.raises(CheckFailedError) as caught:
        stack.up(script(worker, Sandbox={}, extra={"scriptName": "large"}))
    assert caught.value.failures[0][1] == (
        "another name means another script: small would be deleted, and with it all objects of class Sandbox and "
        "their data. Keep the name, or let the new script take the objects over (transferredFrom with scriptName small "
        "in its class), or remove this resource first to give them up"
    )
    moved = script(worker, Sandbox={"transferredFrom": {"scriptName": "small"}}, extra={"scriptName": "large"})
    assert stack.up(moved) == ["replace"]
    assert ids(stack) == {"Sandbox": before}
    assert cloud.picture()["classes"] == ["large/Sandbox"]
    assert cloud.losses() == []


def test_another_name_that_is_taken_loses_nothing(stack: Stack, cloud: Cloud, worker: Worker):
    wrangler_made(Worker(worker.folder, cloud, "large"), "v1", "Sandbox")
    stack.up(script(worker, Sandbox={}))
    before = cloud.picture()
    moved = {"Sandbox": {"transferredFrom": {"scriptName": "small"}}}
    with pytest.raises(grpc.RpcError, match="class Sandbox cannot take over class Sandbox of small: both hold"):
        stack.up(script(worker, **moved, extra={"scriptName": "large", "adopt": True}))
    assert cloud.picture() == before
    assert cloud.losses() == []


def test_another_account_for_a_script_is_refused(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(script(worker, Sandbox={}, Helper={}))
    cloud.clear()
    with pytest.raises(CheckFailedError) as caught:
        stack.up(script(worker, Sandbox={}, Helper={}, extra={"accountId": "f" * 32}))
    text = (
        "another account means another script: small would be deleted in the former account, and with it all objects "
        "of its classes (Helper, Sandbox) and their data, which cannot move. Keep the account, or remove this resource "
        "first to give them up"
    )
    assert caught.value.failures == [("accountId", text)]
    assert cloud.calls() == []


@pytest.mark.parametrize(("before", "after"), [("exports", "exports"), ("migrations", "exports")])
def test_with_exports_another_name_takes_two_runs(before: str, after: str, stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(script(worker, Sandbox={}, extra={"lifecycle": before}))
    wanted = {"Sandbox": {"transferredFrom": {"scriptName": "small"}}}
    with pytest.raises(CheckFailedError) as caught:
        stack.up(script(worker, **wanted, extra={"scriptName": "large", "lifecycle": after}))
    assert caught.value.failures[0][1] == (
        "another name means another script: small would be deleted, and with it all objects of class Sandbox and "
        "their data. Keep the name, or do it in two runs, as exports need: first let a second WorkerScript large take "
        "the objects over (transferredFrom with scriptName small in its class) while this one stays small and names "
        "them in transferredClasses, then remove this one, or remove this resource first to give them up"
    )
    namespace = ids(stack)["Sandbox"]
    taker = script(Worker(worker.folder, cloud, "large"), **wanted, extra={"lifecycle": "exports"})
    worker.write("without")
    stack.up(taker, script(worker, extra={"lifecycle": "exports", "transferredClasses": {"Sandbox": "large"}}))
    stack.up(taker)
    stack.refresh()
    assert ids(stack, "large") == {"Sandbox": namespace}
    assert cloud.losses() == []
