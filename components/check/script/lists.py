"""What the elements of arrays may be: literals, what is pushed to them, and what is made of others."""

from typing import TYPE_CHECKING

from tree_sitter import Node

from .guards import QUOTING
from .module import Module
from .program import Place
from .syntax import arguments, called, child, children, is_spread, members, receiver, text, unwrapped
from .texts import HARMLESS, PLAIN, UNKNOWN, Frames, Texts, flattened

if TYPE_CHECKING:
    from .values import Values


class Lists:
    """Follows arrays, on behalf of what follows values."""

    def __init__(self, values: "Values") -> None:
        self.values = values

    def elements(self, module: Module, node: Node, frames: Frames) -> list[Texts] | None:
        """Return what the elements of an array may be; None if that cannot be told."""
        return self.values.bounded(lambda: self._elements(module, unwrapped(node), frames), None)

    def _elements(self, module: Module, node: Node, frames: Frames) -> list[Texts] | None:
        if node.type == "array":
            return self._listed(module, node, frames)
        if node.type == "identifier":
            return self._named_elements(module, node, frames)
        if node.type == "call_expression":
            return self._made_elements(module, node, frames)
        literal = self.values.literal(module, node)
        return self.elements(literal.module, literal.node, frames) if literal and literal.node.type == "array" else None

    def _listed(self, module: Module, node: Node, frames: Frames) -> list[Texts] | None:
        found: list[Texts] = []
        for each in children(node):
            if each.type != "spread_element":
                found.append(self.values.follow(module, each, frames))
                continue
            inner = children(each)
            chosen = self._spread(module, inner[0], frames) if inner else None
            found += chosen if chosen is not None else [UNKNOWN]
        return found

    def _spread(self, module: Module, node: Node, frames: Frames) -> list[Texts] | None:
        node = unwrapped(node)
        if node.type == "ternary_expression":
            ways = [self._spread(module, each, frames) for each in children(node)[1:]]
            return [each for way in ways for each in (way if way is not None else [UNKNOWN])]
        return self.elements(module, node, frames)

    def _named_elements(self, module: Module, node: Node, frames: Frames) -> list[Texts] | None:
        found = self.values.program.resolved(module, text(node), node)
        if found is None or found[1].node.type != "variable_declarator" or found[1].taken is not None:
            return None
        home, declared = found
        value = child(declared.node, "value")
        held = self.elements(home, value, frames) if value else None
        if held is None:
            return None
        for call in home.within("call_expression", home.function(declared.node)):
            if called(call) in {"push", "unshift"} and text(receiver(call)) == text(node):
                held = held + [self.values.follow(home, each, frames) for each in arguments(call)]
        return held

    def _made_elements(  # noqa: PLR0911 - one answer for each method
        self, module: Module, call: Node, frames: Frames
    ) -> list[Texts] | None:
        inner, name = receiver(call), called(call)
        given = arguments(call)
        if inner is None:
            return None
        if name in {"filter", "slice", "sort", "reverse"}:
            return self.elements(module, inner, frames)
        if name == "map" and given:
            function = self.values.program.function(module, given[0])
            if function is None:
                return [PLAIN] if QUOTING.search(text(given[0])) else None
            return [self.values.returned(function, {})]
        if name == "split":
            return [flattened(self.values.follow(module, inner, frames), HARMLESS)]
        if text(inner) == "Object" and name in {"keys", "values"} and given:
            literal = self.values.literal(module, given[0])
            if literal and not is_spread(literal.node):
                held = members(literal.node)
                return [((each,),) for each in held] if name == "keys" else self.all(literal, frames)
        return None

    def all(self, literal: Place, frames: Frames) -> list[Texts]:
        """Return what the members of a literal object or array may be."""
        values = members(literal.node).values() if literal.node.type == "object" else children(literal.node)
        return [self.values.follow(literal.module, each, frames) for each in values]
