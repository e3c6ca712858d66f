"""Rules about container applications: size, number, cost, policy, and what the Worker tells them."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from ..facts.stack import Binding, Container, Dockerfile, Fact, Image, Package, Stack, Worker
from ..platform.bindings import PLAIN_TEXT
from ..platform.containers import (
    ACCOUNT_LIMITS,
    DEFAULT_INSTANCE_TYPE,
    DEFAULT_MAX_INSTANCES,
    INSTANCE_TYPES,
    MANAGED,
    SCHEDULED,
    Size,
    size_of,
    size_problems,
)
from ..platform.prices import AS_OF, month_at_full_load
from ..platform.sdk import SDK_VERSION, Generation, generation_of
from ..platform.sdk_support import Version
from .features import containers, sdk, variables
from .finding import Hit, advisory, hit, mandatory

_LIMITS = "/containers/platform-details/limits/"
_RANGES: Final[Mapping[str, tuple[int, int]]] = {
    "SANDBOX_INSTANCE_TIMEOUT_MS": (5_000, 300_000),
    "SANDBOX_PORT_TIMEOUT_MS": (10_000, 600_000),
    "SANDBOX_POLL_INTERVAL_MS": (100, 5_000),
}
_TRANSPORTS: Final = ("http", "websocket", "rpc")
_IN_CONTAINER: Final = ("COMMAND_TIMEOUT_MS", "INTERPRETER_SPAWN_TIMEOUT_MS", "INTERPRETER_EXECUTION_TIMEOUT_MS")


def _of(type_: str | None = DEFAULT_INSTANCE_TYPE, count: int | None = 1, **more: object) -> Stack:
    container = Container.of(
        instance_type=Fact(type_, "container.instance_type"), max_instances=Fact(count, "container.max"), **more
    )
    return Stack(containers=(container,))


def _size(container: Container) -> Size | None:
    if container.size:
        return container.size.value
    if container.instance_type is None:
        return None
    return size_of(container.instance_type.value)


@mandatory(
    "container/instance-type",
    "The instance type exists",
    why='The platform refuses a type it does not know; "large" in early guides never existed.',
    remedy="Use one of {known}.",
    link=_LIMITS,
    good=[_of("standard-4"), _of("standard"), _of(None)],
    bad=[_of("large")],
)
def instance_type(stack: Stack) -> Iterator[Hit]:
    for each in containers(stack):
        said = each.instance_type
        if said and size_of(said.value) is None:
            yield hit(said.where, f"there is no instance type {said.value!r}", known=", ".join(INSTANCE_TYPES))


@mandatory(
    "container/max-instances",
    "At least one instance may run",
    why="With 0 every sandbox waits for an instance that never comes.",
    remedy="Set the maximum number of instances to 1 or more.",
    link="/containers/configuration/wrangler/",
    good=[_of(count=1), _of(count=None)],
    bad=[_of(count=0)],
)
def max_instances(stack: Stack) -> Iterator[Hit]:
    for each in containers(stack):
        count = each.max_instances
        if count and count.value is not None and count.value < 1:
            yield hit(count.where, f"the maximum number of instances is {count.value}")


def _unset(policy: str) -> Stack:
    return Stack(containers=(Container.of(policy=policy, max_instances=Fact(None, "container")),))


@advisory(
    "container/max-instances-unset",
    "The maximum number of instances is said",
    why="wrangler's default is 20 (it was 0 and 1 before): neither the capacity nor the bill you had in mind.",
    remedy="Set the maximum number of instances.",
    link="/containers/configuration/wrangler/",
    good=[_of(count=3, policy=SCHEDULED), _unset(MANAGED)],
    bad=[_unset(SCHEDULED)],
)
def max_instances_unset(stack: Stack) -> Iterator[Hit]:
    for each in containers(stack):
        count, scheduled = each.max_instances, each.policy and each.policy.value == SCHEDULED
        if count and count.value is None and scheduled:
            yield hit(count.where, "the maximum number of instances is not said")


def _budget(dollars: float, count: int | None, type_: str = DEFAULT_INSTANCE_TYPE) -> Stack:
    return Stack(budget=Fact(dollars, "budget"), containers=_of(type_, count).containers)


_LITE_MONTH: Final = month_at_full_load(INSTANCE_TYPES[DEFAULT_INSTANCE_TYPE])


@mandatory(
    "container/budget",
    "All instances together stay within the budget",
    why="The maximum number of instances is what an attack or a loop can make you pay for, all month at full load.",
    remedy="Lower the number of instances or the type, or raise the budget above {cost} US dollars a month.",
    link="/containers/pricing/",
    good=[
        _budget(_LITE_MONTH * 10, 10),
        _budget(_LITE_MONTH, 1),
        _budget(1, 10, "large"),
        _budget(_LITE_MONTH * DEFAULT_MAX_INSTANCES, None),
    ],
    bad=[_budget(_LITE_MONTH * 10 - 0.01, 10), _budget(_LITE_MONTH * DEFAULT_MAX_INSTANCES - 0.01, None)],
)
def budget(stack: Stack) -> Iterator[Hit]:
    cost = 0.0
    for each in containers(stack):
        size = _size(each)
        if size and each.max_instances:
            count = each.max_instances.value
            cost += month_at_full_load(size) * (DEFAULT_MAX_INSTANCES if count is None else count)
    if stack.budget and cost > stack.budget.value:
        what = f"the instances may cost {cost:.2f} US dollars a month (prices of {AS_OF}), the budget is "
        yield hit(stack.budget.where, f"{what}{stack.budget.value:.2f}", cost=f"{cost:.2f}")


def _sized(vcpu: float, memory_mib: int, disk_mb: int, count: int = 1) -> Stack:
    size = Fact(Size(vcpu, memory_mib, disk_mb), "container.size")
    return Stack(containers=(Container(size=size, max_instances=Fact(count, "container.max")),))


def _together(*stacks: Stack) -> Stack:
    return Stack(containers=tuple(each for stack in stacks for each in stack.containers or ()))


@mandatory(
    "container/custom-size",
    "A size of one's own is one that exists",
    why="The platform refuses the application, after the Worker has gone live.",
    remedy="Choose 1 to 4 vCPU with at least 3 GiB of memory each, at most 12 GiB and 20 GB of disk, or a named type.",
    link=_LIMITS,
    since="2026-09-29",
    good=[_sized(1, 3072, 20_000), _sized(4, 12_288, 20_000), _of("lite")],
    bad=[_sized(0.5, 4096, 8000), _sized(2, 4096, 8000), _sized(1, 3072, 20_001)],
)
def custom_size(stack: Stack) -> Iterator[Hit]:
    for each in containers(stack):
        if each.size:
            for _, problem in size_problems(each.size.value):
                yield hit(each.size.where, problem)


@advisory(
    "container/account-limits",
    "All instances together stay within the account's limits",
    why="Unless Cloudflare raised them, an account has 1,500 vCPU, 6 TiB of memory and 30 TB of disk; instances beyond "
    "do not start.",
    remedy="Lower the number of instances or the type, or ask Cloudflare for more.",
    link=_LIMITS,
    good=[
        _of("standard-4", 375),
        _of("standard-1", 1536),
        _of("lite", 15_000),
        _of(count=None),
        _sized(1, 3072, 4000, count=1500),
        _together(_of("standard-4", 200), _of("standard-4", 175)),
        Stack(containers=(Container(), Container.of(max_instances=9_000_000))),
    ],
    bad=[
        _of("standard-4", 376),
        _of("standard-1", 1537),
        _of("lite", 15_001),
        _sized(1, 3072, 4000, count=1501),
        _together(_of("standard-4", 176), _of("standard-4", 200)),
    ],
)
def account_limits(stack: Stack) -> Iterator[Hit]:
    sizes = [(_size(each), each.max_instances) for each in containers(stack)]
    known = [(size, said.value, said.where) for size, said in sizes if size and said and said.value]
    vcpu = sum(size.vcpu * count for size, count, _ in known)
    memory = sum(size.memory_mib * count for size, count, _ in known)
    disk = sum(size.disk_mb * count for size, count, _ in known)
    if vcpu > ACCOUNT_LIMITS.vcpu or memory > ACCOUNT_LIMITS.memory_mib or disk > ACCOUNT_LIMITS.disk_mb:
        _, most, where = max(known, key=lambda each: each[1])
        together = f" with the {sum(count for _, count, _ in known) - most} of other classes" if known[1:] else ""
        yield hit(where, f"{most} instances{together} are more than an account may run at once")


@mandatory(
    "container/managed-fields",
    "Policy durable_object has no scheduler fields",
    why="Image, size and number are chosen by the Durable Object at start; the API refuses them here.",
    remedy="Remove {fields} from the container; pass them to ctx.container.start() instead.",
    link="/containers/configuration/scheduling-policy/",
    since="2026-09-10",
    good=[
        Stack(containers=(Container.of(policy=MANAGED, scheduler_fields=()),)),
        Stack(containers=(Container.of(policy=SCHEDULED, scheduler_fields=("max_instances",)),)),
    ],
    bad=[Stack(containers=(Container.of(policy=MANAGED, scheduler_fields=("max_instances",)),))],
)
def managed_fields(stack: Stack) -> Iterator[Hit]:
    for each in containers(stack):
        managed = each.policy and each.policy.value == MANAGED
        if managed and each.scheduler_fields and each.scheduler_fields.value:
            names = ", ".join(each.scheduler_fields.value)
            yield hit(each.scheduler_fields.where, f"policy durable_object does not know {names}", fields=names)


_POLICIES: Final[Mapping[Generation, str]] = {"0.12": SCHEDULED, "1.x": MANAGED}


def _line(version: str, policy: str) -> Stack:
    return Stack(package=Package.of(locked=version), containers=(Container.of(policy=policy),))


@mandatory(
    "container/policy-of-generation",
    "The scheduling policy fits the SDK's generation",
    why="0.12 starts containers through the scheduler, 1.x through the Durable Object; it cannot be changed later.",
    remedy='Use SDK 0.12 with "scheduling_policy" "default" (in settings sdk.generation "0.12"), or SDK 1.x with '
    '"durable_object" ("1.x"); for a live class make a new class and a new application.',
    link="/containers/configuration/scheduling-policy/",
    since="2026-09-30",
    good=[_line(SDK_VERSION, SCHEDULED), _line("1.0.0", MANAGED), _line("0.13.0-next.1", SCHEDULED)],
    bad=[
        _line(SDK_VERSION, MANAGED),
        _line("1.0.0", SCHEDULED),
        _line("0.13.0", SCHEDULED),
        _line("2.0.0", MANAGED),
    ],
)
def policy_of_generation(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    for each in containers(stack):
        if version and each.policy and each.policy.value != _policy_of(version.value):
            yield hit(each.policy.where, f"SDK {version.value} cannot run under policy {each.policy.value}")


def _policy_of(version: Version) -> str | None:
    """Return the policy that a version needs; None if it is of no generation."""
    # What a pre-release is, versions/preview-release says.
    generation = generation_of(str(version._replace(minor=0, mark="") if version.mark else version))
    return _POLICIES[generation] if generation else None


def _told(**values: str) -> Stack:
    bindings = tuple(Binding.of(f"vars.{k}", name=k, kind=PLAIN_TEXT, text=v) for k, v in values.items())
    return Stack(worker=Worker(bindings=bindings))


def _number(text: str) -> int:
    return int(text) if re.fullmatch("[0-9]{1,12}", text) else -1


@advisory(
    "container/timeout-range",
    "Timeouts of the SDK are within their range",
    why="The SDK warns about a value out of range and takes its default instead.",
    remedy="Set {name} to {low} to {high} milliseconds.",
    link="/sandbox/sdk/configuration/environment-variables/",
    since="SDK 0.5.1",
    good=[
        _told(SANDBOX_PORT_TIMEOUT_MS="10000"),
        _told(SANDBOX_PORT_TIMEOUT_MS="600000"),
        _told(OTHER_TIMEOUT_MS="1"),
    ],
    bad=[
        _told(SANDBOX_PORT_TIMEOUT_MS="9999"),
        _told(SANDBOX_PORT_TIMEOUT_MS="600001"),
        _told(SANDBOX_POLL_INTERVAL_MS="soon"),
    ],
)
def timeout_range(stack: Stack) -> Iterator[Hit]:
    for name, said in variables(stack):
        if name in _RANGES:
            low, high = _RANGES[name]
            if not low <= _number(said.value) <= high:
                yield hit(said.where, f"{name} is {said.value!r}", name=name, low=low, high=high)


@advisory(
    "container/transport",
    "SANDBOX_TRANSPORT is one the SDK knows",
    why="Another value is ignored with a warning, and the SDK falls back to http.",
    remedy="Set it to rpc (recommended), http or websocket.",
    link="/sandbox/sdk/configuration/transport/",
    since="SDK 0.6.7",
    good=[_told(SANDBOX_TRANSPORT="rpc"), _told(OTHER="grpc")],
    bad=[_told(SANDBOX_TRANSPORT="grpc")],
)
def transport(stack: Stack) -> Iterator[Hit]:
    for name, said in variables(stack):
        if name == "SANDBOX_TRANSPORT" and said.value not in _TRANSPORTS:
            yield hit(said.where, f"SANDBOX_TRANSPORT is {said.value!r}")


@advisory(
    "container/unforwarded-variable",
    "Variables of the container are not set on the Worker",
    why="Nothing forwards this Worker variable into the container, so it has no effect.",
    remedy="Set {name} in the image (ENV) or in `envVars` of a subclass of Sandbox.",
    link="/sandbox/sdk/configuration/environment-variables/",
    since="SDK 0.4.0",
    good=[_told(SANDBOX_LOG_LEVEL="debug")],
    bad=[_told(COMMAND_TIMEOUT_MS="1000"), _told(PYTHON_POOL_MIN_SIZE="1")],
)
def unforwarded_variable(stack: Stack) -> Iterator[Hit]:
    for name, said in variables(stack):
        if name in _IN_CONTAINER or name.endswith(("_POOL_MIN_SIZE", "_POOL_MAX_SIZE")):
            yield hit(said.where, f"{name} does not reach the container", name=name)


def _pool(told: str, count: int | None) -> Stack:
    return Stack(worker=_told(WARM_POOL_MAX_INSTANCES=told).worker, containers=_of(count=count).containers)


@advisory(
    "container/warm-pool",
    "The warm pool knows how many instances there may be",
    why="The bridge's pool fills up to its own number; another maximum makes it fail or stay small.",
    remedy="Set WARM_POOL_MAX_INSTANCES to {wanted}, or to 0 to let it learn.",
    link="/sandbox/sdk/bridge/",
    since="SDK 0.12.5",
    good=[
        _pool("5", 5),
        _pool("0", 5),
        _pool("5", None),
        Stack(worker=_told(OTHER="5").worker, containers=_of(count=6).containers),
    ],
    bad=[_pool("5", 6)],
)
def warm_pool(stack: Stack) -> Iterator[Hit]:
    counts = [each.max_instances.value for each in containers(stack) if each.max_instances]
    for name, said in variables(stack):
        if name == "WARM_POOL_MAX_INSTANCES" and said.value != "0":
            for count in counts[:1]:
                if count and said.value != str(count):
                    what = f"WARM_POOL_MAX_INSTANCES is {said.value}, the container's maximum {count}"
                    yield hit(said.where, what, wanted=count)


@advisory(
    "container/observability",
    "Logs are kept",
    why="Version mismatches, refused mounts and crashed containers are only ever logged.",
    remedy='Set "observability": {{"enabled": true}}.',
    link="/workers/observability/logs/workers-logs/",
    good=[Stack(worker=Worker.of(observability=True))],
    bad=[Stack(worker=Worker.of(observability=False))],
)
def observability(stack: Stack) -> Iterator[Hit]:
    said = stack.worker.observability
    if said and not said.value:
        yield hit(said.where, "observability is off")


def _engine(found: bool) -> Stack:
    return Stack(docker=Fact(found, "PATH"), containers=(Container(image=Image(dockerfile=Dockerfile())),))


@mandatory(
    "container/docker-needed",
    "A container engine is there where an image is to be built",
    why="`wrangler dev` and `wrangler deploy` build a Dockerfile with Docker, and fail when it does not run.",
    remedy="Start Docker, set WRANGLER_DOCKER_BIN, or deploy a ready image by reference.",
    link="/containers/local-dev/",
    good=[
        _engine(found=True),
        Stack(docker=Fact(value=False, where="PATH"), containers=(Container(image=Image()), Container())),
    ],
    bad=[_engine(found=False)],
)
def docker_needed(stack: Stack) -> Iterator[Hit]:
    for each in containers(stack):
        if stack.docker and not stack.docker.value and each.image and each.image.dockerfile:
            yield hit(each.image.dockerfile.where, "the image is to be built here, but no container engine was found")
