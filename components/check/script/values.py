"""What an expression may stand for: text with holes, followed through names, templates, sums and simple helpers.

A hole says where its value comes from. What cannot be told comes from outside; only what is known to be harmless is
called so. Work is bounded: an expression that would take too long to follow comes from outside, too.
"""

import re
from collections.abc import Callable
from typing import Final, TypeVar

from tree_sitter import Node

from . import guards, types
from .lists import Lists
from .module import Declared, Module, parameters
from .program import Place, Program
from .results import Results, returns
from .syntax import (
    CLASSES,
    arguments,
    called,
    child,
    children,
    children_of,
    is_spread,
    key,
    members,
    receiver,
    string,
    text,
    unescaped,
    unwrapped,
)
from .texts import (
    BINDING,
    HARMLESS,
    MOST,
    OUTSIDE,
    PLAIN,
    UNKNOWN,
    Frames,
    Hole,
    Texts,
    either,
    flattened,
    together,
)

T = TypeVar("T")
_STEPS: Final = 3_000
_DEEPEST: Final = 24
_LITERALS: Final = frozenset({"string", "template_string", "number"})
_ENV: Final = re.compile(r"(?:[\w$]+[?!]?\.|import\.meta\.)*env|process\.env")
_CONSTANT: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{3,}")
_NUMBERS: Final = frozenset({"length", "size", "byteLength", "exitCode", "status", "pid", "index"})


def is_env(node: Node | None) -> bool:
    """Say whether an expression is the Worker's environment."""
    return node is not None and bool(_ENV.fullmatch(text(node)))


class Values:
    """Follows values through a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lists = Lists(self)
        self._results = Results(self)
        self._steps = self._depth = 0

    def of(self, module: Module, node: Node) -> Texts:
        """Say what an expression may stand for."""
        self._steps, self._depth = _STEPS, 0
        return self.follow(module, node, {})

    def bounded(self, step: Callable[[], T], otherwise: T) -> T:
        """Take a step further, unless that would be too far."""
        self._steps -= 1
        if self._steps < 0 or self._depth >= _DEEPEST:
            return otherwise
        self._depth += 1
        try:
            return step()
        finally:
            self._depth -= 1

    def follow(self, module: Module, node: Node, frames: Frames) -> Texts:
        """Say what an expression may stand for in functions whose parameters are known."""
        node = unwrapped(node)
        found = self.bounded(lambda: self._read(module, node, frames), UNKNOWN)
        if found == UNKNOWN and guards.is_validated(self.program, module, node):
            return PLAIN
        return found

    def _read(self, module: Module, node: Node, frames: Frames) -> Texts:  # noqa: C901, PLR0911 - one answer for each kind
        match node.type:
            case "string":
                return ((string(node) or "",),)
            case "number" | "true" | "false" | "null" | "undefined":
                return ((text(node),),)
            case "template_string":
                return self._template(module, node, frames)
            case "binary_expression":
                return self._binary(module, node, frames)
            case "ternary_expression":
                ways = (child(node, "consequence"), child(node, "alternative"))
                return either(*(self.follow(module, each, frames) for each in ways if each))
            case "identifier" | "shorthand_property_identifier":
                return self._name(module, node, frames)
            case "member_expression":
                return self._member(module, node, frames)
            case "subscript_expression":
                return self._indexed(module, node, frames)
            case "call_expression":
                return self._results.of(module, node, frames)
            case "unary_expression":
                return PLAIN
        return UNKNOWN

    def _template(self, module: Module, node: Node, frames: Frames) -> Texts:
        parts: list[Texts] = []
        at = node.start_byte + 1
        data = node.text or b""
        for each in children_of(node, "template_substitution"):
            written = data[at - node.start_byte : each.start_byte - node.start_byte].decode("utf-8", "replace")
            inner = children(each)
            parts += [((unescaped(written),),), self.follow(module, inner[0], frames) if inner else UNKNOWN]
            at = each.end_byte
        written = data[at - node.start_byte : -1].decode("utf-8", "replace")
        return together(*parts, ((unescaped(written),),))

    def _binary(self, module: Module, node: Node, frames: Frames) -> Texts:
        left, right = child(node, "left"), child(node, "right")
        operator = text(child(node, "operator"))
        if left is None or right is None:
            return UNKNOWN
        if operator == "+":
            return together(self.follow(module, left, frames), self.follow(module, right, frames))
        if operator in {"??", "||"}:
            return either(self.follow(module, left, frames), self.follow(module, right, frames))
        if operator == "&&":
            return either((("",),), self.follow(module, right, frames))
        return PLAIN

    def _name(self, module: Module, node: Node, frames: Frames) -> Texts:
        name = text(node)
        found = self.program.resolved(module, name, node)
        if found is None or found[1].kind == "import":
            return PLAIN if _CONSTANT.fullmatch(name) else UNKNOWN
        home, declared = found
        if declared.kind == "param":
            return self._parameter(home, declared, name, frames)
        if declared.kind == "for":
            return self._each(home, child(declared.node, "right"), frames)
        if declared.node.type != "variable_declarator":
            return self._read(home, declared.node, frames) if declared.kind in _LITERALS else UNKNOWN
        return self._variable(home, declared, name, frames)

    def _variable(self, module: Module, declared: Declared, name: str, frames: Frames) -> Texts:
        value = child(declared.node, "value")
        if declared.taken is not None:
            if value and is_env(unwrapped(value)) and declared.taken:
                return ((Hole(BINDING, declared.taken),),)
            return self._taken(module, value, declared.taken, frames) if value else UNKNOWN
        if types.is_plain(self.program, module, child(declared.node, "type")):
            return PLAIN
        first = self.follow(module, value, frames) if value else ((),)
        if declared.kind == "const":
            return self._address(module, declared, name) or first
        return self._assigned(module, declared, name, first, frames)

    def _taken(self, module: Module, value: Node, member: str, frames: Frames) -> Texts:
        literal = self.literal(module, value)
        known = members(literal.node).get(member) if literal and not is_spread(literal.node) else None
        return self.follow(literal.module, known, frames) if literal and known else UNKNOWN

    def _assigned(self, module: Module, declared: Declared, name: str, first: Texts, frames: Frames) -> Texts:
        """Return what a variable holds after all that is written to it, in the order of the text."""
        scope = module.function(declared.node)
        held = first
        for kind in ("assignment_expression", "augmented_assignment_expression"):
            for each in module.within(kind, scope):
                left, right = child(each, "left"), child(each, "right")
                if left is None or right is None or text(left) != name or module.declared(name, left) != declared:
                    continue
                if kind == "augmented_assignment_expression":
                    held = either(held, together(held, self.follow(module, right, frames)))
                elif name in {text(one) for one in module.within("identifier", right)}:
                    held = either(held, together(held, flattened(self._rest(module, right, name, frames), HARMLESS)))
                else:
                    held = either(held, self.follow(module, right, frames))
        return tuple(each for each in held if each) or UNKNOWN

    def _rest(self, module: Module, right: Node, name: str, frames: Frames) -> Texts:
        """Return what an assignment puts beside the variable's own value."""
        others = [one for one in module.within("identifier", right) if text(one) != name]
        return either((("",),), *(self.follow(module, one, frames) for one in others))

    def _address(self, module: Module, declared: Declared, name: str) -> Texts | None:
        """Return the text of a URL object into which a user or password is put."""
        value = child(declared.node, "value")
        if value is None or value.type != "new_expression" or text(child(value, "constructor")) != "URL":
            return None
        for each in module.within("assignment_expression", module.function(declared.node)):
            if text(child(each, "left")) in {f"{name}.password", f"{name}.username"}:
                return (("https://", Hole(OUTSIDE), "@", Hole(OUTSIDE)),)
        return None

    def _parameter(self, module: Module, declared: Declared, name: str, frames: Frames) -> Texts:
        function = module.function(declared.node)
        if function is None:
            return UNKNOWN
        if function.id in frames:
            return frames[function.id].get(name, UNKNOWN)
        kind = child(declared.node, "type")
        if declared.taken is not None:
            kind = types.member(self.program, module, kind, declared.taken)
        if types.is_plain(self.program, module, kind):
            return PLAIN
        given = self._iterated(module, function, declared, frames)
        return given if given is not None else self._from_callers(Place(module, function), name)

    def _from_callers(self, place: Place, name: str) -> Texts:
        calls = self.program.callers(place)
        if not calls or any(True for _ in self.program.references(place)):
            return UNKNOWN
        found = []
        for each in calls[:MOST]:
            frame = self._results.frame(each.module, place.node, arguments(each.node), {})
            found.append(frame.get(name) or UNKNOWN)
        return either(*found)

    def _iterated(self, module: Module, function: Node, declared: Declared, frames: Frames) -> Texts | None:
        """Return what a callback of `map`, `forEach` and the like gets."""
        above = module.parent(function)
        call = module.parent(above) if above and above.type == "arguments" else None
        if call is None or called(call) not in {"map", "forEach", "flatMap", "filter", "some", "every", "find"}:
            return None
        given = parameters(function)
        inner = receiver(call)
        if not given or given[0] != declared.node:
            return PLAIN if given and given[1:2] == [declared.node] else None
        return self._each(module, inner, frames)

    def _each(self, module: Module, node: Node | None, frames: Frames) -> Texts:
        found = self.lists.elements(module, node, frames) if node else None
        return either(*found) if found else UNKNOWN

    def literal(self, module: Module, node: Node) -> Place | None:
        """Return the literal object, array or enum that an expression names."""
        node = unwrapped(node)
        if node.type in {"object", "array"}:
            return Place(module, node)
        if node.type == "identifier":
            found = self.program.resolved(module, text(node), node)
            if found and found[1].node.type == "variable_declarator" and found[1].taken is None:
                value = child(found[1].node, "value")
                return self.literal(found[0], value) if value and found[1].kind == "const" else None
            return Place(found[0], found[1].node) if found and found[1].node.type == "enum_declaration" else None
        inner = child(node, "object") if node.type == "member_expression" else None
        outer = self.literal(module, inner) if inner else None
        held = members(outer.node).get(text(child(node, "property"))) if outer else None
        return self.literal(outer.module, held) if outer and held else None

    def _member(self, module: Module, node: Node, frames: Frames) -> Texts:  # noqa: PLR0911 - one answer for each form
        inner, name = child(node, "object"), text(child(node, "property"))
        if inner is None:
            return UNKNOWN
        if is_env(unwrapped(inner)):
            return ((Hole(BINDING, name),),)
        if name in _NUMBERS:
            return PLAIN
        if text(inner) == "this":
            return self._field(module, node, name, frames)
        if name == "href":
            return self.follow(module, inner, frames)
        literal = self.literal(module, inner)
        if literal and literal.node.type == "enum_declaration":
            return PLAIN
        if literal and name in members(literal.node):
            return self.follow(literal.module, members(literal.node)[name], frames)
        return PLAIN if types.is_plain_member(self.program, module, unwrapped(inner), name) else UNKNOWN

    def _field(self, module: Module, node: Node, name: str, frames: Frames) -> Texts:
        around = module.surrounding(node, CLASSES)
        for each in children_of(child(around, "body"), "public_field_definition"):
            if key(each) != name:
                continue
            if types.is_plain(self.program, module, child(each, "type")):
                return PLAIN
            written = {text(child(one, "left")) for one in module.within("assignment_expression", around)}
            value = child(each, "value")
            return self.follow(module, value, frames) if value and f"this.{name}" not in written else UNKNOWN
        return UNKNOWN

    def _indexed(self, module: Module, node: Node, frames: Frames) -> Texts:
        inner, index = child(node, "object"), child(node, "index")
        if inner and is_env(unwrapped(inner)):
            name = string(index) if index else None
            return ((Hole(BINDING, name or ""),),)
        literal = self.literal(module, inner) if inner else None
        if literal is None or is_spread(literal.node) or literal.node.type == "enum_declaration":
            return UNKNOWN if literal is None or literal.node.type != "enum_declaration" else PLAIN
        found = self.lists.all(literal, frames)
        return either(*found) if found else UNKNOWN

    def returned(self, function: Place, frames: Frames) -> Texts:
        """Say what a function may give back."""
        found = [self.follow(function.module, each, frames) for each in returns(function)]
        return either(*found) if found else UNKNOWN
