"""Applications of one Worker in one run: all of them go back with it, or those that cannot are named."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

from testbed.plugin.account import Cloud, Worker
from testbed.plugin.driver import APPLICATION, SCRIPT, Stack

_LONG = 1000
KINDS = {"small-app": "Sandbox", "python-app": "SandboxPython"}
BOUND = {name: {"type": "durable_object_namespace", "className": name} for name in KINDS.values()}


def script(worker: Worker, text: str) -> Any:
    worker.write(text, "SandboxPython")
    return worker.script(bindings=BOUND, classes={name: {"container": {}} for name in KINDS.values()})


def application(worker: Worker, stack: Stack, name: str, **changes: Any) -> Any:
    version = stack.outputs(SCRIPT, "small")["versionId"]
    pair = {"rollout": {"onFailure": "revert"}, "workerVersionId": version}
    _, _, inputs = worker.application(**pair, className=KINDS[name], name=name, **changes)
    return APPLICATION, name, inputs


@pytest.fixture
def good(stack: Stack, worker: Worker) -> str:
    """A Worker with two kinds of sandboxes, and then other code; the version that served with the first images."""
    stack.bring(*script(worker, "hello"))
    for name in KINDS:
        stack.bring(*application(worker, stack, name))
    version = str(stack.outputs(SCRIPT, "small")["versionId"])
    stack.bring(*script(worker, "new"))
    return version


def fail(cloud: Cloud, stack: Stack, name: str) -> None:
    cloud.fail_rollout(stack.outputs(APPLICATION, name)["applicationId"], "revert")


def live(cloud: Cloud) -> tuple[str, set[str]]:
    """The version that serves, and the images that run."""
    deployments = cloud.api("GET", "/workers/scripts/small/deployments")["deployments"]
    images = {each["configuration"]["image"] for each in cloud.api("GET", "/containers/applications")}
    return deployments[0]["versions"][0]["version_id"], images


def attempt(stack: Stack, wanted: Any) -> str:
    try:
        stack.bring(*wanted)
    except grpc.RpcError as error:
        return str(error.details())
    return ""


def side_by_side(cloud: Cloud, stack: Stack, wanted: list[Any]) -> list[str]:
    """Bring them at the same time: no rollout moves on before all have begun."""
    cloud.clear_journal()
    cloud.control("PUT", "/containers/durations", json={"deletion": 0, "step": _LONG, "preparation": 0})
    with ThreadPoolExecutor(len(wanted)) as pool:
        under_way = [pool.submit(attempt, stack, each) for each in wanted]
        while cloud.calls().count("POST containers.create_rollout") < len(wanted):
            assert not any(each.done() for each in under_way), [each.result() for each in under_way if each.done()]
            time.sleep(0.01)
        cloud.control("PUT", "/containers/durations", json={"deletion": 0, "step": 0, "preparation": 0})
        cloud.control("POST", "/clock", json={"advance": 100 * _LONG})
        return [each.result() for each in under_way]


def test_all_kinds_go_back_with_the_worker(good: str, stack: Stack, cloud: Cloud, worker: Worker):
    fail(cloud, stack, "python-app")
    wanted = [application(worker, stack, name, image=cloud.images[1]) for name in KINDS]
    other, failed = side_by_side(cloud, stack, wanted)
    assert f"the application, with version {good} of the Worker, is back at what ran before" in failed
    assert other == (
        "application python-app of the same Worker could not be rolled out, and the Worker is back; so is application "
        "small-app, whose own rollout had gone well"
    )
    assert live(cloud) == (good, {cloud.images[0]})

    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(lambda each: attempt(stack, each), wanted)] == ["", ""]
    assert live(cloud) == (stack.outputs(SCRIPT, "small")["versionId"], {cloud.images[1]})
    assert stack.refresh() == []


def test_the_same_mistake_again_takes_the_worker_back_again(good: str, stack: Stack, cloud: Cloud, worker: Worker):
    """By then the state of all names the new version, and the first to be begun has brought the Worker forward."""
    wanted = [application(worker, stack, name, image=cloud.images[1]) for name in KINDS]
    fail(cloud, stack, "python-app")
    side_by_side(cloud, stack, wanted)
    fail(cloud, stack, "python-app")
    assert attempt(stack, wanted[0]) == ""
    assert f"with version {good} of the Worker, is back at what ran before" in attempt(stack, wanted[1])
    assert live(cloud) == (good, set(cloud.images))


def test_one_that_cannot_go_back_says_so(good: str, stack: Stack, cloud: Cloud, worker: Worker):
    fail(cloud, stack, "python-app")
    wanted = [application(worker, stack, name, image=cloud.images[1]) for name in KINDS]
    cloud.fault(operation="containers.create_rollout", status=400, message="not now", nth=3)
    other, _ = side_by_side(cloud, stack, wanted)
    assert "and the Worker is back; application small-app, which has its new image, is not: " in other
    assert live(cloud) == (good, set(cloud.images))


def test_one_that_was_done_before_is_named(good: str, stack: Stack, cloud: Cloud, worker: Worker):
    """As with `pulumi up --parallel 1`."""
    fail(cloud, stack, "python-app")
    stack.bring(*application(worker, stack, "small-app", image=cloud.images[1]))
    failed = attempt(stack, application(worker, stack, "python-app", image=cloud.images[1]))
    assert failed.endswith(
        "is back at what ran before. Ahead of that Worker are, with their new image: small-app; fix this one and run "
        "`pulumi up` again"
    )
    assert live(cloud) == (good, set(cloud.images))


def test_one_that_begins_after_a_failure_leaves_the_worker_back(good: str, stack: Stack, cloud: Cloud, worker: Worker):
    """As with `pulumi up --parallel 1 --continue-on-error`."""
    fail(cloud, stack, "python-app")
    wanted = {name: application(worker, stack, name, image=cloud.images[1]) for name in KINDS}
    assert "is back at what ran before" in attempt(stack, wanted["python-app"])
    assert attempt(stack, wanted["small-app"]) == (
        "application python-app of the same Worker could not be rolled out, and the Worker is back; application "
        "small-app was not changed. Fix python-app and run `pulumi up` again"
    )
    assert live(cloud) == (good, {cloud.images[0]})

    assert [attempt(stack, each) for each in wanted.values()] == ["", ""]
    assert live(cloud) == (stack.outputs(SCRIPT, "small")["versionId"], {cloud.images[1]})


def test_a_worker_that_did_not_change_lets_the_others_go_on(stack: Stack, cloud: Cloud, worker: Worker):
    stack.bring(*script(worker, "hello"))
    for name in KINDS:
        stack.bring(*application(worker, stack, name))
    version = stack.outputs(SCRIPT, "small")["versionId"]
    fail(cloud, stack, "python-app")
    wanted = [application(worker, stack, name, image=cloud.images[1]) for name in KINDS]
    with ThreadPoolExecutor(2) as pool:
        other, failed = pool.map(lambda each: attempt(stack, each), wanted)
    assert other == ""
    assert failed.endswith("the application is back at what ran before")
    assert live(cloud) == (version, set(cloud.images))


@pytest.mark.parametrize("operation", ["containers.create_rollout", "containers.edit_application"])
def test_a_worker_goes_back_when_its_application_may_not_change(
    operation: str, good: str, stack: Stack, cloud: Cloud, worker: Worker
):
    cloud.fault(operation=operation, status=400, message="over the limit", times=1)
    failed = attempt(stack, application(worker, stack, "small-app", image=cloud.images[1], maxInstances=4))
    assert "over the limit" in failed
    assert failed.endswith(
        f"; nothing was rolled out: the image of the application, with version {good} of the Worker, is as it was"
    )
    assert live(cloud) == (good, {cloud.images[0]})
    assert attempt(stack, application(worker, stack, "small-app", image=cloud.images[1], maxInstances=4)) == ""
    assert live(cloud)[0] == stack.outputs(SCRIPT, "small")["versionId"]
