"""All modules of a Worker together: names are followed from one to the next, and functions to where they are called."""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from tree_sitter import Node

from .module import Declared, Module
from .syntax import CLASSES, FUNCTIONS, called, callee, child, children_of, key, receiver, text, unwrapped

_FURTHEST: Final = 8
"""How many modules a name is passed on through."""


class Place(NamedTuple):
    """A node and its module."""

    module: Module
    node: Node

    @property
    def mark(self) -> tuple[str, int]:
        """What tells it from all others."""
        return self.module.name, self.node.id


class Program:
    """The modules of a Worker; each is parsed when it is first asked for."""

    def __init__(self, texts: Mapping[Path, str], resolve: Callable[[Path, str], Path | None]) -> None:
        self.texts, self._resolve = texts, resolve
        self._modules: dict[Path, Module] = {}
        self._paths: dict[str, Path] = {str(path): path for path in texts}
        self.callers = lru_cache(maxsize=None)(self._callers)

    def module(self, path: Path) -> Module:
        """Return a module."""
        if path not in self._modules:
            self._modules[path] = Module(str(path), self.texts[path])
        return self._modules[path]

    def mentioning(self, word: str) -> Iterator[Module]:
        """Return the modules in whose text a word stands."""
        return (self.module(path) for path, source in self.texts.items() if word in source)

    def resolved(self, module: Module, name: str, at: Node) -> tuple[Module, Declared] | None:
        """Return what a name stands for, in whichever module it is declared; imports of packages stay imports."""
        declared = module.declared(name, at)
        for _ in range(_FURTHEST):
            if declared is None or declared.kind != "import":
                break
            found = self._exported(module, *module.import_of(declared))
            if found is None:
                break
            module, declared = found
        return (module, declared) if declared else None

    def _exported(self, module: Module, source: str, name: str) -> tuple[Module, Declared] | None:
        for _ in range(_FURTHEST):
            path = self._resolve(self._paths[module.name], source) if source.startswith(".") else None
            if path not in self.texts or path is None:
                return None
            module = self.module(path)
            if declared := module.exported(name):
                return module, declared
            passed = module.taken_over(name) or self._star(module, name)
            if passed is None:
                return None
            source, name = passed
        return None

    def _star(self, module: Module, name: str) -> tuple[str, str] | None:
        for node in module.kinds.get("export_statement", ()):
            source = child(node, "source")
            named = source and not children_of(node, "export_clause", "namespace_export")
            if named and self._exported(module, text(source)[1:-1], name):
                return text(source)[1:-1], name
        return None

    def function(self, module: Module, node: Node) -> Place | None:
        """Return the function that an expression names: by a name, as a method of `this`, or by itself."""
        node = unwrapped(node)
        if node.type in FUNCTIONS:
            return Place(module, node)
        if node.type == "identifier":
            found = self.resolved(module, text(node), node)
            return self._declared_function(*found) if found else None
        if node.type == "member_expression" and text(child(node, "object")) == "this":
            return self._method(module, node)
        return None

    def _declared_function(self, module: Module, declared: Declared) -> Place | None:
        if declared.node.type in FUNCTIONS:
            return Place(module, declared.node)
        value = child(declared.node, "value") if declared.taken is None else None
        value = unwrapped(value) if value else None
        return Place(module, value) if value and value.type in FUNCTIONS else None

    @staticmethod
    def _method(module: Module, node: Node) -> Place | None:
        around = module.surrounding(node, CLASSES)
        name = text(child(node, "property"))
        for each in children_of(child(around, "body"), "method_definition", "public_field_definition"):
            if key(each) == name:
                value = each if each.type == "method_definition" else child(each, "value")
                return Place(module, value) if value and value.type in FUNCTIONS else None
        return None

    def name_of(self, place: Place) -> str:
        """Return the name under which a function is known; empty if it has none."""
        node, above = place.node, place.module.parent(place.node)
        if child(node, "name"):
            return key(node)
        if above is not None and above.type in {"variable_declarator", "pair", "public_field_definition"}:
            return key(above)
        return ""

    def _callers(self, place: Place) -> tuple[Place, ...]:
        """Return every call of a function that can be seen."""
        name = self.name_of(place)
        return tuple(self._calls_of(place, name)) if name else ()

    def _calls_of(self, place: Place, name: str) -> Iterator[Place]:
        above = place.module.parent(place.node)
        member = place.node.type == "method_definition" or (above is not None and above.type != "variable_declarator")
        member = member and place.node.type not in {"function_declaration", "generator_function_declaration"}
        for module in self.mentioning(name):
            for call in module.kinds.get("call_expression", ()):
                if member:
                    inner = receiver(call)
                    own = inner is None or text(inner) != "this" or self.function(module, callee(call) or call) == place
                    if called(call) == name and inner is not None and own:
                        yield Place(module, call)
                    continue
                target = callee(call)
                if target is not None and target.type == "identifier" and self.function(module, target) == place:
                    yield Place(module, call)

    def references(self, place: Place) -> Iterator[Place]:
        """Return the places that name a function without calling it, such as a list of routes."""
        name = self.name_of(place)
        for module in self.mentioning(name) if name else ():
            for node in (*module.kinds.get("identifier", ()), *module.kinds.get("shorthand_property_identifier", ())):
                above = module.parent(node)
                if text(node) != name or above is None or above.type == "call_expression":
                    continue
                found = self.resolved(module, name, node)
                if found and self._declared_function(*found) == place and child(above, "name") != node:
                    yield Place(module, node)
