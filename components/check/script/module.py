"""One module: its nodes by kind, what each name in it stands for, what it imports and exports."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from tree_sitter import Node

from .syntax import CLASSES, FUNCTIONS, arguments, child, children, children_of, key, parse, string, text, unwrapped

_BLOCKS: Final = frozenset(
    {"statement_block", "program", "for_statement", "for_in_statement", "switch_body", "catch_clause", "class_body"}
)
_NAMED: Final = frozenset(
    {
        *CLASSES, "function_declaration", "generator_function_declaration", "enum_declaration",
        "type_alias_declaration", "interface_declaration",
    }
)  # fmt: skip
_EXPORTED: Final = frozenset({*_NAMED - {"type_alias_declaration", "interface_declaration"}})


@dataclass(frozen=True)
class Declared:
    """What a name stands for."""

    kind: str
    """`const`, `let`, `var`, `param`, `for`, `import`, `catch`; of functions, classes and types the node's own kind."""
    node: Node
    """The declarator, parameter, loop, import specifier, function …"""
    taken: str | None = None
    """The member that an object pattern takes out; empty if it is some part that cannot be told."""


class Module:
    """A parsed module."""

    def __init__(self, name: str, source: str) -> None:
        self.name, self.source = name, source
        self.root = parse(name, source.encode("utf-8", "replace"))
        self.parents: dict[int, Node] = {}
        self.kinds: defaultdict[str, list[Node]] = defaultdict(list)
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            self.kinds[node.type].append(node)
            below = node.named_children
            for each in below:
                self.parents[each.id] = node
            waiting.extend(reversed(below))

    def parent(self, node: Node) -> Node | None:
        """Return the node above."""
        return self.parents.get(node.id)

    def above(self, node: Node) -> Iterator[Node]:
        """Return every node above, the nearest first."""
        each = self.parents.get(node.id)
        while each is not None:
            yield each
            each = self.parents.get(each.id)

    def function(self, node: Node) -> Node | None:
        """Return the function around a node."""
        return next((each for each in self.above(node) if each.type in FUNCTIONS), None)

    def surrounding(self, node: Node, kinds: frozenset[str]) -> Node | None:
        """Return the nearest node above that is of some kind."""
        return next((each for each in self.above(node) if each.type in kinds), None)

    def within(self, kind: str, node: Node | None) -> Iterator[Node]:
        """Return the nodes of a kind in another, or in the module."""
        found = self.kinds.get(kind, [])
        if node is None:
            yield from found
            return
        for index in range(bisect_left(found, node.start_byte, key=_start), len(found)):
            if found[index].start_byte >= node.end_byte:
                return
            if found[index].end_byte <= node.end_byte:
                yield found[index]

    def declared(self, name: str, at: Node) -> Declared | None:
        """Return what a name stands for at a node."""
        scopes = self._scopes
        for each in (at, *self.above(at)):
            if (names := scopes.get(each.id)) and (found := names.get(name)):
                return found
        return None

    @cached_property
    def _scopes(self) -> dict[int, dict[str, Declared]]:
        found: defaultdict[int, dict[str, Declared]] = defaultdict(dict)
        for name, declared, scope in self._declarations():
            found[scope.id].setdefault(name, declared)
        return found

    def _declarations(self) -> Iterator[tuple[str, Declared, Node]]:
        yield from self._variables()
        yield from self._parameters()
        for kind in _NAMED:
            for node in self.kinds.get(kind, ()):
                if found := child(node, "name"):
                    yield text(found), Declared(kind, node), self._scope(node)
        for node in self.kinds.get("import_clause", ()):
            for each in children(node):
                yield from ((name, Declared("import", one), self.root) for name, one in _imported(each))

    def _variables(self) -> Iterator[tuple[str, Declared, Node]]:
        for node in self.kinds.get("variable_declarator", ()):
            kind = _word(self.parents[node.id])
            scope = self._scope(node, hoisted=kind == "var")
            yield from ((name, Declared(kind, node, taken), scope) for name, taken in _names(child(node, "name")))
        for node in self.kinds.get("for_in_statement", ()):
            yield from ((name, Declared("for", node, taken), node) for name, taken in _names(child(node, "left")))
        for node in self.kinds.get("catch_clause", ()):
            yield from ((name, Declared("catch", node), node) for name, _ in _names(child(node, "parameter")))

    def _parameters(self) -> Iterator[tuple[str, Declared, Node]]:
        for kind in FUNCTIONS:
            for node in self.kinds.get(kind, ()):
                for each in parameters(node):
                    pattern = child(each, "pattern") or each
                    yield from ((name, Declared("param", each, taken), node) for name, taken in _names(pattern))

    def _scope(self, node: Node, *, hoisted: bool = False) -> Node:
        kinds = FUNCTIONS | {"program"} if hoisted else _BLOCKS | FUNCTIONS
        return self.surrounding(node, frozenset(kinds)) or self.root

    def import_of(self, declared: Declared) -> tuple[str, str]:
        """Return the module that an import names, and the name there: `default`, or `*` for all of it."""
        statement = self.surrounding(declared.node, frozenset({"import_statement"}))
        source = child(statement, "source")
        kinds = {"identifier": "default", "namespace_import": "*"}
        name = kinds.get(declared.node.type) or text(child(declared.node, "name"))
        return (string(source) or "" if source else ""), name

    @cached_property
    def exports(self) -> dict[str, Node]:
        """What the module exports, each with the node that says it; `*` stands for what it takes over from another."""
        found: dict[str, Node] = {}
        for node in self.kinds.get("export_statement", ()):
            found.update(_exports(node))
        return found

    def exported(self, name: str) -> Declared | None:
        """Return what an exported name stands for in this module."""
        said = self.exports.get(name)
        if said is None:
            return None
        if said.type == "export_specifier":
            return None if child(self.parents[self.parents[said.id].id], "source") else self._own(child(said, "name"))
        value = child(said, "value")
        if value is not None:
            value = unwrapped(value)
            return self._own(value) if value.type == "identifier" else Declared(value.type, value)
        return self._scopes[self.root.id].get(name) or self._default(said)

    def _own(self, name: Node | None) -> Declared | None:
        return self._scopes[self.root.id].get(text(name))

    @staticmethod
    def _default(said: Node) -> Declared | None:
        inner = child(said, "declaration")
        return Declared(inner.type, inner) if inner else None

    def taken_over(self, name: str) -> tuple[str, str] | None:
        """Return module and name of an export that only passes another module's on."""
        said = self.exports.get(name)
        if said is None or said.type != "export_specifier":
            return None
        source = child(self.parents[self.parents[said.id].id], "source")
        return (string(source) or "", text(child(said, "name"))) if source else None


def _start(node: Node) -> int:
    return int(node.start_byte)


def parameters(function: Node) -> list[Node]:
    """Return the parameters of a function."""
    single = child(function, "parameter")
    return [single] if single else children(child(function, "parameters"))


def _word(node: Node) -> str:
    return text(child(node, "kind")) or "var"


def _names(pattern: Node | None, taken: str | None = None) -> Iterator[tuple[str, str | None]]:
    """Return the names that a pattern binds, each with the member it takes."""
    waiting = [(pattern, taken)] if pattern else []
    while waiting:
        node, path = waiting.pop()
        if node.type in {"identifier", "shorthand_property_identifier_pattern"}:
            own = text(node) if node.type.startswith("shorthand") and path is None else path
            yield text(node), own
        elif node.type == "object_pattern":
            waiting += [(each, "" if path is not None else None) for each in children(node)]
        elif node.type == "pair_pattern" and (value := child(node, "value")):
            waiting.append((value, key(node) if path is None else ""))
        elif node.type in {"assignment_pattern", "object_assignment_pattern"} and (left := child(node, "left")):
            waiting.append((left, path))
        elif node.type in {"array_pattern", "rest_pattern"}:
            waiting += [(each, "") for each in children(node)]


def _imported(node: Node) -> Iterator[tuple[str, Node]]:
    if node.type == "identifier":
        yield text(node), node
    elif node.type == "namespace_import":
        yield text(children(node)[0]) if children(node) else "", node
    for each in children_of(node, "import_specifier"):
        yield text(child(each, "alias") or child(each, "name")), each


def _exports(node: Node) -> Iterator[tuple[str, Node]]:
    said = child(node, "declaration")
    words = _plain_words(node)
    if "default" in words:
        yield "default", node
    elif said is not None and said.type in {"lexical_declaration", "variable_declaration"}:
        for each in children_of(said, "variable_declarator"):
            yield from ((name, node) for name, _ in _names(child(each, "name")))
    elif said is not None and said.type in _EXPORTED:
        yield text(child(said, "name")), node
    if "*" in words:
        yield "*", node
    for each in children_of(node, "namespace_export"):
        yield text(children(each)[0]) if children(each) else "*", each
    for clause in children_of(node, "export_clause") if "type" not in words else ():
        for each in children_of(clause, "export_specifier"):
            if "type" not in _plain_words(each):
                yield text(child(each, "alias") or child(each, "name")), each


def _plain_words(node: Node) -> set[str]:
    """Return the words and signs of a node that are no names."""
    return {text(each) for each in node.children if not each.is_named}


def requires(module: Module) -> Iterator[tuple[Node, str]]:
    """Return the calls of `require` and `import` with the module each names."""
    for call in module.kinds.get("call_expression", ()):
        if text(child(call, "function")) in {"require", "import"} and (given := arguments(call)):
            yield call, string(given[0]) or ""
