"""Which expressions are sandboxes or sessions of them: by how they were got, by their type, or else by their name."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from .module import Declared, Module
from .program import Program
from .results import returns
from .syntax import CLASSES, called, callee, child, children_of, key, receiver, text, unwrapped
from .values import is_env

_GETTERS: Final = frozenset({"getSandbox", "createSession", "getSession"})
_TYPES: Final = re.compile(r"\b(?:Sandbox|ISandbox|ExecutionSession)\b")
_LOOKS: Final = re.compile(r"sandbox[0-9]*$|^sbx$", re.IGNORECASE)
"""A manager of sandboxes, or a list of them, is none."""
_OTHER: Final = frozenset({"regex", "string", "template_string", "number", "array", "object", "new_expression"})
"""Values that no sandbox is."""
_FURTHEST: Final = 6


def is_sandbox(  # noqa: PLR0911 - one answer for each kind
    program: Program, module: Module, node: Node, depth: int = 0
) -> bool:
    """Say whether an expression is a sandbox or a session."""
    node = unwrapped(node)
    if depth > _FURTHEST:
        return False
    if node.type == "identifier":
        return _is_named(program, module, node, depth)
    if node.type == "this":
        return _is_sandbox_class(program, module, module.surrounding(node, CLASSES))
    if node.type == "member_expression":
        inner, name = child(node, "object"), text(child(node, "property"))
        if inner is not None and is_env(unwrapped(inner)):
            return False  # a binding, such as another Worker's
        return bool(_LOOKS.search(name)) or _is_field(program, module, node, name, depth)
    if node.type == "call_expression":
        return _is_got(program, module, node, depth)
    return False


def _is_named(program: Program, module: Module, node: Node, depth: int) -> bool:
    name = text(node)
    found = program.resolved(module, name, node)
    if found is None:
        return bool(_LOOKS.search(name))
    home, declared = found
    kind = child(declared.node, "type")
    if kind is not None and declared.taken is None:
        return bool(_TYPES.search(text(kind))) or (declared.kind == "param" and bool(_LOOKS.search(name)))
    value = child(declared.node, "value") if declared.node.type == "variable_declarator" else None
    if value is None or declared.taken is not None:
        return bool(_LOOKS.search(name)) or _is_written(program, home, declared, name, depth)
    value = unwrapped(value)
    if value.type in _OTHER or _is_anothers(value):
        return False
    return is_sandbox(program, home, value, depth + 1) or bool(_LOOKS.search(name))


def _is_anothers(value: Node) -> bool:
    """Say whether a value is a binding of the Worker, or a sandbox that a class of another vendor makes."""
    if value.type == "member_expression":
        return is_env(child(value, "object"))
    return value.type == "call_expression" and text(receiver(value)).endswith("Sandbox") and called(value) != "get"


def _is_written(program: Program, module: Module, declared: Declared, name: str, depth: int) -> bool:
    """Say whether a variable without a value gets a sandbox later."""
    for each in module.within("assignment_expression", module.function(declared.node)):
        right = child(each, "right")
        if text(child(each, "left")) == name and right and is_sandbox(program, module, right, depth + 1):
            return True
    return False


def _is_field(program: Program, module: Module, node: Node, name: str, depth: int) -> bool:
    around = module.surrounding(node, CLASSES) if text(child(node, "object")) == "this" else None
    for each in children_of(child(around, "body"), "public_field_definition"):
        if key(each) == name:
            value, kind = child(each, "value"), child(each, "type")
            return bool(kind and _TYPES.search(text(kind))) or bool(
                value and is_sandbox(program, module, value, depth + 1)
            )
    return False


def _is_got(program: Program, module: Module, call: Node, depth: int) -> bool:
    if called(call) in _GETTERS:
        return called(call) == "getSandbox" or receiver(call) is not None
    target = callee(call)
    function = program.function(module, target) if target else None
    if function is None:
        return False
    declared = child(function.node, "return_type")
    if declared is not None:
        return bool(_TYPES.search(text(declared)))
    return any(is_sandbox(program, function.module, each, depth + 1) for each in returns(function))


def _is_sandbox_class(program: Program, module: Module, around: Node | None, depth: int = 0) -> bool:
    """Say whether a class extends the SDK's, by itself or through others of the program."""
    heritage = next(iter(children_of(around, "class_heritage")), None)
    clause = next(iter(children_of(heritage, "extends_clause")), None)
    parent = child(clause, "value")
    if parent is None or depth > _FURTHEST:
        return False
    found = program.resolved(module, text(parent), parent)
    if found is None:
        return text(parent) == "Sandbox"
    home, declared = found
    if declared.kind == "import":
        return home.import_of(declared)[1] == "Sandbox"
    return declared.node.type in CLASSES and _is_sandbox_class(program, home, declared.node, depth + 1)


def own_methods(program: Program, module: Module) -> Iterator[str]:
    """Return the names of methods that classes of the module add to a sandbox."""
    for each in module.kinds.get("method_definition", ()):
        if _is_sandbox_class(program, module, module.surrounding(each, CLASSES)):
            yield key(each)
