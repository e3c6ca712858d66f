"""Which Durable Object classes an upload backs with containers.

An upload links the two from either side: `containers[].class_name`, or `exports[].container` naming an entry of
`containers` by its `name`. Both together must agree.
"""

from dataclasses import dataclass
from typing import Any

from emulator.schema import anything, items, nullable, open_options, text

from . import errors
from .model import Outcome

CHECK = items(
    open_options(class_name=nullable(text(least=1)), name=nullable(text(least=1)), images=anything()),
    most=100,
)


@dataclass(frozen=True)
class Wiring:
    """The `containers` of an upload and the `container` names in its exports."""

    containers: tuple[dict[str, Any], ...] = ()
    named: tuple[tuple[str, str], ...] = ()  # class, container name

    @classmethod
    def of(cls, containers: list[dict[str, Any]] | None, exports: dict[str, Any] | None) -> "Wiring":
        """Read the two fields of the metadata."""
        named = [
            (name, entry["container"])
            for name, entry in (exports or {}).items()
            if isinstance(entry.get("container"), str)
        ]
        return cls(tuple(containers or ()), tuple(named))

    def classes(self) -> frozenset[str]:
        """Classes that run containers."""
        listed = {entry["class_name"] for entry in self.containers if entry.get("class_name")}
        return frozenset(listed | {name for name, _ in self.named})

    def problems(self, live: set[str]) -> list[tuple[str, str, str]]:
        """What does not fit, as scenario, class and message; `live` are the declared live classes."""
        found = []
        by_name = {entry["name"]: entry for entry in self.containers if entry.get("name")}
        for class_name, container in self.named:
            entry = by_name.get(container)
            if entry is None:
                text_ = f"Container '{container}' is not declared in `containers`."
                found.append(("container_undeclared_reference", class_name, text_))
            elif entry.get("class_name") not in (None, class_name):
                text_ = f"Container '{container}' names class '{entry['class_name']}'."
                found.append(("container_wiring_inconsistent", class_name, text_))
            if [name for _, name in self.named].count(container) > 1:
                text_ = f"Container '{container}' is used by several classes."
                found.append(("container_multiple_durable_objects", class_name, text_))
        for class_name in sorted(self.classes() - live):
            text_ = f"The container's class '{class_name}' is not a live Durable Object class."
            found.append(("container_class_not_durable_object", class_name, text_))
        return found


def check_containers(outcome: Outcome, script: str, classes: frozenset[str], *, declared: bool) -> None:
    """Refuse containers for classes that cannot have them; that a declared class exists was checked with its entry."""
    own = outcome.own(script)
    for name in sorted(classes):
        if name in own and not own[name].sqlite:
            raise errors.NOT_SQLITE(name=name)
        if name not in own and not declared:
            raise errors.NO_CONTAINER_CLASS(name=name)
