"""How a key is replaced: the new one takes its name, the old one stays beside it until a moment. Pure.

Two steps. `begun` lets both in; the Worker itself stops letting the old one in at its `not_after`. `finished` takes the
old one out of the settings, before or after that.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from ..errors import UserError
from .history import moment

UNTIL: Final = ".until-"
"""Between the name of a key that is being replaced and the day on which it ends."""
_MOMENT: Final = "%Y-%m-%dT%H:%M:%SZ"
_LONGEST_NAME: Final = 64
_DURATION: Final = re.compile(r"([1-9][0-9]{0,3})([mhd])")
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days"}
Keys = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Change:
    """What becomes of the keys."""

    keys: Keys
    ends: str = ""
    """When the old key ends."""
    removed: tuple[str, ...] = ()


def overlap(text: str) -> timedelta:
    """Return how long both keys are let in; a ValueError says what is wrong."""
    found = _DURATION.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is no duration; give minutes, hours or days, such as 7d")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def begun(keys: Keys, name: str, digest: str, now: datetime, lasting: timedelta) -> Change:
    """Return the settings with a new key under the name, and the old one beside it with an end."""
    old = _known(keys, name)
    if outgoing := _outgoing(keys, name):
        raise UserError(
            f"--id {name}: it is being replaced already, the old key is {outgoing[0]}; take that out first with "
            f"`sandbox-stack key rotate --id {name} --finish`"
        )
    ends = now + lasting
    said = moment(old.get("not_after"))
    if said and said <= now:
        raise UserError(f"--id {name}: the key ended at {old['not_after']}; make another with `sandbox-stack key`")
    ends = min(ends, said) if said else ends
    kept = f"{name[: _LONGEST_NAME - len(UNTIL) - 10]}{UNTIL}{ends:%Y-%m-%d}"
    if kept in keys:
        raise UserError(f"access.api_keys.{kept}: is there already; take it out or rename it")
    new = {key: value for key, value in old.items() if key != "not_after"}
    new |= {"sha256": digest, "created": f"{now:%Y-%m-%d}"}
    end = f"{ends:{_MOMENT}}"
    return Change({**keys, name: new, kept: {**old, "not_after": end}}, ends=end)


def finished(keys: Keys, name: str) -> Change:
    """Return the settings without the old keys of a name."""
    outgoing = _outgoing(keys, name)
    if not outgoing:
        raise UserError(f"--id {name}: nothing of it is being replaced; `sandbox-stack key rotate --id {name}` begins")
    return Change({each: said for each, said in keys.items() if each not in outgoing}, removed=tuple(outgoing))


def _known(keys: Keys, name: str) -> Mapping[str, Any]:
    if name not in keys:
        known = ", ".join(sorted(keys)) or "none"
        raise UserError(f"--id {name}: the settings have no such key; they have {known}")
    return keys[name]


def _outgoing(keys: Keys, name: str) -> list[str]:
    beginning = f"{name[: _LONGEST_NAME - len(UNTIL) - 10]}{UNTIL}"
    return sorted(each for each in keys if each.startswith(beginning))


def configuration(name: str, settings: Mapping[str, Any], change: Change) -> str:
    """Return what `pulumi config set-all --json` is told: it writes all or nothing, and keeps types and comments."""
    access = {**settings["access"], "api_keys": change.keys}
    changed = {**settings, "access": access}
    said = {"value": json.dumps(changed), "objectValue": changed, "secret": False}
    return json.dumps({name: said})
