"""Documents of one kind that a service keeps for an account or a zone: all of them, and the one that a path names.

What most services do with what they keep is the same, so each declares its collections once and says only what differs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .calls import Call
from .errors import Failure
from .store import Document


def scope_of(call: Call) -> str:
    """The path's zone, or its account."""
    return str(call.params.get("zone_id") or call.account_id)


@dataclass(frozen=True)
class Collection:
    """One kind of document."""

    kind: str
    parameter: str  # of the path that names one
    missing: Failure
    key: str = "id"  # the field that holds its key
    labels: Mapping[str, str] = field(default_factory=dict)  # label: the field it repeats
    scope: Callable[[Call], str] = scope_of

    def get(self, call: Call) -> Document:
        """The path's document, which must be there."""
        found = call.store.get(self.kind, self.scope(call), call.params[self.parameter])
        if found is None:
            raise self.missing()
        return found

    def put(self, call: Call, document: Document) -> Document:
        """Write a document."""
        labels = {label: document[name] for label, name in self.labels.items() if name in document}
        return call.store.put(self.kind, self.scope(call), document[self.key], document, labels=labels)

    def delete(self, call: Call) -> Document:
        """Remove the path's document; its key, which is what most services answer."""
        key = self.get(call)[self.key]
        call.store.delete(self.kind, self.scope(call), key)
        return {self.key: key}

    def all(self, call: Call) -> list[Document]:
        """All of them, oldest first."""
        return call.store.select(self.kind, self.scope(call))

    def find(self, call: Call, label: str, value: str) -> list[Document]:
        """Those that carry a label with this value."""
        return call.store.find(self.kind, self.scope(call), label, value)

    def is_taken(self, call: Call, label: str, value: str, own_key: str = "") -> bool:
        """Whether another document carries a label with this value."""
        return any(other[self.key] != own_key for other in self.find(call, label, value))
