"""Rollouts of an application: what may begin, what an action does, what can be removed."""

from functools import partial
from typing import Any

from emulator.calls import Call
from emulator.clock import uuid_id
from emulator.store import Document

from . import durations, errors, instances, replacing, rollouts, rules, sizes, views
from .bodies import MANAGED


def begin(call: Call, app: Document, body: Document) -> Document:
    """Start a rollout; one that is under way gives way to it."""
    if app["policy"] == MANAGED:
        raise errors.INVALID.about({"scheduling_policy": "rollouts do not apply to durable_object applications"})
    change = rules.checked_configuration(call, body["target_configuration"], sizes.size_of(app["configuration"]))
    rules.check_observability(app["observability"], change)
    target = sizes.merged(app["configuration"], change)
    rules.check_totals(call, target, app["max_instances"], apart_from=app["id"])
    live = sum(each["state"] in replacing.LIVE for each in instances.all_of(call.store, app))
    targets, problems = rollouts.targets_of(body, live, app["max_instances"])
    if problems:
        raise errors.INVALID.about(problems)
    now = call.state.clock.time()
    _give_way(call, app, now)
    version = app["latest_version"] + 1
    rollout = rollouts.start(
        {
            "id": uuid_id(),
            "description": body["description"],
            "strategy": body["strategy"],
            "kind": body.get("kind", rollouts.AUTO),
            "current_version": app["version"],
            "target_version": version,
            "current_configuration": rules.version_of(call, app, app["version"])["configuration"],
            "target_configuration": target,
            "change": change,
            "descriptions": _descriptions(body, targets),
            "failure": app["rollout_failure"],
        },
        targets,
        now=now,
        step_seconds=durations.read(call.store).step,
    )
    call.store.put(rules.ROLLOUT, instances.scope(app), rollout["id"], rollout)
    rules.write_version(call, app, version, target)
    ids = {"active_rollout_id": rollout["id"], "latest_version": version, "rollout_failure": None, "updated_at": now}
    rules.put(call.store, {**app, **ids})
    return rollout


def _give_way(call: Call, app: Document, now: float) -> None:
    active = rules.active_rollout(call, app)
    if active is not None:
        replaced = rollouts.supersede(active, now)
        call.store.put(rules.ROLLOUT, instances.scope(app), replaced["id"], replaced)


def _descriptions(body: Document, targets: list[int]) -> list[str]:
    if "steps" in body:
        return [step["description"] for step in body["steps"]]
    return [
        f"Step {number + 1} of rollout - rollout at {target}% of instances" for number, target in enumerate(targets)
    ]


def find(call: Call, app: Document, rollout_id: str) -> rollouts.Rollout:
    """One rollout of an application."""
    found = call.store.get(rules.ROLLOUT, instances.scope(app), rollout_id)
    if found is None:
        raise errors.NO_ROLLOUT()
    return found


def all_of(call: Call, app: Document) -> list[rollouts.Rollout]:
    """An application's rollouts, newest first."""
    return call.store.select(rules.ROLLOUT, instances.scope(app), descending=True)


def act(call: Call, app: Document, rollout_id: str, action: str) -> rollouts.Rollout:
    """Say next, previous or revert to a rollout."""
    try:
        waits = partial(instances.are_replaced, call.store, app)
        rollout = rollouts.act(find(call, app, rollout_id), action, call.state.clock.time(), waits)
    except rollouts.NotPossibleError as error:
        raise errors.INVALID.about({"action": str(error)}) from error
    rules.take_over(call.store, app, rollout)
    return rollout


def remove(call: Call, app: Document, rollout_id: str) -> None:
    """Forget a rollout that is over."""
    if rollouts.is_active(find(call, app, rollout_id)):
        raise errors.ROLLOUT_ACTIVE()
    call.store.delete(rules.ROLLOUT, instances.scope(app), rollout_id)


def arrange_failure(call: Call, app: Document, failure: dict[str, Any] | None) -> None:
    """Let the rollout that is under way fail, or else the next one."""
    active = rules.active_rollout(call, app)
    if active is None:
        rules.put(call.store, {**app, "rollout_failure": failure})
    else:
        call.store.put(rules.ROLLOUT, instances.scope(app), active["id"], {**active, "failure": failure})


def shown(call: Call, app: Document, rollout: rollouts.Rollout) -> Document:
    """A rollout as the API shows it."""
    return views.rollout(app, rollout, instances.all_of(call.store, app))


def versions(call: Call, app: Document) -> list[Document]:
    """Versions, newest first, each with its share of the instances."""
    shares = {app["version"]: 100}
    active = rules.active_rollout(call, app)
    if active is not None:
        aim = rollouts.aim(active)
        shares = {active["current_version"]: 100 - aim, active["target_version"]: aim}
    found = call.store.select(rules.VERSION, instances.scope(app), order="key", descending=True)
    return [
        {
            "version": each["version"],
            "configuration": sizes.expanded(each["configuration"]),
            "percentage": shares.get(each["version"], 0),
        }
        for each in found
    ]
