"""What the control routes of Containers do: how long things take, what fails, which instances run."""

from dataclasses import asdict

from emulator.calls import Call
from emulator.schema import fields, nullable, number, options, text
from emulator.store import Document

from . import changes, durations, images, instances, rules

_DAY = 86400
DURATIONS = fields({}, {name: number(least=0, most=_DAY) for name in ("deletion", "step", "preparation")})
FAILURE = nullable(
    options(
        step=number(least=1, most=100, whole=True),
        event=text(choices=["ImagePullError", "VMFailedToStart", "VMFailed", "RuntimeStartFailed"]),
        message=text(least=1),
        then=text(choices=["revert", "stay"]),
    )
)
_DEFAULT_FAILURE = {"step": 1, "event": "ImagePullError", "message": "failed to pull the image", "then": "revert"}
PREPARATION = fields({"image": text(least=1), "reason": text(least=1)})
INSTANCE = options(
    id=text(pattern="[0-9a-f]{64}"),
    name=text(least=1, most=1024),
    state=text(choices=instances.STATES),
    location=text(least=1),
    region=text(least=1),
    image=text(least=1),
    exit_code=number(least=-1000, most=1000, whole=True),
)


def _application(call: Call) -> Document:
    call.account_id = call.params["account_id"]
    return rules.find(call)


def read_durations(call: Call) -> Document:
    """How long things take."""
    return asdict(durations.read(call.store))


def set_durations(call: Call, body: Document) -> Document:
    """Change how long things take; what is not named goes back to its default."""
    durations.write(call.store, durations.Durations(**body))
    return read_durations(call)


def fail_rollout(call: Call, body: Document | None) -> Document:
    """Let the rollout under way, or else the next one, fail at a step: it reverts, or it stays as it is."""
    changes.arrange_failure(call, _application(call), None if body is None else {**_DEFAULT_FAILURE, **body})
    return {}


def fail_preparation(call: Call, body: Document) -> Document:
    """Let the preparation of an image end in an error."""
    images.fail_preparation(call, call.params["account_id"], body["image"], body["reason"])
    return {}


def report_instance(call: Call, body: Document) -> Document:
    """Say that an instance exists, or how it is now."""
    return instances.record(call.store, call.state.clock.time(), _application(call), body)


def forget_instance(call: Call) -> Document:
    """Say that an instance is no longer known."""
    instances.forget(call, _application(call), call.params["instance_id"])
    return {}
