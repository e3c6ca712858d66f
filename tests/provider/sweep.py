"""The fault sweep: every request of a run fails once, in every way, and the next run must mend it.

A phase is what a user does (`up` of something new, `up` of a change, `destroy`). Its requests are counted in a clean
run; then the phase runs again and again with a fault at each of them, and afterwards once more without. In the end the
account must look as after the clean run.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import grpc

from tests.provider.driver import Stack
from tests.provider.world import Cloud, Worker

SECRET = "value-of-the-secret-binding"


@dataclass(frozen=True)
class Phase:
    """What happens before, what is disturbed, and what is done afterwards."""

    name: str
    before: Callable[[Stack, Worker], object]
    act: Callable[[Stack, Worker], object]
    mend: Callable[[Stack, Worker], object]


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
    bound = {"Sandbox": {"type": "durable_object_namespace", "className": "Sandbox"}}
    secret = {"KEY": {"type": "secret_text", "text": SECRET}}
    worker.write("hello")
    return stack.up(worker.script(bindings={**bound, **secret}), worker.application())


def second(stack: Stack, worker: Worker) -> object:
    """Change code, classes, address, limits and image; take the secret away."""
    worker.write("changed", "Helper")
    classes = {"Sandbox": {"container": {}}, "Helper": {}}
    script = worker.script(classes=classes, workersDev=True)
    return stack.up(script, worker.application(image=worker.cloud.images[1], maxInstances=4))


def managed(stack: Stack, worker: Worker) -> object:
    """Deploy a Worker whose objects manage their containers: an image to prepare, no rollout."""
    worker.write("hello")
    classes = {"Sandbox": {"container": {"images": {"base": worker.cloud.images[0]}}}}
    bare = dict.fromkeys(("image", "instanceType", "maxInstances"))
    return stack.up(worker.script(classes=classes), worker.application(schedulingPolicy="durable_object", **bare))


def nothing(_stack: Stack, _worker: Worker) -> object:
    return None


def destroy(stack: Stack, _worker: Worker) -> object:
    return stack.destroy()


PHASES = (
    Phase("up", nothing, first, first),
    Phase("update", first, second, second),
    Phase("destroy", second, destroy, destroy),
    Phase("up, then destroy", nothing, first, destroy),
    Phase("up, managed by its objects", nothing, managed, managed),
)
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
    phase.act(stack, worker)
    calls = worker.cloud.calls()
    phase.mend(stack, worker)
    return calls, worker.cloud.picture()


def disturbed(phase: Phase, fault: Fault, nth: int, stack: Stack, worker: Worker) -> str:
    """Run a phase with a fault at one request, then mend; say how it went."""
    cloud = worker.cloud
    phase.before(stack, worker)
    cloud.clear()
    fault.arm(cloud, nth)
    outcome = "retried"
    try:
        phase.act(stack, worker)
    except grpc.RpcError as error:
        outcome = "failed, then mended" if "Cloudflare did not answer properly" in error.details() else str(error)
    cloud.clear_faults()
    phase.mend(stack, worker)
    return outcome


def created_twice(cloud: Cloud) -> list[str]:
    """Applications and rollouts that were made more than once; looked for in what the account has."""
    found = []
    applications = cloud.api("GET", "/containers/applications")
    owners = [each["durable_objects"]["namespace_id"] for each in applications]
    found += [f"application of {owner}" for owner in set(owners) if owners.count(owner) > 1]
    for each in applications:
        rollouts = cloud.api("GET", f"/containers/applications/{each['id']}/rollouts")
        targets = [rollout["target_configuration"]["image"] for rollout in rollouts]
        found += [f"rollout to {target}" for target in set(targets) if targets.count(target) > 1]
    return found


def points(counts: dict[str, list[str]]) -> Iterator[tuple[str, int, str]]:
    """Every request of every phase."""
    for phase, calls in counts.items():
        yield from ((phase, number, call) for number, call in enumerate(calls, 1))
