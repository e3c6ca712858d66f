"""What a run of `pulumi up` changed, read from the engine's event log. Pure.

The log is the one that Pulumi's Automation API reads. Only what was changed is of interest: components, and what stayed
the same, are left out. Values of properties are never read, as one of them may be somebody's secret.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_SAID: Final[Mapping[str, str]] = {
    "create": "created",
    "update": "updated",
    "delete": "deleted",
    "replace": "replaced",
    "import": "taken over",
}
"""How a change is called; of a replacement the engine tells its parts, too, which are nobody's business."""
_PROVIDERS: Final = "pulumi:providers:"


@dataclass(frozen=True)
class Change:
    """One resource that was changed."""

    said: str
    type: str
    name: str
    properties: tuple[str, ...] = ()
    """Names of the properties that differ, where it was updated or replaced."""


@dataclass(frozen=True)
class Plan:
    """What a run did."""

    changes: tuple[Change, ...] = ()
    failed: tuple[Change, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each."""
        counted = Counter(each.said for each in self.changes)
        return {said: counted[said] for said in _SAID.values() if counted[said]}


def read_plan(lines: Iterable[str]) -> Plan:
    """Return what an event log says; a last line that was cut off is left out."""
    changes, failed = [], []
    for event in _events(lines):
        if found := _change(event.get("resOutputsEvent")):
            changes.append(found)
        if found := _change(event.get("resOpFailedEvent")):
            failed.append(found)
    return Plan(tuple(changes), tuple(failed))


def _events(lines: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


def _change(event: Mapping[str, Any] | None) -> Change | None:
    step = (event or {}).get("metadata") or {}
    said = _SAID.get(str(step.get("op")))
    state = step.get("new") or step.get("old") or {}
    kind = str(step.get("type"))
    if said is None or not state.get("custom") or kind.startswith(_PROVIDERS):  # or a component, or the stack itself
        return None
    properties = () if said in ("created", "deleted") else tuple(sorted(map(str, step.get("diffs") or ())))
    name = str(step.get("urn")).rpartition("::")[2]
    return Change(said, kind.rpartition(":")[2], name, properties)
