"""Instances of an application.

The control plane does not start any: whatever runs Workers, or a test, says which ones exist (`record`). Rollouts move
them from version to version; a lower `max_instances` stops the youngest. Those that really run (`own`) are only told to
leave: they are what they are until their container is gone.
"""

import secrets
from collections.abc import Callable
from typing import Any

from emulator.calls import Call
from emulator.store import Document, Store

from . import errors, replacing, rollouts
from .replacing import LIVE

KIND = "container_instance"
STATES = ("provisioning", "running", "failed", "stopping", "stopped", "unhealthy", "inactive", "unknown")
_GONE = ("stopped", "failed")
_MOST_GONE = 100  # of an application that are remembered, the newest


def scope(app: Document) -> str:
    """Where everything that belongs to an application is."""
    return f"{app['account_id']}/containers/{app['id']}"


def all_of(store: Store, app: Document) -> list[Document]:
    """An application's instances, oldest first."""
    return store.select(KIND, scope(app))


def find(call: Call, app: Document, instance_id: str) -> Document:
    """One instance."""
    found = call.store.get(KIND, scope(app), instance_id)
    if found is None:
        raise errors.NO_INSTANCE()
    return found


def record(store: Store, now: float, app: Document, report: dict[str, Any]) -> Document:
    """Note that an instance exists, or has changed."""
    known = store.get(KIND, scope(app), report["id"]) if "id" in report else None
    state = report.get("state", "running")
    begins = state in LIVE and (known is None or known["state"] not in LIVE)
    if begins and is_full(store, app):
        raise errors.TOO_MANY()
    base = {} if begins else known
    base = base or {
        "id": report.get("id") or secrets.token_hex(32),
        "started_at": now,
        "version": app.get("version", 0),
        "location": "loc01",
        "region": "ENAM",
    }
    made = _put(store, app, {**base, **report, "state": state, "updated_at": now})
    if state in _GONE:
        _forget_oldest(store, app)
    return made


def _forget_oldest(store: Store, app: Document) -> None:
    """Objects that run once would leave a record each, for ever."""
    gone = sorted((each for each in all_of(store, app) if each["state"] in _GONE), key=lambda each: each["updated_at"])
    for each in gone[:-_MOST_GONE]:
        store.delete(KIND, scope(app), each["id"])


def is_full(store: Store, app: Document) -> bool:
    """Whether `max_instances` lets no more run."""
    limit = app.get("max_instances")
    return limit is not None and sum(each["state"] in LIVE for each in all_of(store, app)) >= limit


def forget(call: Call, app: Document, instance_id: str) -> None:
    """Note that an instance is no longer known."""
    if not call.store.delete(KIND, scope(app), instance_id):
        raise errors.NO_INSTANCE()


def cut(call: Call, app: Document) -> None:
    """Stop the youngest instances beyond `max_instances`."""
    live = [each for each in all_of(call.store, app) if each["state"] in LIVE]
    for each in live[app["max_instances"] :]:
        stopped = {**each, "state": "stopped", "updated_at": call.state.clock.time()}
        _put(call.store, app, replacing.leave(each, replacing.LIMIT) if each.get("own") else stopped)


def distribute(store: Store, app: Document, rollout: rollouts.Rollout) -> None:
    """Bring instances to the versions a rollout has reached, the oldest first."""
    known = all_of(store, app)
    for each in replacing.told(rollout, known):
        _put(store, app, each)
    live = [each for each in known if each["state"] in LIVE and not each.get("own")]
    updated = rollouts.updated_of(rollout, len(live))
    for number, each in enumerate(live):
        version = rollout["target_version"] if number < updated else rollout["current_version"]
        if each["version"] != version:
            _put(store, app, {**each, "version": version, "updated_at": rollout["updated_at"]})


def are_replaced(store: Store, app: Document, rollout: rollouts.Rollout) -> bool:
    """Whether containers that a rollout replaces still run."""
    return replacing.is_under_way(rollout, all_of(store, app))


def matching(state: str, prefix: str) -> Callable[[Document], bool]:
    """The filter of the public lists: active, not-active or all; by name, or by id where there is no name."""

    def matches(each: Document) -> bool:
        if state == "active" and each["state"] not in LIVE:
            return False
        if state == "not-active" and each["state"] not in _GONE:
            return False
        return str(each.get("name") or each["id"]).startswith(prefix)

    return matches


def _put(store: Store, app: Document, instance: Document) -> Document:
    return store.put(KIND, scope(app), instance["id"], instance)
