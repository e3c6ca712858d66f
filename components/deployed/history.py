"""The updates of a stack, as `pulumi stack history --json` prints them: when, and with which keys. Pure.

An update keeps the configuration that it ran with, so the keys are those that were deployed, whatever the file of the
stack says meanwhile.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Final

from ..errors import UserError

_CHANGES: Final = ("update", "destroy", "import", "refresh")
SETTINGS: Final = "settings"
"""The name of the configuration that programs of this package read."""


@dataclass(frozen=True)
class Key:
    """An API key as settings have it."""

    id: str
    tenant: str = ""
    created: date | None = None
    ends: datetime | None = None

    def days(self, today: date) -> int | None:
        """How old it is; None where nothing says so."""
        return None if self.created is None else (today - self.created).days


@dataclass(frozen=True)
class Update:
    """A run of Pulumi that may have changed the stack."""

    kind: str
    result: str
    began: str
    ended: str
    message: str = ""
    commit: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def keys(self) -> tuple[Key, ...]:
        """The API keys of its settings."""
        return keys(self.settings)


def read_history(text: str, where: str) -> tuple[Update, ...]:
    """Return the updates that a history tells of, the newest first."""
    try:
        return tuple(_update(each) for each in json.loads(text or "[]") or () if each["kind"] in _CHANGES)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{where}: is no history of a Pulumi stack; `pulumi stack history --json` prints one") from None


def _update(found: Mapping[str, Any]) -> Update:
    return Update(
        kind=found["kind"],
        result=found.get("result") or "",
        began=found.get("startTime") or "",
        ended=found.get("endTime") or "",
        message=found.get("message") or "",
        commit=str((found.get("environment") or {}).get("git.head") or ""),
        settings=settings_of(found.get("config") or {})[1],
    )


def settings_of(config: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return name and content of the settings in a configuration as Pulumi prints it; nothing if none can be read."""
    for name, said in config.items():
        if name.partition(":")[2] == SETTINGS and isinstance(said, dict) and not said.get("secret"):
            value = said.get("objectValue")
            return (name, value) if isinstance(value, dict) else ("", {})
    return "", {}


def keys(settings: Mapping[str, Any]) -> tuple[Key, ...]:
    """Return the API keys of settings, by id."""
    access = settings.get("access")
    given = (access.get("api_keys") if isinstance(access, dict) else None) or {}
    return tuple(_key(name, said) for name, said in sorted(given.items()) if isinstance(said, dict))


def _key(name: str, said: Mapping[str, Any]) -> Key:
    return Key(name, str(said.get("tenant", "")), _day(said.get("created")), moment(said.get("not_after")))


def _day(text: Any) -> date | None:
    try:
        return date.fromisoformat(str(text)[:10])
    except ValueError:
        return None


def moment(text: Any) -> datetime | None:
    """Return the moment that a text says; None where it says none."""
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
