"""The fault sweep: every request of a run fails once, in every way, and the next run must repair it.

A phase is what a user does (`up` of something new, of a change, of a replacement, of what somebody else has made, of an
image that does not start, `destroy`). Its requests are counted in a clean run; then the phase runs again and again with
a fault at each of them, and afterwards once more without. In the end the account must look as after the clean run.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import grpc

from testbed.plugin.account import Cloud, Worker
from testbed.plugin.driver import APPLICATION, SCRIPT, Stack

SECRET = "value-of-the-secret-binding"
BOUND = {"Sandbox": {"type": "durable_object_namespace", "className": "Sandbox"}}
KEY = {"KEY": {"type": "secret_text", "text": SECRET}}
TAKEN_BACK = "of the Worker, is back at what ran before"
Step = Callable[[Stack, Worker], object]


@dataclass(frozen=True)
class Phase:
    """What happens before, what is disturbed, and what is done afterwards."""

    name: str
    before: Step
    act: Step
    repair: Step
    fails: str = ""
    """What the undisturbed run ends with, if it is one that fails."""


@dataclass(frozen=True)
class Fault:
    """A way in which a request fails."""

    name: str
    rule: dict[str, Any]
    lasting: bool = False

    def arm(self, cloud: Cloud, nth: int) -> None:
        cloud.fault(**self.rule, nth=nth, times=0 if self.lasting else 1)


def first(stack: Stack, worker: Worker) -> object:
    """Deploy a Worker with a secret, and its application."""
    worker.write("hello")
    return stack.up(worker.script(bindings={**BOUND, **KEY}), worker.application())


def second(stack: Stack, worker: Worker) -> object:
    """Change code, classes, address, limits and image; take the secret away."""
    worker.write("changed", "Helper")
    classes: dict[str, Any] = {"Sandbox": {"container": {}}, "Helper": {}}
    script = worker.script(classes=classes, workersDev=True)
    return stack.up(script, worker.application(image=worker.cloud.images[1], maxInstances=4))


def managed(stack: Stack, worker: Worker) -> object:
    """Deploy a Worker whose objects manage their containers: an image to prepare, no rollout."""
    worker.write("hello")
    classes = {"Sandbox": {"container": {"images": {"base": worker.cloud.images[0]}}}}
    bare = dict.fromkeys(("image", "instanceType", "maxInstances"))
    return stack.up(worker.script(classes=classes), worker.application(schedulingPolicy="durable_object", **bare))


def paired(stack: Stack, worker: Worker, code: str, image: str) -> object:
    """Deploy a Worker with a secret and its application, which go back together when a rollout fails."""
    worker.write(code)
    script = worker.script(bindings={**BOUND, **KEY})
    stack.bring(*script)
    version = stack.outputs(SCRIPT, "small")["versionId"]
    settings = {"image": image, "workerVersionId": version, "rollout": {"onFailure": "revert"}}
    return stack.up(script, worker.application(**settings))


def before_a_failure(how: str) -> Step:
    """Deploy a pair, and let the next rollout fail because of its image: it stays as it is, or the platform reverts."""

    def deploy(stack: Stack, worker: Worker) -> None:
        paired(stack, worker, "hello", worker.cloud.images[0])
        worker.cloud.fail_rollout(stack.outputs(APPLICATION, "small-app")["applicationId"], how)

    return deploy


def failing_pair(stack: Stack, worker: Worker) -> object:
    return paired(stack, worker, "changed", worker.cloud.images[1])


def repaired_pair(stack: Stack, worker: Worker) -> object:
    """What is wrong with the image has been repaired; the same program runs again."""
    worker.cloud.fail_rollout(stack.outputs(APPLICATION, "small-app")["applicationId"], None)
    return failing_pair(stack, worker)


def made_by_hand(worker: Worker) -> object:
    """A Worker and an application that another tool has deployed."""
    worker.write("by hand")
    bound = {"type": "durable_object_namespace", "name": "Sandbox", "class_name": "Sandbox"}
    worker.upload_by_hand(
        {
            "main_module": "index.js",
            "compatibility_date": "2026-09-01",
            "bindings": [bound],
            "containers": [{"class_name": "Sandbox"}],
            "migrations": {"new_tag": "v1", "new_sqlite_classes": ["Sandbox"]},
        }
    )
    namespace = worker.cloud.api("GET", "/workers/durable_objects/namespaces")[0]["id"]
    application = {
        "name": "small-sandbox",
        "scheduling_policy": "default",
        "instances": 0,
        "max_instances": 2,
        "configuration": {"image": worker.cloud.images[0], "instance_type": "lite"},
        "durable_objects": {"namespace_id": namespace},
    }
    return worker.cloud.api("POST", "/containers/applications", json=application)


def adopt(stack: Stack, worker: Worker) -> object:
    """Take both over and change them."""
    worker.write("changed")
    script = worker.script(bindings={**BOUND, **KEY}, adopt=True)
    return stack.up(script, worker.application(image=worker.cloud.images[1], adopt=True))


def replace(stack: Stack, worker: Worker) -> object:
    """Give the application another name, which needs another application; the class stays."""
    return stack.up(worker.script(bindings={**BOUND, **KEY}), worker.application(name="other"))


def nothing(_stack: Stack, _worker: Worker) -> None:
    pass


def destroy(stack: Stack, _worker: Worker) -> None:
    stack.destroy()


PHASES = (
    Phase("up", nothing, first, first),
    Phase("update", first, second, second),
    Phase("destroy", second, destroy, destroy),
    Phase("up, then destroy", nothing, first, destroy),
    Phase("up, managed by its objects", nothing, managed, managed),
    Phase("replace", first, replace, replace),
    Phase("adopt", lambda _stack, worker: made_by_hand(worker), adopt, adopt),
    Phase("stand still", before_a_failure("stay"), failing_pair, repaired_pair, fails=TAKEN_BACK),
)
# Not among those: a fault that hides the failed rollout from the plugin has it begin another, which goes well.
REVERTED = Phase("revert", before_a_failure("revert"), failing_pair, repaired_pair, fails=TAKEN_BACK)
ONCE = (
    Fault("5xx before the work", {"status": 503}),
    Fault("5xx after the work", {"status": 502, "after": True}),
    Fault("connection dropped", {"drop": True}),
    Fault("connection dropped after the work", {"drop": True, "after": True}),
    Fault("429", {"retry_after": 0.001}),
)
FAULTS = (*ONCE, *(Fault(f"{fault.name}, and on", fault.rule, lasting=True) for fault in ONCE))


def calls_of(phase: Phase, stack: Stack, worker: Worker) -> tuple[list[str], dict[str, Any]]:
    """The requests of a clean run, and what exists in the end."""
    phase.before(stack, worker)
    worker.cloud.clear()
    said = attempt(phase, stack, worker)
    assert phase.fails in said
    assert bool(said) is bool(phase.fails), said
    calls = worker.cloud.calls()
    phase.repair(stack, worker)
    return calls, worker.cloud.picture()


def attempt(phase: Phase, stack: Stack, worker: Worker) -> str:
    """Run a phase; give what it ended with, or nothing if it went well."""
    try:
        phase.act(stack, worker)
    except grpc.RpcError as error:
        return str(error.details())
    return ""


def disturbed(phase: Phase, fault: Fault, nth: int, stack: Stack, worker: Worker) -> str:
    """Run a phase with a fault at one request, then repair; say how it went."""
    cloud = worker.cloud
    phase.before(stack, worker)
    cloud.clear()
    fault.arm(cloud, nth)
    said = attempt(phase, stack, worker)
    cloud.clear_faults()
    phase.repair(stack, worker)
    if "Cloudflare did not answer properly" in said:
        return "failed, then repaired"
    return "retried" if bool(said) is bool(phase.fails) and phase.fails in said else said


def created_twice(cloud: Cloud) -> list[str]:
    """Applications and rollouts that were made more than once; looked for in what the account has."""
    found = []
    applications = cloud.api("GET", "/containers/applications")
    owners = [each["durable_objects"]["namespace_id"] for each in applications]
    found += [f"application of {owner}" for owner in set(owners) if owners.count(owner) > 1]
    for each in applications:
        rollouts = cloud.api("GET", f"/containers/applications/{each['id']}/rollouts")
        # One that failed is not gone on with: another takes its place.
        well = [rollout for rollout in rollouts if not rollout["health"]["errors"] and rollout["status"] != "reverted"]
        targets = [rollout["target_configuration"]["image"] for rollout in well]
        found += [f"rollout to {target}" for target in set(targets) if targets.count(target) > 1]
    return found


def points(counts: dict[str, list[str]]) -> Iterator[tuple[str, int, str]]:
    """Every request of every phase."""
    for phase, calls in counts.items():
        yield from ((phase, number, call) for number, call in enumerate(calls, 1))
