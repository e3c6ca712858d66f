"""Applications: import, adoption, rollouts that fail, deadlines, cancellation, and those managed by their objects."""

import threading
import time
from typing import Any

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import provider_pb2

from components.provider import wire
from components.provider.properties import CONTAINER_APPLICATION
from tests.provider.driver import APPLICATION, SCRIPT, CheckFailedError, Stack
from tests.provider.world import Cloud, Worker


def body(worker: Worker, **changes: Any) -> dict[str, Any]:
    """An application as another tool makes it."""
    configuration = {"image": worker.cloud.images[0], "instance_type": "basic"}
    return {
        "name": "small-sandbox",
        "scheduling_policy": "default",
        "instances": 0,
        "max_instances": 5,
        "durable_objects": {"script_name": "small", "class_name": "Sandbox"},
        "configuration": configuration,
        **changes,
    }


def test_import_gives_an_empty_preview(stack: Stack, cloud: Cloud, worker: Worker, plugin: Any):
    stack.up(worker.script(tags=["team"], limits={"cpuMs": 5}), worker.application(environment={"A": "b"}))
    other = Stack(plugin)
    other.take(SCRIPT, "small", f"{cloud.account}/small")
    other.take(APPLICATION, "small-app", f"{cloud.account}/small/Sandbox")
    cloud.clear()
    program = (worker.script(tags=["team"], limits={"cpuMs": 5}), worker.application(environment={"A": "b"}))
    assert other.up(*program) == ["same", "same"]
    assert cloud.calls() == []
    assert other.refresh() == []


@pytest.mark.parametrize(
    ("kind", "wrong", "text"),
    [
        (SCRIPT, "small", "'small' is not an id of a WorkerScript; write <account id>/<script name>"),
        (
            APPLICATION,
            "a/b",
            "'a/b' is not an id of a ContainerApplication; write <account id>/<script name>/<class name>",
        ),
    ],
)
def test_a_wrong_import_id_is_explained(kind: str, wrong: str, text: str, stack: Stack):
    with pytest.raises(grpc.RpcError) as caught:
        stack.read(kind, "x", wrong)
    assert caught.value.details() == text


def test_what_is_gone_is_read_as_gone_and_deleted_without_complaint(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(), worker.application())
    application = stack.outputs(APPLICATION, "small-app")["applicationId"]
    cloud.api("DELETE", f"/containers/applications/{application}")
    cloud.api("DELETE", "/workers/scripts/small")
    stack.destroy()
    assert cloud.is_empty()


def test_what_was_deleted_behind_our_back_is_made_anew(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(), worker.application())
    cloud.api("DELETE", f"/containers/applications/{stack.outputs(APPLICATION, 'small-app')['applicationId']}")
    assert stack.up(worker.script(), worker.application(maxInstances=6)) == ["same", "update"]
    assert stack.refresh() == []


def test_a_script_that_was_deleted_behind_our_back_is_made_anew_in_full(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(workersDev=True))
    cloud.api("DELETE", "/workers/scripts/small")
    worker.write("changed")
    assert stack.up(worker.script(workersDev=True)) == ["update"]
    assert cloud.picture()["scripts"]["small"][3] == {"enabled": True, "previews_enabled": False}
    assert stack.refresh() == []


def test_refresh_finds_what_others_changed(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(), worker.application())
    application = stack.outputs(APPLICATION, "small-app")["applicationId"]
    cloud.api("PATCH", f"/containers/applications/{application}", json={"max_instances": 2})
    assert stack.refresh() == ["small-app.inputs.maxInstances", "small-app.properties.maxInstances"]
    assert stack.up(worker.script(), worker.application()) == ["same", "update"]
    assert stack.refresh() == []


def test_refresh_finds_what_others_uploaded_and_the_next_run_takes_it_back(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script())
    before = cloud.picture()
    worker.write("by hand")
    metadata = {
        "main_module": "index.js",
        "compatibility_date": "2026-10-01",
        "containers": [{"class_name": "Sandbox"}],
    }
    worker.upload_by_hand(metadata)
    found = {each.rpartition(".")[2] for each in stack.refresh()}
    assert found >= {"modules", "etag", "versionId", "bindings", "compatibilityFlags"}
    worker.write()
    assert stack.up(worker.script()) == ["update"]
    assert cloud.picture() == before
    assert stack.refresh() == []


def test_an_application_of_others_is_not_taken_over_silently(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script())
    made = cloud.api("POST", "/containers/applications", json=body(worker, max_instances=9))
    with pytest.raises(grpc.RpcError) as caught:
        stack.up(worker.script(), worker.application())
    assert caught.value.details() == (
        f"class Sandbox of small already has the application small-sandbox ({made['id']}), which differs in "
        "maxInstances. Set adopt to true to take it over and change it, or import it: pulumi import "
        f"cloudflare-sandbox:index:ContainerApplication <name> {cloud.account}/small/Sandbox"
    )
    assert stack.up(worker.script(), worker.application(adopt=True)) == ["same", "create"]
    assert stack.outputs(APPLICATION, "small-app")["applicationId"] == made["id"]
    assert stack.refresh() == []


def test_tiers_that_are_left_out_again_are_taken_away(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(), worker.application(constraints={"tiers": [1], "regions": ["WEUR"]}))
    found = f"/containers/applications/{stack.outputs(APPLICATION, 'small-app')['applicationId']}"
    program = worker.script(), worker.application(constraints={"regions": ["WEUR"]})
    assert stack.up(*program) == ["same", "update"]
    assert cloud.api("GET", found)["constraints"] == {"tiers": [1, 2], "regions": ["WEUR"]}
    assert stack.refresh() == []
    assert stack.up(*program) == ["same", "same"]


def test_a_creation_without_answer_does_not_make_an_application_of_others_ours(
    stack: Stack, cloud: Cloud, worker: Worker
):
    stack.up(worker.script())
    made = cloud.api("POST", "/containers/applications", json=body(worker, max_instances=9))
    cloud.fault(operation="containers.create_application", status=503, times=0)
    with pytest.raises(grpc.RpcError, match="Cloudflare did not answer properly"):
        stack.up(worker.script(), worker.application())
    cloud.clear_faults()
    assert (APPLICATION, "small-app") in stack.state
    with pytest.raises(grpc.RpcError, match=r"which differs in maxInstances\. Set adopt to true"):
        stack.up(worker.script(), worker.application())
    stack.up(worker.script())
    assert [each["id"] for each in cloud.api("GET", "/containers/applications")] == [made["id"]]
    assert cloud.picture()["applications"]["small/Sandbox"][3] == 9


@pytest.mark.parametrize("image", [0, 1])
def test_an_application_made_without_answer_is_ours_whatever_is_wanted_next(
    image: int, stack: Stack, cloud: Cloud, worker: Worker
):
    stack.up(worker.script())
    cloud.fault(operation="containers.create_application", drop=True, after=True, times=0)
    with pytest.raises(grpc.RpcError, match="Cloudflare did not answer properly"):
        stack.up(worker.script(), worker.application())
    cloud.clear_faults()
    stack.up(worker.script(), worker.application(image=cloud.images[image]))
    assert cloud.picture()["applications"]["small/Sandbox"][1] == cloud.images[image]
    assert stack.refresh() == []


def test_a_creation_that_was_cancelled_before_its_first_request_leaves_nothing_in_the_state(
    stack: Stack, worker: Worker
):
    stack.up(worker.script())
    stack.plugin.stub.Cancel(Empty())
    try:
        with pytest.raises(grpc.RpcError, match="cancelled"):
            stack.up(worker.script(), worker.application())
    finally:
        stack.plugin.configured()
    assert (APPLICATION, "small-app") not in stack.state


def test_adoption_rolls_out_another_image(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script())
    cloud.api("POST", "/containers/applications", json=body(worker))
    stack.up(worker.script(), worker.application(adopt=True, image=cloud.images[1]))
    assert stack.outputs(APPLICATION, "small-app")["version"] == 2
    assert stack.refresh() == []


def test_an_application_of_another_name_cannot_be_adopted(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script())
    cloud.api("POST", "/containers/applications", json=body(worker, name="theirs"))
    with pytest.raises(grpc.RpcError, match="set name to theirs and schedulingPolicy to default to take it over"):
        stack.up(worker.script(), worker.application(adopt=True))
    assert stack.up(worker.script(), worker.application(adopt=True, name="theirs")) == ["same", "create"]


def test_an_application_on_its_way_out_is_waited_for_and_made_anew(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script())
    made = cloud.api("POST", "/containers/applications", json=body(worker))
    cloud.control("PUT", "/containers/pace", json={"deletion": 0.1, "step": 0})
    cloud.api("DELETE", f"/containers/applications/{made['id']}")
    stack.up(worker.script(), worker.application())
    assert stack.outputs(APPLICATION, "small-app")["applicationId"] != made["id"]
    assert len(cloud.picture()["applications"]) == 1


@pytest.mark.timeout(30)
def test_a_creation_waits_for_a_deletion_until_its_deadline(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script())
    made = cloud.api("POST", "/containers/applications", json=body(worker))
    cloud.control("PUT", "/containers/pace", json={"deletion": 60})
    cloud.api("DELETE", f"/containers/applications/{made['id']}")
    stack.timeout = 0.1
    with pytest.raises(grpc.RpcError) as caught:
        stack.up(worker.script(), worker.application())
    assert caught.value.details() == (
        "the application that class Sandbox of small had is still being deleted; run it again later"
    )
    assert (APPLICATION, "small-app") not in stack.state


def test_the_deadline_of_a_creation_holds_for_a_class_without_containers(stack: Stack, cloud: Cloud, worker: Worker):
    stack.timeout = 0.001
    with pytest.raises(grpc.RpcError, match="DURABLE_OBJECT_NOT_FOUND"):
        stack.up(worker.application())
    assert len(cloud.calls()) <= 2


def test_deletion_waits_until_the_application_is_gone(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(), worker.application())
    cloud.control("PUT", "/containers/pace", json={"deletion": 0.2})
    stack.destroy()
    assert cloud.is_empty()


def failing(cloud: Cloud, stack: Stack, then: str, step: float = 0) -> None:
    application = stack.outputs(APPLICATION, "small-app")["applicationId"]
    cloud.control("PUT", "/containers/pace", json={"deletion": 0, "step": step})
    path = f"/containers/{cloud.account}/applications/{application}/rollout-failure"
    cloud.control("PUT", path, json={"event": "ImagePullError", "message": "no such layer", "then": then})


def test_a_rollout_that_fails_says_why_and_the_next_run_tries_again(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(), worker.application())
    failing(cloud, stack, "revert")
    with pytest.raises(grpc.RpcError) as caught:
        stack.up(worker.script(), worker.application(image=cloud.images[1]))
    text = caught.value.details()
    assert text.startswith(f"the rollout of application small-sandbox to {cloud.images[1]} did not complete: reverted")
    assert text.endswith("ImagePullError: no such layer; mend the image and run `pulumi up` again")
    assert stack.up(worker.script(), worker.application(image=cloud.images[1])) == ["same", "update"]
    assert stack.refresh() == []


def test_a_rollout_past_its_deadline_is_gone_on_with(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(), worker.application())
    cloud.control("PUT", "/containers/pace", json={"step": 0.3})
    stack.timeout = 0.1
    with pytest.raises(grpc.RpcError, match=r"is not complete yet: .*run `pulumi up` again to go on waiting"):
        stack.up(worker.script(), worker.application(image=cloud.images[1]))
    stack.timeout = 20
    cloud.clear()
    stack.up(worker.script(), worker.application(image=cloud.images[1]))
    assert "POST containers.create_rollout" not in cloud.calls()
    assert stack.refresh() == []


def test_an_application_goes_back_after_an_update_that_failed(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(), worker.application())
    before = cloud.picture()
    cloud.control("PUT", "/containers/pace", json={"step": 0.3})
    stack.timeout = 0.1
    with pytest.raises(grpc.RpcError, match="is not complete yet"):
        stack.up(worker.script(), worker.application(image=cloud.images[1], maxInstances=4))
    stack.timeout = 20
    cloud.control("PUT", "/containers/pace", json={"step": 0})
    assert stack.up(worker.script(), worker.application()) == ["same", "update"]
    assert cloud.picture() == before
    assert stack.refresh() == []


def test_an_update_that_was_refused_leaves_the_state_alone(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(), worker.application())
    cloud.fault(operation="containers.edit_application", status=400)
    with pytest.raises(grpc.RpcError, match="Cloudflare refused"):
        stack.up(worker.script(), worker.application(maxInstances=4))
    assert stack.up(worker.script(), worker.application()) == ["same", "same"]


KEY = {"KEY": {"type": "secret_text", "text": "hush"}}


@pytest.mark.parametrize("operation", ["workers_triggers.set_subdomain", "workers.upload_script"])
def test_a_script_goes_back_after_an_update_that_failed(operation: str, stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script())
    before = cloud.picture()
    worker.write("new")
    cloud.fault(operation=operation, status=503, after=True, times=0)
    with pytest.raises(grpc.RpcError, match="Cloudflare did not answer properly"):
        stack.up(worker.script(workersDev=True, bindings=KEY))
    cloud.clear_faults()
    worker.write()
    assert stack.up(worker.script()) == ["update"]
    assert cloud.picture() == before
    assert stack.refresh() == []


def test_what_an_update_left_undone_is_done_with_the_next_change(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(bindings=KEY))
    worker.write("new")
    cloud.fault(operation="workers_secrets.delete_secret", status=503, times=0)
    with pytest.raises(grpc.RpcError, match="Cloudflare did not answer properly"):
        stack.up(worker.script(bindings=None, workersDev=True))
    cloud.clear_faults()
    worker.write("newer")
    assert stack.up(worker.script(bindings=None, workersDev=True)) == ["update"]
    _, _, bound, subdomain = cloud.picture()["scripts"]["small"]
    assert bound == []
    assert subdomain["enabled"]
    assert stack.refresh() == []


def pair(worker: Worker, stack: Stack, **changes: Any) -> Any:
    version = stack.outputs(SCRIPT, "small")["versionId"]
    return worker.application(rollout={"onFailure": "revert"}, workerVersionId=version, **changes)


@pytest.mark.parametrize("then", ["revert", "stay"])
def test_a_failed_rollout_leaves_a_worker_alone_that_did_not_change(
    then: str, stack: Stack, cloud: Cloud, worker: Worker
):
    stack.up(worker.script())
    stack.up(worker.script(), pair(worker, stack))
    worker.write("new")
    stack.up(worker.script(), pair(worker, stack))
    assert stack.up(worker.script(), pair(worker, stack)) == ["same", "same"]
    failing(cloud, stack, then)
    stack.timeout = 0.3
    with pytest.raises(grpc.RpcError, match="the application is back at what ran before"):
        stack.up(worker.script(), pair(worker, stack, image=cloud.images[1]))
    assert live_version(cloud) == stack.outputs(SCRIPT, "small")["versionId"]


def live_version(cloud: Cloud) -> str:
    found = cloud.api("GET", "/workers/scripts/small/deployments")["deployments"]
    return str(found[0]["versions"][0]["version_id"])


@pytest.mark.parametrize("then", ["revert", "stay"])
def test_worker_and_image_go_back_and_then_forward_together(then: str, stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script())
    stack.up(worker.script(), pair(worker, stack))
    good, application = stack.outputs(SCRIPT, "small")["versionId"], (APPLICATION, "small-app")
    failing(cloud, stack, then)
    worker.write("new")
    kept = stack.state.pop(application)
    stack.up(worker.script())
    stack.state[application] = kept
    stack.timeout = 0.3
    with pytest.raises(grpc.RpcError) as caught:
        stack.up(worker.script(), pair(worker, stack, image=cloud.images[1]))
    assert f"the application, with version {good} of the Worker, is back at what ran before" in caught.value.details()
    assert live_version(cloud) == good
    assert cloud.picture()["applications"]["small/Sandbox"][1] == cloud.images[0]
    failing(cloud, stack, then)
    with pytest.raises(grpc.RpcError, match=f"with version {good} of the Worker, is back at what ran before"):
        stack.up(worker.script(), pair(worker, stack, image=cloud.images[1]))
    assert live_version(cloud) == good
    stack.timeout = 20
    stack.up(worker.script(), pair(worker, stack, image=cloud.images[1]))
    assert live_version(cloud) == stack.outputs(SCRIPT, "small")["versionId"]
    assert cloud.picture()["applications"]["small/Sandbox"][1] == cloud.images[1]


def changed_pair(stack: Stack, worker: Worker) -> Any:
    """Deploy a Worker with its image, then other code; give the application that goes with that, bound to fail."""
    stack.up(worker.script())
    stack.up(worker.script(), pair(worker, stack))
    failing(worker.cloud, stack, "stay")
    worker.write("new")
    kept = stack.state.pop((APPLICATION, "small-app"))
    stack.up(worker.script())
    stack.state[APPLICATION, "small-app"] = kept
    stack.timeout = 0.001
    return pair(worker, stack, image=worker.cloud.images[1])


@pytest.mark.parametrize("status", ["replaced", "completed"])
def test_the_worker_stays_when_the_rollout_was_not_taken_back(status: str, stack: Stack, cloud: Cloud, worker: Worker):
    wanted = changed_pair(stack, worker)
    ended = {"success": True, "errors": [], "messages": [], "result": {"id": "1", "status": status}}
    cloud.fault(operation="containers.update_rollout", status=400)
    cloud.fault(operation="containers.get_rollout", status=200, body=ended, nth=2, times=0)
    with pytest.raises(grpc.RpcError) as caught:
        stack.up(worker.script(), wanted)
    text = caught.value.details()
    assert "back at what ran before" not in text
    expected = {
        "replaced": "ImagePullError: no such layer; it was not taken back (replaced), and the Worker was left as it is",
        "completed": "says completed and has changed nothing; run it again",
    }
    assert text.endswith(expected[status])
    assert live_version(cloud) == stack.outputs(SCRIPT, "small")["versionId"]


def test_a_rollout_that_may_not_be_taken_back_is_told_with_both_reasons(stack: Stack, cloud: Cloud, worker: Worker):
    wanted = changed_pair(stack, worker)
    cloud.fault(operation="containers.update_rollout", status=403)
    with pytest.raises(grpc.RpcError) as caught:
        stack.up(worker.script(), wanted)
    assert "ImagePullError: no such layer; it could not be taken back: POST " in caught.value.details()
    assert live_version(cloud) == stack.outputs(SCRIPT, "small")["versionId"]


def test_a_worker_that_cannot_be_taken_back_is_told_with_both_reasons(stack: Stack, cloud: Cloud, worker: Worker):
    wanted = changed_pair(stack, worker)
    cloud.fault(operation="workers_versions.create_deployment", status=400, message="no such version")
    with pytest.raises(grpc.RpcError) as caught:
        stack.up(worker.script(), wanted)
    text = caught.value.details()
    assert "ImagePullError: no such layer; the application is back at what ran before, the Worker is not: " in text
    assert "no such version" in text


def test_a_cancellation_ends_a_wait_at_once(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(), worker.application())
    cloud.control("PUT", "/containers/pace", json={"step": 30})
    threading.Timer(0.3, lambda: stack.plugin.stub.Cancel(Empty())).start()
    started = time.monotonic()
    try:
        with pytest.raises(grpc.RpcError, match="cancelled; run `pulumi up` again to go on from what exists now"):
            stack.up(worker.script(), worker.application(image=cloud.images[1]))
        assert time.monotonic() - started < 2
    finally:
        stack.plugin.configured()


def test_an_application_waits_until_its_class_can_have_containers(stack: Stack, cloud: Cloud, worker: Worker):
    with pytest.raises(grpc.RpcError) as caught:
        stack.up(worker.application())
    assert caught.value.details().endswith(
        "Cloudflare refused (400, code 1000): DURABLE_OBJECT_NOT_FOUND. Deploy the WorkerScript with this class first "
        "(dependsOn)"
    )
    assert len([call for call in cloud.calls() if call.startswith("POST")]) > 1
    stack.up(worker.script(classes={"Sandbox": {}}))
    with pytest.raises(grpc.RpcError, match="Give the class a `container` in the WorkerScript's classes"):
        stack.up(worker.script(classes={"Sandbox": {}}), worker.application())
    assert stack.up(worker.script(), worker.application()) == ["update", "create"]


def managed(worker: Worker, **changes: Any) -> Any:
    bare = {"image": None, "instanceType": None, "maxInstances": None}
    return worker.application(schedulingPolicy="durable_object", **bare, **changes)


def test_an_application_managed_by_its_objects(stack: Stack, cloud: Cloud, worker: Worker):
    cloud.control("PUT", "/containers/pace", json={"preparation": 0.05})
    classes = {"Sandbox": {"container": {"images": {"base": cloud.images[0]}}}}
    stack.up(worker.script(classes=classes), managed(worker))
    assert cloud.calls().count("POST containers.prepare_image") > 1
    found = stack.outputs(APPLICATION, "small-app")
    assert found["applicationId"] == found["namespaceId"]
    assert "version" not in found
    assert stack.refresh() == []
    cloud.clear()
    assert stack.up(worker.script(classes=classes), managed(worker)) == ["same", "same"]
    assert cloud.calls() == []
    assert stack.up(worker.script(classes=classes), managed(worker, observability={"logs": {"enabled": True}})) == [
        "same",
        "update",
    ]
    assert stack.refresh() == []
    stack.destroy()
    assert cloud.is_empty()


def test_a_managed_application_that_exists_is_taken_over_only_when_it_is_the_same(
    stack: Stack, worker: Worker, plugin: Any
):
    stack.up(worker.script(), managed(worker))
    other = Stack(plugin, {(SCRIPT, "small"): stack.state[SCRIPT, "small"]})
    logs = {"logs": {"enabled": True}}
    with pytest.raises(grpc.RpcError, match="which differs in observability"):
        other.up(worker.script(), managed(worker, observability=logs))
    assert other.up(worker.script(), managed(worker, observability=logs, adopt=True)) == ["same", "create"]
    assert other.refresh() == []


def test_a_managed_application_on_its_way_out_does_not_count_as_made(
    stack: Stack, cloud: Cloud, worker: Worker, plugin: Any
):
    stack.up(worker.script(), managed(worker))
    other = Stack(plugin, {(SCRIPT, "small"): stack.state[SCRIPT, "small"]})
    cloud.clear()
    cloud.fault(operation="containers.edit_application", status=404, times=2)  # as while it is being deleted
    other.up(worker.script(), managed(worker))
    assert cloud.writes().count("POST containers.create_application") == 3
    cloud.fault(operation="containers.edit_application", status=404, times=0)
    late = Stack(plugin, {(SCRIPT, "small"): stack.state[SCRIPT, "small"]}, timeout=0.1)
    with pytest.raises(grpc.RpcError, match="Sandbox of small had is still being deleted; run it again later"):
        late.up(worker.script(), managed(worker))


def test_an_image_that_cannot_be_prepared_is_explained(stack: Stack, cloud: Cloud, worker: Worker):
    path = f"/containers/{cloud.account}/image-preparation-failure"
    cloud.control("PUT", path, json={"image": cloud.images[0], "reason": "too large"})
    classes = {"Sandbox": {"container": {"images": {"base": cloud.images[0]}}}}
    with pytest.raises(grpc.RpcError, match=r"image .* could not be prepared: too large"):
        stack.up(worker.script(classes=classes))
    assert cloud.is_empty()


def test_credentials_are_minted_secret_and_unknown_in_a_preview(stack: Stack, cloud: Cloud):
    token = "cloudflare-sandbox:index:getRegistryCredentials"
    arguments = wire.encode({"accountId": cloud.account, "permissions": ["push"], "expirationMinutes": 5})
    cloud.clear()
    seen = stack.plugin.stub.Invoke(provider_pb2.InvokeRequest(tok=token, args=arguments, preview=True))
    assert cloud.calls() == []
    assert wire.decode(getattr(seen, "return"))["password"] is wire.UNKNOWN
    made = wire.decode(
        getattr(stack.plugin.stub.Invoke(provider_pb2.InvokeRequest(tok=token, args=arguments)), "return")
    )
    assert isinstance(made["password"], wire.Secret)
    assert made["username"] == "v1"
    wrong = provider_pb2.InvokeRequest(tok=token, args=wire.encode({"expirationMinutes": 0}))
    failures = {each.property: each.reason for each in stack.plugin.stub.Invoke(wrong).failures}
    assert failures == {
        "accountId": "is required",
        "expirationMinutes": "expected a whole number of at least 1 and at most 1440, got 0",
    }


def test_checks_of_an_application_come_all_at_once(stack: Stack, worker: Worker):
    with pytest.raises(CheckFailedError) as caught:
        stack.up(
            worker.application(
                accountId="nobody",
                image="docker.io/library/node:22",
                maxInstances=1,
                instanceType=None,
                size={"vcpu": 2, "memoryMib": 1024, "diskMb": 30000},
                constraints={"regions": ["WEUR", "ENAM"], "jurisdiction": "eu"},
                rollout={"steps": [50, 20, 100], "onFailure": "revert"},
                colour="red",
            )
        )
    assert dict(caught.value.failures) == {
        "accountId": "expected an account id of 32 hexadecimal digits, got 'nobody'",
        "colour": "no such property; known are " + ", ".join(sorted(CONTAINER_APPLICATION)),
        "image": "expected an image with its registry and digest (host/repository@sha256:…), as a tag can change "
        "under a deployment, got 'docker.io/library/node:22'",
        "size.memoryMib": "2 vCPU need at least 6144 MiB of memory (3 GiB each), not 1024",
        "size.diskMb": "an instance has at most 20000 MB of disk, not 30000",
        "constraints.regions[1]": "ENAM is outside the jurisdiction eu (EEUR, WEUR)",
        "rollout.steps": "3 steps need at least as many instances; maxInstances is 1",
        "rollout.onFailure": "to take the Worker back as well, set workerVersionId to the versionId of its "
        "WorkerScript",
    }


def test_a_script_that_others_need_is_deleted_only_by_force(stack: Stack, cloud: Cloud, worker: Worker):
    caller = Worker(worker.folder, cloud, "caller")
    bare = {"classes": None, "bindings": {"CALL": {"type": "service", "service": "small"}}}
    stack.up(worker.script(), caller.script(**bare))
    kept = stack.state.pop((SCRIPT, "caller"))
    with pytest.raises(grpc.RpcError, match="This Worker is the target of service bindings of: caller"):
        stack.up()
    assert stack.up(worker.script(forceDelete=True)) == ["same"]
    stack.up()
    stack.state[SCRIPT, "caller"] = kept
    stack.destroy()
    assert cloud.is_empty()


def test_a_rollout_that_claims_to_be_complete_and_changed_nothing_is_not_believed(
    stack: Stack, cloud: Cloud, worker: Worker
):
    stack.up(worker.script(), worker.application())
    done = {"success": True, "errors": [], "messages": [], "result": {"id": "1", "status": "completed"}}
    cloud.fault(operation="containers.create_rollout", status=201, body=done)
    cloud.fault(operation="containers.get_rollout", status=200, body=done)
    with pytest.raises(grpc.RpcError, match="says completed and has changed nothing; run it again"):
        stack.up(worker.script(), worker.application(image=cloud.images[1]))
    cloud.clear_faults()
    assert stack.up(worker.script(), worker.application(image=cloud.images[1])) == ["same", "update"]
