"""Rollouts and updates that fail: what is said, what state keeps, and how Worker and image go back together."""

import time
from typing import Any

import grpc
import pytest

from testbed.plugin.account import Cloud, Worker
from testbed.plugin.driver import APPLICATION, SCRIPT, Stack


def failing(cloud: Cloud, stack: Stack, then: str, event: str = "ImagePullError") -> None:
    application = stack.outputs(APPLICATION, "small-app")["applicationId"]
    cloud.control("PUT", "/containers/durations", json={"deletion": 0, "step": 0})
    cloud.fail_rollout(application, then, event)


def test_a_rollout_that_fails_says_why_and_the_next_run_tries_again(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(), worker.application())
    failing(cloud, stack, "revert")
    with pytest.raises(grpc.RpcError) as caught:
        stack.up(worker.script(), worker.application(image=cloud.images[1]))
    text = caught.value.details()
    assert text.startswith(f"the rollout of application small-sandbox to {cloud.images[1]} did not complete: reverted")
    assert text.endswith("ImagePullError: no such layer; fix the image and run `pulumi up` again")
    assert stack.up(worker.script(), worker.application(image=cloud.images[1])) == ["same", "update"]
    assert stack.refresh() == []


def test_a_rollout_past_its_deadline_is_gone_on_with(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(), worker.application())
    cloud.control("PUT", "/containers/durations", json={"step": 0.3})
    stack.timeout = 0.1
    with pytest.raises(grpc.RpcError, match=r"is not complete yet: .*run `pulumi up` again to go on waiting"):
        stack.up(worker.script(), worker.application(image=cloud.images[1]))
    stack.timeout = 20
    cloud.clear()
    stack.up(worker.script(), worker.application(image=cloud.images[1]))
    assert "POST containers.create_rollout" not in cloud.calls()
    assert stack.refresh() == []


@pytest.mark.parametrize("event", ["ImagePullError", "RuntimeStartFailed", "VMFailedToStart"])
def test_a_rollout_that_cannot_succeed_is_not_waited_for(event: str, stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(), worker.application())
    failing(cloud, stack, "stay", event)
    begun = time.monotonic()
    with pytest.raises(grpc.RpcError) as caught:
        stack.up(worker.script(), worker.application(image=cloud.images[1]))
    assert time.monotonic() - begun < stack.timeout / 2
    text = caught.value.details()
    assert text.startswith(
        f"the rollout of application small-sandbox to {cloud.images[1]} cannot complete: progressing"
    )
    assert text.endswith(f"{event}: no such layer; fix the image and run `pulumi up` again")
    cloud.clear()
    assert stack.up(worker.script(), worker.application(image=cloud.images[1])) == ["same", "update"]
    assert "POST containers.create_rollout" in cloud.calls(), "one that cannot succeed is not gone on with"
    assert stack.refresh() == []


def test_a_rollout_that_goes_on_in_spite_of_a_failure_is_waited_for(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(), worker.application())
    complaint = {"instance_id": "1", "event": {"name": "ImagePullError", "message": "the registry was busy"}}
    under_way = {"id": "1", "status": "progressing", "health": {"errors": [complaint]}}
    for step in range(20):
        moved = {**under_way, "progress": {"total_steps": 20, "current_step": step}}
        body = {"success": True, "errors": [], "messages": [], "result": moved}
        cloud.fault(operation="containers.get_rollout", status=200, body=body, delay_ms=20, times=1)
    assert stack.up(worker.script(), worker.application(image=cloud.images[1])) == ["same", "update"]
    assert cloud.calls().count("GET containers.get_rollout") > 20
    assert stack.refresh() == []


def test_an_application_goes_back_after_an_update_that_failed(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(), worker.application())
    before = cloud.picture()
    cloud.control("PUT", "/containers/durations", json={"step": 0.3})
    stack.timeout = 0.1
    with pytest.raises(grpc.RpcError, match="is not complete yet"):
        stack.up(worker.script(), worker.application(image=cloud.images[1], maxInstances=4))
    stack.timeout = 20
    cloud.control("PUT", "/containers/durations", json={"step": 0})
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
    good = stack.outputs(SCRIPT, "small")["versionId"]
    failing(cloud, stack, then)
    worker.write("new")
    stack.bring(*worker.script())
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


BOUND = {"Sandbox": {"type": "durable_object_namespace", "className": "Sandbox"}}


@pytest.mark.parametrize(("later", "told"), [("hush", ""), ("rotated", " and the secrets it had then")])
def test_a_worker_with_a_secret_goes_back_too(later: str, told: str, stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(bindings={**BOUND, **KEY}))
    stack.up(worker.script(bindings={**BOUND, **KEY}), pair(worker, stack))
    good = stack.outputs(SCRIPT, "small")["versionId"]
    failing(cloud, stack, "revert")
    worker.write("new")
    script = worker.script(bindings={**BOUND, "KEY": {"type": "secret_text", "text": later}})
    stack.bring(*script)
    with pytest.raises(grpc.RpcError) as caught:
        stack.up(script, pair(worker, stack, image=cloud.images[1]))
    text = caught.value.details()
    assert f"the application, with version {good} of the Worker{told}, is back at what ran before" in text
    assert live_version(cloud) == good
    assert stack.up(script, pair(worker, stack, image=cloud.images[1])) == ["same", "update"]
    assert live_version(cloud) == stack.outputs(SCRIPT, "small")["versionId"]


def changed_pair(stack: Stack, worker: Worker) -> Any:
    """Deploy a Worker with its image, then other code; return the application that goes with that, bound to fail."""
    stack.up(worker.script())
    stack.up(worker.script(), pair(worker, stack))
    failing(worker.cloud, stack, "stay")
    worker.write("new")
    stack.bring(*worker.script())
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
