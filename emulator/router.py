"""From a path to an operation, by a tree of segments.

Look-up costs one dictionary access per segment whatever the number of operations; a literal segment wins over a
parameter, as `/rulesets/phases/…` must over `/rulesets/{ruleset_id}`; `{object_key*}` takes all segments left.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from .registry import Operation


@dataclass
class _Node:
    literals: dict[str, "_Node"] = field(default_factory=dict)
    parameter: "_Node | None" = None
    rest: "_Node | None" = None
    operations: dict[str, Operation] = field(default_factory=dict)
    names: tuple[str, ...] = ()


class DuplicateRouteError(Exception):
    """Two operations claim the same method and path."""


class Router:
    """All operations of all services."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._root = _Node()
        for operation in operations:
            self._add(operation)

    def _add(self, operation: Operation) -> None:
        node = self._root
        names: list[str] = []
        for segment in split(operation.base + operation.path):
            if segment.endswith("*}"):
                names.append(segment[1:-2])
                node.rest = node.rest or _Node()
                node = node.rest
            elif segment.startswith("{"):
                names.append(segment[1:-1])
                node.parameter = node.parameter or _Node()
                node = node.parameter
            else:
                node = node.literals.setdefault(segment, _Node())
        if operation.method in node.operations:
            raise DuplicateRouteError(f"{operation.method} {operation.path} is declared twice")
        if node.names and node.names != tuple(names):
            raise DuplicateRouteError(f"{operation.path} names its parameters differently from its other methods")
        node.names = tuple(names)
        node.operations[operation.method] = operation

    def find(self, segments: list[str]) -> tuple[dict[str, Operation], dict[str, str]]:
        """The operations of a path by method, and its parameters; both empty when there is no such path."""
        values: list[str] = []
        node = _descend(self._root, segments, 0, values)
        if node is None:
            return {}, {}
        return node.operations, dict(zip(node.names, values, strict=True))


def _descend(node: _Node, segments: list[str], depth: int, values: list[str]) -> _Node | None:
    if depth == len(segments):
        return node if node.operations else None
    segment = segments[depth]
    literal = node.literals.get(segment)
    if literal is not None:
        found = _descend(literal, segments, depth + 1, values)
        if found is not None:
            return found
    if node.parameter is not None and segment:
        values.append(segment)
        found = _descend(node.parameter, segments, depth + 1, values)
        if found is not None:
            return found
        values.pop()
    if node.rest is not None:
        values.append("/".join(segments[depth:]))
    return node.rest


def split(path: str) -> list[str]:
    """Segments of a path; a trailing slash does not count."""
    return path.strip("/").split("/")
