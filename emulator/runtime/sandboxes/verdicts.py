"""Whether a sandbox may go on: what rollouts, limits, deletions, idle times and its own time limit say to that."""

import time
from enum import Enum

from emulator.services.containers import instances, replacing, rules
from emulator.services.durable_objects.rules import NAMESPACE
from emulator.state import State
from emulator.store import Document

from .sandbox import Sandbox

KILL_AFTER = 15 * 60.0  # seconds of the emulator's clock that a sandbox has after SIGTERM, as on Cloudflare


class Verdict(Enum):
    """What is to be done with a sandbox."""

    STAYS = "stays"
    ENDS = "ends"  # asked to, and given time
    IS_KILLED = "is killed"


def verdict(state: State, sandbox: Sandbox, app: Document) -> Verdict:
    """Of a sandbox of an application, now."""
    store, key, now = state.store, sandbox.key, time.monotonic()
    current = store.get(rules.KIND, app["account_id"], app["id"])
    if current is None or not store.has(NAMESPACE, key.account, key.namespace):
        return Verdict.IS_KILLED
    if sandbox.most_seconds is not None and now > sandbox.began + sandbox.most_seconds:
        return Verdict.IS_KILLED
    if sandbox.told_to_end is not None:
        return Verdict.IS_KILLED if state.clock.time() > sandbox.told_to_end + KILL_AFTER else Verdict.STAYS
    record = store.get(instances.KIND, instances.scope(current), key.object)
    idle = sandbox.inactivity is not None and not sandbox.uses and now > sandbox.asked_at + sandbox.inactivity
    if idle or (record is not None and _must_leave(record, current, state.clock.time())):
        return Verdict.ENDS
    return Verdict.STAYS


def _must_leave(record: Document, app: Document, now: float) -> bool:
    """Whether it has been told to; a rollout spares those that have not run for long."""
    if replacing.leaves_for(record, replacing.LIMIT):
        return True
    grace = app.get("rollout_active_grace_period") or 0
    rollout = app["active_rollout_id"]
    return bool(rollout) and replacing.leaves_for(record, rollout) and bool(now >= record["started_at"] + grace)
