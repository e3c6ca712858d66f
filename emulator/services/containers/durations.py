"""How long things take: deletion, a step of a rollout, the preparation of an image.

Seconds of the emulator's clock, part of the state; a test that waits in real time sets them low, one that advances
the clock leaves them.
"""

import json
from dataclasses import asdict, dataclass

from emulator.store import Store

_SETTING = "containers.durations"
_FORMER_SETTING = "containers.pace"  # in states, also saved ones, of before 2026-11-18


@dataclass(frozen=True)
class Durations:
    """Seconds."""

    deletion: float = 3.0
    step: float = 2.0
    preparation: float = 1.0


def read(store: Store) -> Durations:
    """What holds now."""
    return Durations(**json.loads(store.setting(_SETTING) or store.setting(_FORMER_SETTING) or "{}"))


def write(store: Store, durations: Durations) -> None:
    """Let this hold from now on; what is under way keeps the times it began with."""
    store.set_setting(_SETTING, json.dumps(asdict(durations)))
