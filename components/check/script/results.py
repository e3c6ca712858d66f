"""What calls may give back: functions of the program, methods of texts, and known functions of the platform."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tree_sitter import Node

from . import guards
from .module import Module, parameters
from .program import Place
from .syntax import FUNCTIONS, arguments, called, callee, child, children, members, receiver, string, text
from .texts import CHANCE, HARMLESS, PLAIN, RANDOM, UNKNOWN, Frames, Hole, Texts, either, flattened, together

if TYPE_CHECKING:
    from .values import Values

_SAFE_CALLS: Final = frozenset(
    {
        "Number", "parseInt", "parseFloat", "Boolean", "encodeURIComponent", "btoa", "Date.now", "performance.now",
        "toFixed", "getTime", "toISOString", "indexOf", "Number.parseInt", "Number.parseFloat",
    }
)  # fmt: skip
_CHANCE_CALLS: Final = frozenset({"crypto.randomUUID", "randomUUID", "nanoid", "Math.random", "ulid", "uuidv4", "uuid"})
_SAME: Final = frozenset(
    {"trim", "trimEnd", "trimStart", "toLowerCase", "toUpperCase", "toString", "normalize", "valueOf", "at"}
)
_PARTS: Final = frozenset({"slice", "substring", "substr", "padStart", "padEnd", "repeat", "charAt"})


class Results:
    """Follows calls, on behalf of what follows values."""

    def __init__(self, values: "Values") -> None:
        self._values = values

    def of(self, module: Module, node: Node, frames: Frames) -> Texts:  # noqa: PLR0911 - one answer for each form
        """Say what a call may give back."""
        target, name, given = callee(node), called(node), arguments(node)
        whole, inner = text(target), receiver(node)
        if whole in _CHANCE_CALLS or name in _CHANCE_CALLS:
            return CHANCE
        if whole in _SAFE_CALLS or name in _SAFE_CALLS or whole.startswith("Math."):
            return PLAIN
        if whole == "String" and given:
            return self._values.follow(module, given[0], frames)
        if guards.QUOTING.search(name):
            return PLAIN
        function = self._values.program.function(module, target) if target else None
        if function is not None:
            if guards.quotes(function):
                return PLAIN
            frame = self.frame(module, function.node, given, frames)
            return self._values.returned(function, {**frames, function.node.id: frame})
        return self._text_call(module, inner, name, given, frames) if inner is not None else UNKNOWN

    def _text_call(  # noqa: PLR0911 - one answer for each method
        self, module: Module, inner: Node, name: str, given: list[Node], frames: Frames
    ) -> Texts:
        if name == "join":
            return self._joined(module, inner, given, frames)
        if name == "toString" and given and (string(given[0]) or "") in {"base64", "hex", "base64url"}:
            return PLAIN
        if name in {"replace", "replaceAll"} and len(given) > 1:
            return self._replaced(module, inner, given, frames)
        if name in _SAME:
            return self._values.follow(module, inner, frames)
        if name in _PARTS:
            held = self._values.follow(module, inner, frames)
            chance = any(isinstance(part, Hole) and part.kind == RANDOM for each in held for part in each)
            return flattened(held, RANDOM if chance else HARMLESS)
        if name == "concat":
            return together(*(self._values.follow(module, each, frames) for each in (inner, *given)))
        return UNKNOWN

    def _joined(self, module: Module, inner: Node, given: list[Node], frames: Frames) -> Texts:
        found = self._values.lists.elements(module, inner, frames)
        if found is None:
            return UNKNOWN
        between = self._values.follow(module, given[0], frames) if given else ((",",),)
        parts = [part for each in found for part in (between, each)][1:]
        return together(*parts) if parts else (("",),)

    def _replaced(self, module: Module, inner: Node, given: list[Node], frames: Frames) -> Texts:
        held = self._values.follow(module, inner, frames)
        if given[0].type == "regex":
            return PLAIN if guards.removes(text(given[0]), text(given[1])) else held
        put = self._values.follow(module, given[1], frames) if given[1].type not in FUNCTIONS else UNKNOWN
        return either(held, together(put, flattened(held, HARMLESS)))

    def frame(self, module: Module, function: Node, given: list[Node], frames: Frames) -> dict[str, Texts]:
        """Return what the parameters of a function stand for in one call of it."""
        found: dict[str, Texts] = {}
        for index, each in enumerate(parameters(function)):
            pattern = child(each, "pattern") or each
            value, default = (given[index] if index < len(given) else None), child(each, "value")
            if pattern.type == "identifier":
                held = self._values.follow(module, value, frames) if value else None
                found[text(pattern)] = held or (self._values.follow(module, default, frames) if default else UNKNOWN)
            elif pattern.type == "object_pattern" and value is not None:
                literal = self._values.literal(module, value)
                for name, node in members(literal.node).items() if literal else ():
                    found[name] = self._values.follow(module, node, frames)
        return found


def returns(function: Place) -> Iterator[Node]:
    """Return the expressions that a function gives back."""
    body = child(function.node, "body")
    if body is not None and body.type != "statement_block":
        yield body
        return
    for each in function.module.within("return_statement", body):
        inner = children(each)
        if inner and function.module.function(each) == function.node:
            yield inner[0]
