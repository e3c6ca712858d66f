"""What surrounds a Worker script: namespaces, queues, schedules and routes."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from pulumi import Input, Output

from .bridged_resource import BridgedResource


class _WorkersKvNamespaceArgs(TypedDict):
    account_id: Input[str]
    title: Input[str]


class WorkersKvNamespace(BridgedResource[_WorkersKvNamespaceArgs]):
    """A KV namespace."""

    resource_type = "cloudflare:index/workersKvNamespace:WorkersKvNamespace"


class _QueueArgs(TypedDict):
    account_id: Input[str]
    queue_name: Input[str]


class Queue(BridgedResource[_QueueArgs]):
    """A queue."""

    resource_type = "cloudflare:index/queue:Queue"
    queue_name: Output[str]


class _Schedule(TypedDict):
    cron: Input[str]


class _WorkersCronTriggerArgs(TypedDict):
    account_id: Input[str]
    script_name: Input[str]
    schedules: Input[Sequence[Input[_Schedule]]]


class WorkersCronTrigger(BridgedResource[_WorkersCronTriggerArgs]):
    """All schedules of a script."""

    resource_type = "cloudflare:index/workersCronTrigger:WorkersCronTrigger"
    former_types = ("cloudflare:index/workerCronTrigger:WorkerCronTrigger",)


class _WorkersRouteArgs(TypedDict):
    zone_id: Input[str]
    pattern: Input[str]
    script: NotRequired[Input[str | None]]


class WorkersRoute(BridgedResource[_WorkersRouteArgs]):
    """A pattern of addresses and the script that answers there; without one the origin answers."""

    resource_type = "cloudflare:index/workersRoute:WorkersRoute"
