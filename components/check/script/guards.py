"""What makes a value safe to put into a command: quoting, taking characters out, tests that only known values pass."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from .module import Module
from .program import Place, Program
from .syntax import arguments, called, child, receiver, text, unwrapped

QUOTING: Final = re.compile(r"quote|escape|sanitiz|sanitis|shellarg|slugif", re.IGNORECASE)
"""Names of functions that make a text safe."""
_TESTS: Final = frozenset({"test", "includes", "has", "match", "exec"})
_NAMED: Final = re.compile(r"valid|safe|allowed|known|permitted|supported", re.IGNORECASE)
_DEMANDS: Final = re.compile(r"^(?:assert|ensure|validate|require)[A-Z_]?", re.IGNORECASE)
_LEAVES: Final = re.compile(rb"\b(?:return|throw|continue)\b")


def removes(pattern: str, put: str) -> bool:
    """Say whether replacing a pattern leaves only characters from a list, or quotes what would end a quotation."""
    everywhere = pattern.rpartition("/")[2]
    quoting = "'" in pattern or '"' in pattern
    return "g" in everywhere and ("[^" in pattern or "\\W" in pattern or (quoting and ("\\" in put or "'" in put)))


def quotes(function: Place) -> bool:
    """Say whether a function gives its text back quoted."""
    for call in function.module.within("call_expression", function.node):
        given = arguments(call)
        if called(call) in {"replace", "replaceAll"} and len(given) > 1:
            pattern = text(given[0]) if given[0].type == "regex" else f"{text(given[0])[1:-1]}/g"
            if removes(pattern if pattern.startswith("/") else f"/{pattern}", text(given[1])):
                return True
    return False


def is_validated(program: Program, module: Module, node: Node) -> bool:
    """Say whether a value was tested before: by a whole pattern, against a list, or by a function that says so."""
    if node.type not in {"identifier", "member_expression"}:
        return False
    function, name = module.function(node), text(node)
    for call in module.within("call_expression", function) if function else ():
        if call.start_byte >= node.start_byte or name not in {text(unwrapped(each)) for each in arguments(call)}:
            continue
        if _is_test(program, module, call, name) and _decides(module, call, node):
            return True
    return False


def _is_test(program: Program, module: Module, call: Node, name: str) -> bool:
    tested = called(call)
    if tested not in _TESTS:
        return bool(_NAMED.search(tested) or _DEMANDS.match(tested))
    inner = receiver(call)
    if inner is None or text(inner) == name:
        return False
    pattern = inner
    if inner.type == "identifier":
        found = program.resolved(module, text(inner), inner)
        value = child(found[1].node, "value") if found else None
        pattern = unwrapped(value) if value else inner
    written = text(pattern)
    return pattern.type != "regex" or (written.startswith("/^") and "$/" in written)


def _decides(module: Module, call: Node, node: Node) -> bool:
    """Say whether what follows runs only if a test passed: the code leaves otherwise, or is inside the branch."""
    for each in _conditions(module, call):
        body = child(each, "consequence")
        inside = body is not None and body.start_byte <= node.start_byte < body.end_byte
        if inside or (body is not None and _LEAVES.search(body.text or b"")):
            return True
    above = module.parent(call)
    return above is not None and above.type == "expression_statement"


def _conditions(module: Module, call: Node) -> Iterator[Node]:
    for each in module.above(call):
        if each.type in {"statement_block", "arrow_function"}:
            return
        if each.type in {"if_statement", "ternary_expression"}:
            yield each
