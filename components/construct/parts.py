"""The parts of a stack that programs in other languages can ask for one by one, as their classes in Python say it.

What a part is made from is read off the dataclass of its arguments: fields that may be outputs of other resources are
values, `after` is the option `dependsOn`, and the others are settings, which are known when the program runs.
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Annotated, Any, Final, get_args

import pulumi
from pydantic import AfterValidator, create_model

from ..access import TYPE as GATE
from ..access import AccessArgs, AccessGate
from ..application import TYPE as APPLICATION
from ..application import ApplicationArgs, SandboxApplication
from ..domain import TYPE as DOMAIN
from ..domain import DomainArgs, PreviewDomain
from ..settings.base import Section
from ..storage import TYPE as STORAGE
from ..storage import SandboxStorage, StorageArgs

AFTER: Final = "after"
"""The field that says what a part waits for."""
_VALUE: Final = pulumi.Input[str]  # type: ignore[misc]  # an alias with a parameter


def _names(given: tuple[str, ...]) -> tuple[str, ...]:
    if not given or not all(given):
        raise ValueError("give at least one name, and none that is empty; names in the account begin with them")
    return given


_PREFIX: Final = Annotated[tuple[str, ...], AfterValidator(_names)]


@dataclass(frozen=True)
class Part:
    """A component, and what it is made from."""

    token: str
    component: type[Any]
    args: type[Any]

    @cached_property
    def values(self) -> tuple[str, ...]:
        """Arguments that may be outputs of other resources; each is text."""
        return tuple(each.name for each in fields(self.args) if each.type == _VALUE)

    @cached_property
    def plain(self) -> type[Section]:
        """Arguments that are known when the program runs, as one model: so all mistakes are told at once."""
        known = {
            each.name: (_PREFIX if each.type == tuple[str, ...] else each.type, _default(each))
            for each in fields(self.args)
            if each.type != _VALUE and each.name != AFTER
        }
        return create_model(self.component.__name__, __base__=Section, **known)  # type: ignore[call-overload, no-any-return]

    @cached_property
    def waits(self) -> bool:
        """Whether some of it waits for others."""
        return AFTER in {each.name for each in fields(self.args)}

    @cached_property
    def outputs(self) -> Mapping[str, Any]:
        """Types of the outputs by their Python names; what the Worker is to be bound to is one of them."""
        return {
            name: get_args(kind)[0] if getattr(kind, "__origin__", None) is pulumi.Output else kind
            for name, kind in self.component.__annotations__.items()
        }


def _default(field: Any) -> Any:
    if field.default is not MISSING:
        return field.default
    return None if type(None) in get_args(field.type) else ...


PARTS: Final[Mapping[str, Part]] = {
    part.token: part
    for part in (
        Part(STORAGE, SandboxStorage, StorageArgs),
        Part(DOMAIN, PreviewDomain, DomainArgs),
        Part(GATE, AccessGate, AccessArgs),
        Part(APPLICATION, SandboxApplication, ApplicationArgs),
    )
}
