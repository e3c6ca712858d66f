"""Words of the SDK that a module uses: fields of a subclass, functions, options."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from .module import Module, requires
from .syntax import called, child, key, line, receiver, string, text

_FIELDS: Final = frozenset({"outbound", "outboundByHost", "outboundHandlers", "allowedHosts", "deniedHosts"})
_NAMES: Final = frozenset({"proxyToSandbox", "sleepAfter", "keepAlive", "createBackup", "restoreBackup"})
_OPTIONS: Final = {"credentialProxy": "true", "transport": ""}
_PARTS: Final = (
    "outbound", "edHosts", "credentialProxy", "proxyToSandbox", "sleepAfter", "keepAlive", "Backup", "tunnels",
    "transport",
)  # fmt: skip
"""A part of every such word, to look for before the slower search."""
_CLASS: Final = re.compile(r"[A-Z]\w*")
Use = tuple[str, int]


def words(module: Module) -> list[Use]:
    """Return every word that is used, with its line, in the order of the text."""
    if not any(part in module.source for part in _PARTS):
        return []
    found = [*_fields(module), *_options(module), *_names(module), *_tunnels(module)]
    return [(word, line(node)) for word, node in sorted(found, key=lambda each: each[1].start_byte)]


def _fields(module: Module) -> Iterator[tuple[str, Node]]:
    for node in module.kinds.get("public_field_definition", ()):
        if key(node) in _FIELDS and child(node, "value"):
            yield key(node), node
    for node in module.kinds.get("assignment_expression", ()):
        left = child(node, "left")
        name, owner = text(child(left, "property")), text(child(left, "object"))
        if name in _FIELDS and (owner == "this" or (name.startswith("outbound") and _CLASS.fullmatch(owner))):
            yield name, node


def _options(module: Module) -> Iterator[tuple[str, Node]]:
    for node in module.kinds.get("pair", ()):
        wanted = _OPTIONS.get(key(node))
        if wanted is not None and (not wanted or text(child(node, "value")) == wanted):
            yield key(node), node


def _names(module: Module) -> Iterator[tuple[str, Node]]:
    taken = {node.id for call, _ in requires(module) for node in _pattern(module, call)}
    kinds = ("identifier", "property_identifier", "shorthand_property_identifier")
    for kind in (*kinds, "shorthand_property_identifier_pattern"):
        for node in module.kinds.get(kind, ()):
            if text(node) in _NAMES and node.id not in taken and not _is_passed_on(module, node):
                yield text(node), node


def _pattern(module: Module, call: Node) -> Iterator[Node]:
    """Return the names that a declaration takes from a module without renaming them."""
    declarator = module.surrounding(call, frozenset({"variable_declarator", "statement_block"}))
    yield from module.within("shorthand_property_identifier_pattern", child(declarator, "name") or call)


def _is_passed_on(module: Module, node: Node) -> bool:
    """Say whether a name stands only in the list of an import or export; renamed, it counts as used."""
    above = module.parent(node)
    listed = above is not None and above.type in {"import_specifier", "export_specifier"}
    if not listed or above is None:
        return False
    return above.type == "export_specifier" or child(above, "alias") is None


def _tunnels(module: Module) -> Iterator[tuple[str, Node]]:
    for call in module.kinds.get("call_expression", ()):
        inner = receiver(call) if called(call) in {"get", "list", "destroy"} else None
        if inner is not None and inner.type == "member_expression" and text(child(inner, "property")) == "tunnels":
            owner = text(child(inner, "object"))
            if not owner.endswith("zeroTrust"):
                yield "tunnels", inner


def bridge(module: Module, package: str) -> int | None:
    """Return the line on which the bridge is imported."""
    for node in (*module.kinds.get("import_statement", ()), *module.kinds.get("export_statement", ())):
        source = child(node, "source")
        if source is not None and string(source) == package:
            return line(node)
    return next((line(call) for call, source in requires(module) if source == package), None)
