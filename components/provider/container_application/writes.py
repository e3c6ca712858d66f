"""The writes of one operation: whether any of them may have changed something, and what is known of the result."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..api_client import Answer, Client
from ..errors import PartialError, ProviderError, Refusal, StoppedError
from ..resource import Values


@dataclass
class Writes:
    """Makes requests that change something."""

    client: Client
    outputs: Values = field(default_factory=dict)
    """What the state has to keep if the operation fails after a change."""
    changed: bool = False
    """Whether a request was sent that was not refused; it may have done its work even if its answer was lost."""

    def call(self, method: str, path: str, **content: Any) -> Answer:
        """Make a request that does no harm when it is made twice; repeat it when it fails for a moment."""
        return self.client.persist(lambda: self.once(method, path, **content))

    def once(self, method: str, path: str, **content: Any) -> Answer:
        """Make one request."""
        before, self.changed = self.changed, True
        try:
            return self.client.once(method, path, **content)
        except (Refusal, StoppedError):  # a cancelled run does not send it
            self.changed = before
            raise

    @contextmanager
    def kept(self, resource_id: str) -> Iterator[None]:
        """Let the state keep what an operation has made or changed before it failed."""
        try:
            yield
        except ProviderError as error:
            if not self.changed:
                raise
            raise PartialError(resource_id, self.outputs, str(error)) from None
