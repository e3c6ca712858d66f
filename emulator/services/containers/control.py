"""Control routes of Containers: how long things take, what fails, which instances run."""

from dataclasses import asdict

from emulator.calls import Call, Result
from emulator.registry import CONTROL, Service
from emulator.schema import fields, nullable, number, text
from emulator.store import Document

from . import changes, errors, images, instances, rules
from . import pace as paces

control = Service("containers_control", source=errors.OWN, date="2026-11-16", base=CONTROL)

_DAY = 86400
_BASE = "/containers/{account_id}"
_APPLICATION = _BASE + "/applications/{application_id}"
_PACE = fields({}, {name: number(least=0, most=_DAY) for name in ("deletion", "step", "preparation")})
_FAILURE = nullable(
    fields(
        {},
        {
            "step": number(least=1, most=100, whole=True),
            "event": text(choices=["ImagePullError", "VMFailedToStart", "VMFailed", "RuntimeStartFailed"]),
            "message": text(least=1),
            "then": text(choices=["revert", "stay"]),
        },
    )
)
_DEFAULT_FAILURE = {"step": 1, "event": "ImagePullError", "message": "failed to pull the image", "then": "revert"}
_INSTANCE = fields(
    {},
    {
        "id": text(pattern="[0-9a-f]{64}"),
        "name": text(least=1, most=1024),
        "state": text(choices=instances.STATES),
        "location": text(least=1),
        "region": text(least=1),
        "image": text(least=1),
        "exit_code": number(least=-1000, most=1000, whole=True),
    },
)


def _application(call: Call) -> Document:
    call.account_id = call.params["account_id"]
    return rules.find(call)


@control.operation("GET", "/containers/pace")
def read_pace(call: Call) -> Result:
    """How long things take."""
    return Result(asdict(paces.read(call.store)))


@control.operation("PUT", "/containers/pace")
def set_pace(call: Call) -> Result:
    """Change how long things take; what is not named goes back to its default."""
    paces.write(call.store, paces.Pace(**call.body(_PACE, errors.BAD_CONTROL)))
    return Result(asdict(paces.read(call.store)))


@control.operation("PUT", _APPLICATION + "/rollout-failure")
def fail_rollout(call: Call) -> Result:
    """Let the rollout under way, or else the next one, fail at a step: it reverts, or it stays as it is."""
    body = call.body(_FAILURE, errors.BAD_CONTROL)
    changes.arrange_failure(call, _application(call), None if body is None else {**_DEFAULT_FAILURE, **body})
    return Result({})


@control.operation("PUT", _BASE + "/image-preparation-failure")
def fail_preparation(call: Call) -> Result:
    """Let the preparation of an image end in an error."""
    body = call.body(fields({"image": text(least=1), "reason": text(least=1)}), errors.BAD_CONTROL)
    images.fail_preparation(call, call.params["account_id"], body["image"], body["reason"])
    return Result({})


@control.operation("PUT", _APPLICATION + "/instances")
def report_instance(call: Call) -> Result:
    """Say that an instance exists, or how it is now."""
    body = call.body(_INSTANCE, errors.BAD_CONTROL)
    return Result(instances.record(call.store, call.world.clock.time(), _application(call), body))


@control.operation("DELETE", _APPLICATION + "/instances/{instance_id}")
def forget_instance(call: Call) -> Result:
    """Say that an instance is no longer known."""
    instances.forget(call, _application(call), call.params["instance_id"])
    return Result({})
