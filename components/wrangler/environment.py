"""One environment of a wrangler configuration, with what it inherits and where each thing is said.

An environment inherits what wrangler 4.158 lets it inherit: dates, flags, migrations, routes. Bindings, variables and
containers it does not inherit; that is how deployments lose them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .bindings import CONFIG_KEYS
from .document import Document

NOT_INHERITED: Final = frozenset({
    *(path[0] for path in CONFIG_KEYS),
    "agent_memory", "analytics", "cloudchamber", "connect", "containers", "define", "secrets", "stream",
    "streaming_tail_consumers", "tail_consumers", "unsafe", "unsafe_hello_world", "vars", "worker_loaders",
})  # fmt: skip
"""Keys of the top level that a named environment does not have by itself (wrangler 4.158, 2026-11-18)."""


@dataclass(frozen=True)
class Environment:
    """One environment of a configuration: the top level, or a named one."""

    document: Document
    folder: Path
    name: str = ""

    @property
    def base(self) -> tuple[str, ...]:
        """Path of the environment in the document."""
        return ("env", self.name) if self.name else ()

    @property
    def keys(self) -> list[str]:
        """Everything that is said for this environment, by itself or by inheritance, in one order."""
        own = at(self.document.value, self.base)
        said = dict.fromkeys(own) if isinstance(own, dict) else {}
        if self.name:
            said |= dict.fromkeys(key for key in self.document.value if key not in NOT_INHERITED)
        return [key for key in said if key != "env"]

    def path(self, key: str) -> tuple[str, ...]:
        """Return the path where a key of this environment is said, by itself or by inheritance."""
        own = at(self.document.value, self.base)
        inherited = isinstance(own, dict) and key not in own and key not in NOT_INHERITED
        return (key,) if inherited else (*self.base, key)

    def said(self, key: str) -> Any:
        """Return the value of a key, whatever it is; None if it is not said."""
        return at(self.document.value, self.path(key))

    def get(self, key: str, kind: type) -> Any:
        """Return the value of a key if it is of the kind it should be, or else None."""
        value = self.said(key)
        fits = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
        return value if fits else None

    def where(self, *path: str | int) -> str:
        """Return the place of a path that begins with a key of this environment."""
        first, *rest = path
        return self.document.where(*self.path(str(first)), *rest)

    @property
    def place(self) -> str:
        """The place of the environment itself."""
        return self.document.where(*self.base)

    @property
    def top_name(self) -> str | None:
        """Name of the Worker at the top level."""
        name = self.document.value.get("name")
        return name if isinstance(name, str) else None

    @property
    def script_name(self) -> str | None:
        """Name of the script that this environment deploys."""
        own = at(self.document.value, (*self.base, "name"))
        if isinstance(own, str):
            return own
        return f"{self.top_name}-{self.name}" if self.name and self.top_name else self.top_name


def named(document: Document) -> list[str]:
    """Return the names of the environments that a configuration has beside its top level."""
    said = document.value.get("env")
    return [name for name, value in said.items() if isinstance(value, dict)] if isinstance(said, dict) else []


def environments(document: Document, folder: Path) -> Iterator[Environment]:
    """Return the top level and every named environment; a top level that only says what they share is not deployed."""
    names = named(document)
    if not names or NOT_INHERITED & set(document.value):
        yield Environment(document, folder)
    yield from (Environment(document, folder, name) for name in names)


def at(value: Any, path: tuple[str, ...]) -> Any:
    """Return what stands at a path of objects; None if there is nothing."""
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value
