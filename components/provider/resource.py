"""What every resource of the plugin has: checks from its shapes, a detailed diff, and the five things it can do."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..pulumi_protocol.values import UNKNOWN, Path
from .api_client import Client
from .property_types import Declaration, Problem

Values = dict[str, Any]
Inputs = Mapping[str, Any]


@dataclass(frozen=True)
class Run:
    """One operation on one resource: what it may use."""

    client: Client
    urn: str
    timeout: float = 0.0
    """Seconds from `customTimeouts`; 0 when the program says nothing."""
    status: Callable[[str], None] = field(default=lambda _text: None)
    """Shows a passing line of progress."""
    warn: Callable[[str], None] = field(default=lambda _text: None)


@dataclass(frozen=True)
class Difference:
    """Paths that differ (`add`, `delete`, `update`), and those of them that need a replacement."""

    changes: Mapping[Path, str]
    replaces: frozenset[Path] = frozenset()
    delete_first: bool = False


class Resource(ABC):
    """A kind of resource."""

    declaration: ClassVar[Declaration]

    def checked(self, olds: Inputs, news: Values) -> tuple[Values, list[Problem]]:
        """Return the inputs with defaults and in one form, and everything that is wrong with them."""
        record = self.declaration.arguments
        given = record.filled(news)
        problems = list(record.problems(given, ()))
        # What is wrong by itself counts as unknown in the checks that look at several properties.
        spoilt: Values = {str(path[0]): UNKNOWN for path, _ in problems if path[0] in record.properties}
        inputs, more = self.check(olds, self.normal({**given, **spoilt}))
        return inputs, [*problems, *more]

    def normal(self, inputs: Values) -> Values:
        """Return inputs in the one form that all else works with; those of a wrong shape are unknown."""
        return inputs

    def check(self, olds: Inputs, news: Values) -> tuple[Values, list[Problem]]:  # noqa: ARG002 - nothing here
        """Check what types cannot say."""
        return news, []

    def shown(self, inputs: Inputs) -> Values:
        """Return the inputs as outputs repeat them."""
        return dict(inputs)

    def hidden(self, inputs: Inputs) -> Iterable[Path]:  # noqa: ARG002 - programs mark what is secret
        """Return the paths of inputs that are secret whatever the program says."""
        return ()

    @abstractmethod
    def diff(self, old: Inputs, new: Inputs) -> Difference:
        """Compare inputs; no request is made."""

    @abstractmethod
    def preview(self, old: Inputs, state: Inputs, new: Inputs) -> Values:
        """Return the outputs as far as they are known before the work is done; `old` is empty before a creation."""

    def remark(self, old: Inputs, new: Inputs) -> str:  # noqa: ARG002 - most changes speak for themselves
        """Say for a preview what the change of an existing resource means that its properties do not show."""
        return ""

    def foreseen(self, run: Run, inputs: Values) -> str:  # noqa: ARG002 - most have nothing to take over
        """Say for a preview what taking over something that exists changes about it; asked where `adopt` is set."""
        return ""

    @abstractmethod
    def create(self, run: Run, inputs: Values) -> tuple[str, Values]:
        """Make it; return id and outputs."""

    @abstractmethod
    def read(self, run: Run, resource_id: str, known: Inputs, state: Inputs) -> tuple[Values, Values] | None:
        """Return inputs and outputs of what is live, or None when it is gone."""

    @abstractmethod
    def update(self, run: Run, old: Inputs, state: Inputs, new: Values) -> Values:
        """Make it as wanted; return the outputs."""

    @abstractmethod
    def delete(self, run: Run, inputs: Inputs, state: Inputs) -> None:
        """Take it away; what is gone already is fine."""
