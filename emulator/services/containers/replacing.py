"""Which containers that really run a rollout replaces, and how far it has come with them: pure.

Such an instance keeps its version until its container is gone: it is told to leave, and whoever runs it does the rest.
Its object starts the next one, so one that has left for a version counts as being there.
"""

import math
from collections.abc import Iterable

from emulator.store import Document

from . import rollouts
from .rollouts import Rollout

LIVE = ("provisioning", "running", "stopping")
LIMIT = "max_instances"
"""For what an instance leaves that is one too many; otherwise it leaves for a rollout, by its id."""


def told(rollout: Rollout, records: Iterable[Document]) -> list[Document]:
    """The records of those that are newly told to leave, the oldest first, or to stay after all."""
    if rollout["strategy"] == rollouts.NEW_INSTANCES:
        return []  # those that run stay
    goal = rollout["target_version"]
    own = [each for each in records if each.get("own") and (each["state"] in LIVE or leaves_for(each, rollout["id"]))]
    there = [each for each in own if _heads_for(each, rollout) == goal]
    missing = math.ceil(len(own) * rollouts.aim_for_new(rollout) / 100) - len(there)
    if missing >= 0:
        rest = [each for each in own if each["state"] in LIVE and _heads_for(each, rollout) != goal]
        return [_leaving(each, rollout["id"], goal) for each in rest[:missing]]
    movable = [each for each in reversed(there) if each["state"] in ("provisioning", "running")]
    former = rollout["current_version"]
    return [
        _leaving(each, rollout["id"], former) if each["version"] == goal else {**each, "leaving": None}
        for each in movable[:-missing]
    ]


def is_under_way(rollout: Rollout, records: list[Document]) -> bool:
    """Whether containers that it replaces still run."""
    now = {each["id"]: each for each in (*records, *told(rollout, records))}
    return any(each["state"] in LIVE and leaves_for(each, rollout["id"]) for each in now.values())


def progress(rollout: Rollout, records: Iterable[Document]) -> tuple[int, int]:
    """How many instances it is about, and how many of them it has brought to its version."""
    about = [each for each in records if each["state"] in LIVE or leaves_for(each, rollout["id"])]
    return len(about), sum(_has_come(each, rollout) for each in about)


def leave(each: Document, reason: str) -> Document:
    """One that must go and is not replaced."""
    return _leaving(each, reason, each["version"])


def leaves_for(each: Document, reason: str) -> bool:
    """Whether it was told to leave for this."""
    return (each.get("leaving") or {}).get("for") == reason


def _has_come(each: Document, rollout: Rollout) -> bool:
    version = each["version"] if each["state"] in LIVE else each["leaving"]["to"]
    if rollout["status"] == rollouts.COMPLETED:
        return bool(version >= rollout["target_version"])  # a later rollout may have taken it further
    return bool(version == rollout["target_version"])


def _heads_for(each: Document, rollout: Rollout) -> int:
    return int(each["leaving"]["to"] if leaves_for(each, rollout["id"]) else each["version"])


def _leaving(each: Document, reason: str, version: int) -> Document:
    return {**each, "leaving": {"for": reason, "to": version}}
