"""Rollouts: the steps a program may ask for, the request they make, and what a rollout's answers mean."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ....platform.containers import SMALLEST_STEP
from ....pulumi_protocol.values import UNKNOWN
from ..declaration import GRADUAL, IMMEDIATE

DESCRIPTION: Final = "pulumi up"
# Instances of the new version cannot come up; one that ran and then died (VMFailed) may be the program's own doing.
_CANNOT_START: Final = frozenset({"ImagePullError", "RuntimeStartFailed", "VMFailedToStart"})


def problems(settings: Mapping[str, Any], max_instances: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Say what is wrong with rollout settings, by path."""
    steps = settings.get("steps")
    if steps is None or steps is UNKNOWN or UNKNOWN in steps:
        return
    if settings.get("kind") == IMMEDIATE:
        yield ("steps",), "an immediate rollout has no steps; leave them out or set kind to gradual"
    for index, step in enumerate(steps):
        if not SMALLEST_STEP <= step <= 100:
            yield ("steps", index), f"a step leads to {SMALLEST_STEP} to 100 percent of the instances, not {step}"
    if any(later <= earlier for earlier, later in itertools.pairwise(steps)) or steps[-1:] != [100]:
        yield ("steps",), f"steps rise and end with 100, for example [10, 50, 100], not {steps}"
    if max_instances is not UNKNOWN and len(steps) > max(max_instances, 1):
        yield ("steps",), f"{len(steps)} steps need at least as many instances; maxInstances is {max_instances}"


def request(target: Mapping[str, Any], settings: Mapping[str, Any], max_instances: int) -> dict[str, Any]:
    """Return the body that starts a rollout."""
    body = {
        "description": DESCRIPTION,
        "strategy": "rolling",
        "kind": "full_auto",
        "target_configuration": dict(target),
    }
    steps = planned_steps(settings, max_instances)
    if steps == [100]:
        return {**body, "step_percentage": 100}
    shown = [{"step_size": {"percentage": step}, "description": f"{step} % of the instances"} for step in steps]
    return {**body, "steps": shown}


def planned_steps(settings: Mapping[str, Any], max_instances: int) -> list[int]:
    """Return the percentages a rollout goes through; with a single instance there is nothing to divide."""
    if settings.get("kind", GRADUAL) == IMMEDIATE or max_instances < 2:
        return [100]
    return list(settings.get("steps") or (10, 100))


@dataclass(frozen=True)
class Progress:
    """What a rollout's answer means."""

    over: bool
    good: bool
    reverted: bool
    text: str
    hopeless: bool = False
    """Whether instances cannot start and nothing is being taken back: it stays as it is until somebody acts."""
    mark: tuple[int, int] = (0, 0)
    """How far it has come; while this moves there is hope."""


def progress(rollout: Mapping[str, Any]) -> Progress:
    """Read a rollout's answer."""
    status = rollout.get("status", "pending")
    counts = rollout.get("progress") or {}
    text = status
    if counts.get("total_steps"):
        text += f", step {counts.get('current_step', 0)} of {counts['total_steps']}"
    if counts.get("total_instances"):
        text += f", {counts.get('updated_instances', 0)} of {counts['total_instances']} instances updated"
    trouble = complaints(rollout)
    if trouble:
        text += f"; {trouble}"
    over = status in ("completed", "reverted", "replaced")
    return Progress(
        over,
        good=status == "completed",
        reverted=status == "reverted",
        text=text,
        hopeless=not over and not _is_reverting(rollout) and _cannot_start(rollout),
        mark=(counts.get("current_step") or 0, counts.get("updated_instances") or 0),
    )


def complaints(rollout: Mapping[str, Any]) -> str:
    """Return what instances complained about, each thing once."""
    told = (f"{each.get('name', 'error')}: {each.get('message', '')}" for each in _events(rollout))
    return "; ".join(dict.fromkeys(told))


def _events(rollout: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [error.get("event") or {} for error in (rollout.get("health") or {}).get("errors") or ()]


def _cannot_start(rollout: Mapping[str, Any]) -> bool:
    return any(each.get("name") in _CANNOT_START for each in _events(rollout))


def _is_reverting(rollout: Mapping[str, Any]) -> bool:
    return any(step.get("status") == "reverting" for step in rollout.get("steps") or ())
