"""What types say about values: whether they can hold anything but numbers, truth values and texts of a fixed list."""

from typing import Final

from tree_sitter import Node

from .module import Module
from .program import Program
from .syntax import child, children, key, text

_PLAIN: Final = frozenset({"number", "boolean", "bigint", "undefined", "null", "Date"})
_DEEPEST: Final = 6


def is_plain(  # noqa: PLR0911 - one answer for each kind
    program: Program, module: Module, kind: Node | None, depth: int = 0
) -> bool:
    """Say whether a type is of numbers, truth values, or texts that it lists."""
    if kind is None or depth > _DEEPEST:
        return False
    if kind.type in {"type_annotation", "parenthesized_type"}:
        inner = children(kind)
        return bool(inner) and is_plain(program, module, inner[0], depth + 1)
    if kind.type == "union_type":
        return all(is_plain(program, module, each, depth + 1) for each in children(kind))
    if kind.type == "literal_type":
        return True
    if kind.type == "type_identifier":
        found = program.resolved(module, text(kind), kind)
        if found and found[1].node.type == "enum_declaration":
            return True
        return found is not None and is_plain(program, found[0], child(found[1].node, "value"), depth + 1)
    return kind.type == "predefined_type" and text(kind) in _PLAIN


def member(program: Program, module: Module, kind: Node | None, name: str) -> Node | None:
    """Return the type of a member of an object type or an interface of the program."""
    if kind is not None and kind.type == "type_annotation":
        kind = next(iter(children(kind)), None)
    if kind is not None and kind.type == "type_identifier":
        found = program.resolved(module, text(kind), kind)
        kind = (child(found[1].node, "value") or child(found[1].node, "body")) if found else None
    for each in children(kind) if kind is not None and kind.type in {"object_type", "interface_body"} else ():
        if each.type == "property_signature" and key(each) == name:
            return child(each, "type")
    return None


def is_plain_member(program: Program, module: Module, owner: Node, name: str) -> bool:
    """Say whether the declared type of a variable makes one of its members plain."""
    found = program.resolved(module, text(owner), owner) if owner.type == "identifier" else None
    if found is None or found[1].taken is not None:
        return False
    kind = child(found[1].node, "type")
    return is_plain(program, found[0], member(program, found[0], kind, name))
