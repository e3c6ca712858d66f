"""What a change makes of what is billed, from the output of `pulumi preview --json`: before and after. Pure."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..errors import UserError
from ..provider.container_application.lifecycle import application, price
from .billed import Billed, Instances, calls_a_month, egress_of

_APPLICATION: Final = "cloudflare-sandbox:index:ContainerApplication"
_BUCKET: Final = "cloudflare:index/r2Bucket:R2Bucket"
_NAMESPACE: Final = "cloudflare:index/workersKvNamespace:WorkersKvNamespace"
_QUEUE: Final = "cloudflare:index/queue:Queue"
_CERTIFICATE: Final = "cloudflare:index/certificatePack:CertificatePack"
_SCHEDULES: Final = "cloudflare:index/workersCronTrigger:WorkersCronTrigger"

Inputs = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """What is billed before a change and after it."""

    before: Billed
    after: Billed
    left_out: int = 0
    """Resources that stay as they are and are not in the file: they are on neither side."""


def read_change(text: str, where: str) -> Change:
    """Return what a preview changes."""
    try:
        document = json.loads(text)
        # A preview without a step has its summary; any other document in JSON is none, and not one that costs nothing.
        steps = document["steps"] if "changeSummary" not in document else document.get("steps") or []
        before = {each["urn"]: each["oldState"] for each in steps if each.get("oldState")}
        after = {each["urn"]: each["newState"] for each in steps if each.get("newState")}
        # The two halves of a replacement are steps of their own; what only one of them has is not deleted.
        gone = {each["urn"] for each in steps if each["op"] == "delete"}
        same = sum(each["op"] == "same" for each in steps)
        return Change(
            _billed(before.values()),
            _billed(state for urn, state in after.items() if urn not in gone),
            max(0, int((document.get("changeSummary") or {}).get("same", 0)) - same),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UserError(f"{where}: is no preview; write one with `pulumi preview --json --show-sames`") from None


def _billed(states: Iterable[Mapping[str, Any]]) -> Billed:
    found = [(each["type"], each["urn"].rpartition("::")[2], each.get("inputs") or {}) for each in states]
    count = {kind: sum(type_ == kind for type_, _, _ in found) for kind in (_BUCKET, _NAMESPACE, _QUEUE)}
    applications = sorted((name, inputs) for type_, name, inputs in found if type_ == _APPLICATION)
    told = [(name, inputs, _instances(name, inputs)) for name, inputs in applications]
    return Billed(
        instances=tuple(each for _, _, each in told if each),
        buckets=count[_BUCKET],
        namespaces=count[_NAMESPACE],
        queues=count[_QUEUE],
        certificates=len({str(inputs.get("zoneId", name)) for type_, name, inputs in found if type_ == _CERTIFICATE}),
        scheduled_calls=sum(
            calls_a_month(each["cron"])
            for type_, _, inputs in found
            if type_ == _SCHEDULES
            for each in inputs.get("schedules") or ()
        ),
        untold=tuple(name for name, _, each in told if each is None),
    )


def _instances(name: str, inputs: Inputs) -> Instances | None:
    size, most = price.size(inputs), price.most(inputs)
    if size is None or most is None or application.is_managed(inputs):
        return None
    places = inputs.get("constraints") or {}
    return Instances(name, size, most, egress_of(places.get("regions") or (), places.get("jurisdiction")))
