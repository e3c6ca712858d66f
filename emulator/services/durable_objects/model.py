"""Plain data the lifecycle of Durable Object classes is computed on.

`migrations.py` and `exports.py` turn a `Situation` into an `Outcome`; neither touches state, so both can be tested with
nothing but values. `rules.py` reads the one and writes the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

ALLOWED, REFUSED, FREE = "allowed", "refused", "free"
"""Whether an account may create namespaces on key-value storage: yes, no, not on the free plan."""


@dataclass(frozen=True)
class Namespace:
    """The objects of one class; `id` is empty while the namespace is only planned."""

    script: str
    class_name: str
    sqlite: bool = True
    id: str = ""
    container: bool = False
    received_from: str = ""  # the script it was transferred from


@dataclass(frozen=True)
class Exported:
    """Names a Worker's code exports; when `complete` is false there may be more."""

    names: frozenset[str] = frozenset()
    complete: bool = False

    def lacks(self, name: str) -> bool:
        """Whether the code certainly does not export the name."""
        return self.complete and name not in self.names

    def has(self, name: str) -> bool:
        """Whether the code certainly exports the name."""
        return name in self.names


@dataclass(frozen=True)
class Pending:
    """A transfer the target has announced and the source has not committed."""

    target: str
    class_name: str
    source: str


@dataclass(frozen=True)
class Situation:
    """What is there when an upload arrives, and what of the upload matters."""

    script: str
    namespaces: tuple[Namespace, ...] = ()  # of all scripts of the account that play a part
    exported: Exported = Exported()
    bound: frozenset[str] = frozenset()  # class names in the upload's own bindings
    users: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # namespace id: other scripts bound to it
    scripts: frozenset[str] = frozenset()  # scripts that exist
    pending: tuple[Pending, ...] = ()
    tag: str | None = None
    key_value: str = ALLOWED

    def own(self) -> dict[str, Namespace]:
        """The script's namespaces by class."""
        return {each.class_name: each for each in self.namespaces if each.script == self.script}

    def of(self, script: str, class_name: str) -> Namespace | None:
        """The namespace of a class of a script."""
        return next((n for n in self.namespaces if (n.script, n.class_name) == (script, class_name)), None)


@dataclass(frozen=True)
class Outcome:
    """What the account has afterwards."""

    namespaces: tuple[Namespace, ...]
    lost: tuple[Namespace, ...] = ()  # existed, and their data goes
    tag: str | None = None
    pending: tuple[Pending, ...] = ()  # of all scripts
    reconciliation: dict[str, Any] | None = None

    def own(self, script: str) -> dict[str, Namespace]:
        """A script's namespaces by class."""
        return {each.class_name: each for each in self.namespaces if each.script == script}

    def changes(self, before: Situation) -> bool:
        """Whether the set of classes or their owners changes (container flags do not count)."""
        return {replace(n, container=False) for n in self.namespaces} != {
            replace(n, container=False) for n in before.namespaces
        }


def mark_containers(namespaces: tuple[Namespace, ...], script: str, classes: frozenset[str]) -> tuple[Namespace, ...]:
    """Container-enable exactly these classes of a script, as each upload says anew."""
    return tuple(replace(n, container=n.class_name in classes) if n.script == script else n for n in namespaces)
