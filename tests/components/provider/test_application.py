"""Applications: import, adoption, deadlines, cancellation, and those managed by their objects."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import provider_pb2

from components.provider.container_application.declaration import DECLARATION as CONTAINER_APPLICATION
from components.pulumi_protocol import encoding, values
from testbed.orphans import eventually
from testbed.plugin.account import Cloud, Worker
from testbed.plugin.driver import APPLICATION, SCRIPT, CheckFailedError, Stack


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
    cloud.control("PUT", "/containers/durations", json={"deletion": 0.1, "step": 0})
    cloud.api("DELETE", f"/containers/applications/{made['id']}")
    stack.up(worker.script(), worker.application())
    assert stack.outputs(APPLICATION, "small-app")["applicationId"] != made["id"]
    assert len(cloud.picture()["applications"]) == 1


@pytest.mark.timeout(30)
def test_a_creation_waits_for_a_deletion_until_its_deadline(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script())
    made = cloud.api("POST", "/containers/applications", json=body(worker))
    cloud.control("PUT", "/containers/durations", json={"deletion": 60})
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
    cloud.control("PUT", "/containers/durations", json={"deletion": 0.2})
    stack.destroy()
    assert cloud.is_empty()


def test_a_cancellation_ends_a_wait_at_once(stack: Stack, cloud: Cloud, worker: Worker):
    def cancel_once_it_waits() -> None:
        assert eventually(lambda: "GET containers.get_rollout" in cloud.calls())
        stack.plugin.stub.Cancel(Empty())

    stack.up(worker.script(), worker.application())
    cloud.control("PUT", "/containers/durations", json={"step": 30})
    cloud.clear()
    started = time.monotonic()
    try:
        with ThreadPoolExecutor(1) as beside:
            beside.submit(cancel_once_it_waits)
            with pytest.raises(grpc.RpcError, match="cancelled; run `pulumi up` again to go on from what exists now"):
                stack.up(worker.script(), worker.application(image=cloud.images[1]))
        assert time.monotonic() - started < 15
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
    cloud.control("PUT", "/containers/durations", json={"deletion": 0, "step": 0, "preparation": 3600})
    classes = {"Sandbox": {"container": {"images": {"base": cloud.images[0]}}}}
    with ThreadPoolExecutor(1) as beside:
        up = beside.submit(stack.up, worker.script(classes=classes), managed(worker))
        while not up.done() and cloud.calls().count("POST containers.prepare_image") < 2:
            time.sleep(0.005)
        # The image is asked about again until it is ready, and the clock alone makes it so.
        assert not up.done(), up.result()
        cloud.control("POST", "/clock", json={"advance": 3600})
        up.result()
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
    with pytest.raises(grpc.RpcError, match=r"image .* could not be prepared: too large; no Worker was uploaded"):
        stack.up(worker.script(classes=classes))
    assert cloud.is_empty()


def test_credentials_are_minted_secret_and_not_in_a_preview(stack: Stack, cloud: Cloud):
    token = "cloudflare-sandbox:index:getRegistryCredentials"
    arguments = encoding.encode({"accountId": cloud.account, "permissions": ["push"], "expirationMinutes": 5})
    cloud.clear()
    seen = stack.plugin.stub.Invoke(provider_pb2.InvokeRequest(tok=token, args=arguments, preview=True))
    assert cloud.calls() == []
    host = cloud.emulator.origin.removeprefix("http://")
    assert encoding.decode(getattr(seen, "return")) == {"host": host, "username": "v1", "password": values.Secret("")}
    made = encoding.decode(
        getattr(stack.plugin.stub.Invoke(provider_pb2.InvokeRequest(tok=token, args=arguments)), "return")
    )
    assert isinstance(made["password"], values.Secret)
    assert made["password"].value
    assert (made["host"], made["username"]) == (host, "v1"), "what is made of them in a preview stays as it is"
    wrong = provider_pb2.InvokeRequest(tok=token, args=encoding.encode({"expirationMinutes": 0}))
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
        "colour": "no such property; known are " + ", ".join(sorted(CONTAINER_APPLICATION.inputs)),
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
