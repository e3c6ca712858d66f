"""How a rollout goes: pure functions from a rollout and a moment to the rollout at that moment.

A rollout has targets, the percentages of instances its steps lead to. `position` counts the steps that are done; while
`moving` is true the next one is under way, and `held` says that it takes longer than planned. `tick_at` is when
something will change by itself; none means that the rollout waits for an action, or is over. Moments are seconds since
1970.
"""

import copy
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

Rollout = dict[str, Any]

PENDING, PROGRESSING, REVERTING, COMPLETED = "pending", "progressing", "reverting", "completed"
REVERTED, REPLACED = "reverted", "replaced"
ACTIVE = (PENDING, PROGRESSING)
ROLLING, NEW_INSTANCES = "rolling", "new_instances"
AUTO, MANUAL = "full_auto", "full_manual"
_RAMP = (10, 25, 50, 75, 100)


class NotPossibleError(Exception):
    """The action makes no sense for the rollout as it stands."""


def targets_of(body: dict[str, Any], live: int, most: int) -> tuple[list[int], dict[str, str]]:
    """The targets a request asks for, and what is wrong with it.

    Args:
        body: the request, with the right fields.
        live: instances that run; with few of them a step is rounded up to the next whole instance.
        most: `max_instances`, the limit of the number of steps (0 means no limit).
    """
    problems = _conflicts(body)
    if problems:
        return [], problems
    if body["strategy"] == NEW_INSTANCES:
        first = int(body.get("percentage", max(_RAMP[0], math.ceil(100 / live) if live else 0)))
        return [first, *(target for target in _RAMP if target > first)], {}
    if "steps" in body:
        sizes = [int(step["step_size"]["percentage"]) for step in body["steps"]]
        if any(later <= earlier for earlier, later in itertools.pairwise(sizes)) or sizes[-1] != 100:
            return [], {"steps": "percentages must rise and end with 100"}
        if most and len(sizes) > most:
            return [], {"steps": "there cannot be more steps than max_instances"}
    else:
        size = int(body.get("step_percentage", 100))
        sizes = list(range(size, 101, size))
    return [_rounded(size, live) for size in sizes], {}


def _conflicts(body: dict[str, Any]) -> dict[str, str]:
    if body["strategy"] == NEW_INSTANCES:
        wrong: dict[str, str] = {
            name: "is only valid for the rolling strategy" for name in ("steps", "step_percentage") if name in body
        }
        if body.get("kind") == MANUAL and "percentage" not in body:
            wrong["percentage"] = "is required for a manual rollout of new instances"
        return wrong
    if "steps" in body and "step_percentage" in body:
        return {"steps": "cannot be combined with step_percentage"}
    return {}


def _rounded(percentage: int, live: int) -> int:
    return math.ceil(math.ceil(percentage * live / 100) * 100 / live) if live else percentage


def start(fixed: dict[str, Any], targets: Sequence[int], *, now: float, step_seconds: float) -> Rollout:
    """A new rollout; `fixed` holds what never changes (id, versions, configurations, kind, strategy …)."""
    steps = [{"status": PENDING, "started_at": None, "completed_at": None, "reason": None} for _ in targets]
    return {
        **fixed,
        "status": PENDING,
        "targets": list(targets),
        "steps": steps,
        "position": 0,
        "moving": False,
        "reverting": False,
        "held": False,
        "errors": [],
        "created_at": now,
        "started_at": None,
        "updated_at": now,
        "step_seconds": step_seconds,
        "tick_at": now + step_seconds if fixed["kind"] != MANUAL else None,
    }


def is_active(rollout: Rollout) -> bool:
    """Whether it is still under way."""
    return rollout["status"] in ACTIVE


def _nothing(_: Rollout) -> bool:
    return False


def advance(rollout: Rollout, now: float, waits: Callable[[Rollout], bool] = _nothing) -> Rollout:
    """The rollout as time alone has made it by now; nothing is over while it `waits` for containers to go."""
    if rollout["tick_at"] is None or rollout["tick_at"] > now:
        return rollout
    rollout = copy.deepcopy(rollout)
    while rollout["tick_at"] is not None and rollout["tick_at"] <= now:
        ends = rollout["reverting"] or (rollout["moving"] and not _fails(rollout))
        if ends and waits(rollout):
            rollout["held"] = True
            break
        moment = now if rollout.get("held") else rollout["tick_at"]
        rollout.update(tick_at=None, held=False)
        _tick(rollout, moment)
    return rollout


def act(rollout: Rollout, action: str, now: float, waits: Callable[[Rollout], bool] = _nothing) -> Rollout:
    """The rollout after somebody said next, previous or revert."""
    rollout = copy.deepcopy(advance(rollout, now, waits))
    if not is_active(rollout):
        raise NotPossibleError(f"the rollout is {rollout['status']}")
    if rollout["reverting"]:
        raise NotPossibleError("the rollout is being reverted")
    if action == "revert":
        _revert(rollout, now, "Reverted by request")
    elif action == "previous":
        _step_back(rollout, now)
    else:
        if rollout["moving"] and waits(rollout):
            raise NotPossibleError("containers of the step under way are still being replaced")
        if rollout["moving"]:
            _complete_step(rollout, now)
        if is_active(rollout) and not rollout["moving"]:
            _begin_step(rollout, now)
    return rollout


def supersede(rollout: Rollout, now: float) -> Rollout:
    """The rollout after a newer one took its place."""
    return {**rollout, "status": REPLACED, "tick_at": None, "moving": False, "updated_at": now}


def percentage(rollout: Rollout) -> int:
    """Share of instances that run the target version."""
    return int(rollout["targets"][rollout["position"] - 1]) if rollout["position"] else 0


def aim(rollout: Rollout) -> int:
    """Share the step under way leads to."""
    return int(rollout["targets"][rollout["position"]]) if rollout["moving"] else percentage(rollout)


def aim_for_new(rollout: Rollout) -> int:
    """Share that is to run the target version: none while it is taken back."""
    return 0 if rollout["reverting"] else aim(rollout)


def updated_of(rollout: Rollout, total: int) -> int:
    """How many of so many instances run the target version."""
    return math.ceil(total * percentage(rollout) / 100)


def _tick(rollout: Rollout, moment: float) -> None:
    if rollout["reverting"]:
        _finish_revert(rollout, moment)
    elif not rollout["moving"]:
        _begin_step(rollout, moment)
    elif _fails(rollout):
        _fail(rollout, moment)
    else:
        _complete_step(rollout, moment)
    rollout["updated_at"] = moment


def _fails(rollout: Rollout) -> bool:
    failure = rollout.get("failure")
    return failure is not None and min(failure["step"], len(rollout["steps"])) == rollout["position"] + 1


def _begin_step(rollout: Rollout, moment: float) -> None:
    step = rollout["steps"][rollout["position"]]
    step.update(status=PROGRESSING, started_at=moment, completed_at=None, reason=None)
    rollout.update(status=PROGRESSING, moving=True, updated_at=moment, tick_at=moment + rollout["step_seconds"])
    rollout["started_at"] = rollout["started_at"] or moment


def _complete_step(rollout: Rollout, moment: float) -> None:
    rollout["steps"][rollout["position"]].update(status=COMPLETED, completed_at=moment)
    rollout.update(position=rollout["position"] + 1, moving=False, updated_at=moment, tick_at=None)
    if rollout["position"] == len(rollout["steps"]):
        rollout["status"] = COMPLETED
    elif rollout["kind"] != MANUAL:
        _begin_step(rollout, moment)


def _fail(rollout: Rollout, moment: float) -> None:
    failure = rollout["failure"]
    rollout["errors"].append({"event": failure["event"], "message": failure["message"], "time": moment})
    if failure["then"] == "revert":
        _revert(rollout, moment, failure["message"])


def _revert(rollout: Rollout, moment: float, reason: str) -> None:
    rollout.update(
        moving=False, reverting=True, held=False, updated_at=moment, tick_at=moment + rollout["step_seconds"]
    )
    started = [step for step in rollout["steps"] if step["status"] != PENDING]
    for step in started:
        step.update(status=REVERTING, reason=reason)
    if not started:
        _finish_revert(rollout, moment)


def _finish_revert(rollout: Rollout, moment: float) -> None:
    for step in rollout["steps"]:
        if step["status"] == REVERTING:
            step.update(status=REVERTED, completed_at=moment)
    rollout.update(status=REVERTED, position=0, reverting=False, tick_at=None, updated_at=moment)


def _step_back(rollout: Rollout, moment: float) -> None:
    if not rollout["moving"]:
        if not rollout["position"]:
            raise NotPossibleError("no step has begun")
        rollout["position"] -= 1
    step = rollout["steps"][rollout["position"]]
    step.update(status=REVERTED, completed_at=moment, reason="Taken back by request")
    rollout.update(moving=False, held=False, tick_at=None, updated_at=moment)
