"""Trees of modules, and small questions about their nodes.

tree-sitter parses both languages, every text, also a broken one, and in time that grows with the text. The grammar of
TSX reads JavaScript too; only TypeScript proper has casts that look like tags.
"""

import re
from collections.abc import Iterator
from typing import Final

import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

_TYPESCRIPT: Final = Language(tree_sitter_typescript.language_typescript())
_TSX: Final = Language(tree_sitter_typescript.language_tsx())
_PROPER: Final = (".ts", ".mts", ".cts")

FUNCTIONS: Final = frozenset(
    {
        "function_declaration", "function_expression", "arrow_function", "method_definition",
        "generator_function_declaration", "generator_function",
    }
)  # fmt: skip
CLASSES: Final = frozenset({"class_declaration", "abstract_class_declaration", "class"})
_WRAPPERS: Final = frozenset(
    {
        "parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression", "await_expression",
        "type_assertion",
    }
)  # fmt: skip
_ESCAPE: Final = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\n)|(.))", re.DOTALL)
_SPECIAL: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "f": "\f", "v": "\v"}


def parse(name: str, data: bytes) -> Node:
    """Parse a module and give the root of its tree."""
    language = _TYPESCRIPT if name.endswith(_PROPER) else _TSX
    return Parser(language).parse(data).root_node


def text(node: Node | None) -> str:
    """Return a node as it is written."""
    return (node.text or b"").decode("utf-8", "replace") if node else ""


def line(node: Node) -> int:
    """Return the line of a node, counted from 1."""
    return int(node.start_point[0]) + 1


def child(node: Node | None, field: str) -> Node | None:
    """Return the child in a field."""
    return node.child_by_field_name(field) if node else None


def children(node: Node | None) -> list[Node]:
    """Return the named children, without comments."""
    return [each for each in node.named_children if each.type != "comment"] if node else []


def unwrapped(node: Node) -> Node:
    """Return the expression inside brackets, casts and `await`."""
    while node.type in _WRAPPERS and (inner := children(node)):
        node = inner[-1] if node.type == "type_assertion" else inner[0]
    return node


def arguments(call: Node) -> list[Node]:
    """Return the arguments of a call; a tagged template has none."""
    found = child(call, "arguments")
    return children(found) if found and found.type == "arguments" else []


def callee(call: Node) -> Node | None:
    """Return what is called."""
    found = child(call, "function") or child(call, "constructor")
    return unwrapped(found) if found else None


def called(call: Node) -> str:
    """Return the last name of what is called: `exec` of `this.sandbox.exec(…)`."""
    found = callee(call)
    if found is None:
        return ""
    return text(child(found, "property")) if found.type == "member_expression" else text(found)


def receiver(call: Node) -> Node | None:
    """Return what stands before the dot of a call."""
    found = callee(call)
    inner = child(found, "object") if found and found.type == "member_expression" else None
    return unwrapped(inner) if inner else None


def string(node: Node) -> str | None:
    """Return the text of a literal string, or of a template without holes."""
    if node.type == "string" or (node.type == "template_string" and not children_of(node, "template_substitution")):
        return unescaped(text(node)[1:-1])
    return None


def unescaped(written: str) -> str:
    """Return the text that a literal stands for."""
    return _ESCAPE.sub(_escaped, written) if "\\" in written else written


def _escaped(match: re.Match[str]) -> str:
    number = match[1] or match[2] or match[3]
    if number:
        code = int(number, 16)
        return chr(code) if code <= 0x10FFFF else ""
    return "" if match[4] else _SPECIAL.get(match[5], match[5])


def children_of(node: Node | None, *kinds: str) -> list[Node]:
    """Return the children of some kinds."""
    return [each for each in node.named_children if each.type in kinds] if node else []


def walk(node: Node) -> Iterator[Node]:
    """Return a node and all below it, in the order of the text."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(reversed(each.named_children))


def key(node: Node) -> str:
    """Return the name of a member of an object, a class or a pattern."""
    found = child(node, "key") or child(node, "name") or (node if not node.named_child_count else None)
    if found is None:
        return ""
    return string(found) or text(found)


def members(node: Node) -> dict[str, Node]:
    """Return the members of an object literal by name: a shorthand stands for itself, a method is its function."""
    found: dict[str, Node] = {}
    for each in children(node) if node.type == "object" else ():
        if each.type == "pair" and (value := child(each, "value")):
            found[key(each)] = value
        elif each.type == "shorthand_property_identifier":
            found[text(each)] = each
        elif each.type == "method_definition":
            found[key(each)] = each
    return found


def is_spread(node: Node) -> bool:
    """Say whether an object literal takes over members of another."""
    return bool(children_of(node, "spread_element"))
