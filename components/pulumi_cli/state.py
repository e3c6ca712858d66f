"""What a stack's state says, as `pulumi stack export` prints it: resources, and operations that were cut off. Pure."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..errors import UserError

_STACK: Final = "pulumi:pulumi:Stack"


@dataclass(frozen=True)
class Resource:
    """A resource of the state. Secrets in its properties stay encrypted: the command does not ask for them."""

    urn: str
    type: str
    id: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    parent: str = ""
    retained: bool = False
    """Whether it stays in the account when the stack gives it up."""

    @property
    def name(self) -> str:
        """The logical name."""
        return self.urn.rpartition("::")[2]


@dataclass(frozen=True)
class State:
    """The state of one stack."""

    resources: tuple[Resource, ...] = ()
    interrupted: tuple[Resource, ...] = ()
    """What an operation was begun for and not ended: it may or may not exist."""

    @property
    def outputs(self) -> Mapping[str, Any]:
        """Outputs of the stack."""
        return next((each.outputs for each in self.resources if each.type == _STACK), {})

    def of_type(self, *types: str) -> Iterator[Resource]:
        """Return the resources of some types."""
        return (each for each in self.resources if each.type in types)


def read_state(text: str, where: str) -> State:
    """Return the state that a document tells."""
    try:
        deployment = json.loads(text)["deployment"] or {}
        return State(
            tuple(_resource(each) for each in deployment.get("resources") or ()),
            tuple(_resource(each["resource"]) for each in deployment.get("pending_operations") or ()),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{where}: is no state of a Pulumi stack; `pulumi stack export` prints one") from None


def _resource(found: Mapping[str, Any]) -> Resource:
    return Resource(
        urn=found["urn"],
        type=found["type"],
        id=found.get("id") or "",
        inputs=found.get("inputs") or {},
        outputs=found.get("outputs") or {},
        parent=found.get("parent") or "",
        retained=bool(found.get("retainOnDelete")),
    )
