"""How requests reach a place in the code: past a check of the caller or not, and what they do there afterwards.

A check is a call, a header or an answer that has to do with who calls. It counts for what it stands before on every
way from the handler of requests; a function that can be seen is judged by what it does, not by its name.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from tree_sitter import Node

from .module import Module
from .program import Place, Program
from .sandboxes import is_sandbox
from .syntax import CLASSES, FUNCTIONS, arguments, called, callee, child, children_of, key, receiver, string, text
from .values import is_env

_CHECKS: Final = re.compile(
    r"auth(?!or(?!i[sz]))|verif|jwt|bearer|signature|hmac|timing_?safe|api_?key|permission|access|login|identity|guard"
    r"|protect|tenant|principal|credential|session|user|turnstile|clerk|token|signed",
    re.IGNORECASE,
)
_OTHERWISE: Final = re.compile(
    r"sandbox|container|workspace|generate|create|count|revoke|issue|mint|agent|log$|destroy|delete|stream",
    re.IGNORECASE,
)
_HEADERS: Final = re.compile(
    r"authorization|api-?key|cf-access|signature|auth-|-auth|-token|cookie|-secret|webhook-", re.IGNORECASE
)
_SET_BEFORE: Final = re.compile(r"user|session|auth|jwt|tenant|account|identity|principal|claims", re.IGNORECASE)
_ROUTES: Final = frozenset({"get", "post", "put", "patch", "delete", "all", "on", "use", "options", "openapi"})
_ROUTER: Final = re.compile(r"Hono|Router|Elysia", re.IGNORECASE)
_UNATTENDED: Final = frozenset({"scheduled", "queue", "email", "alarm", "tail"})
_LOOPS: Final = frozenset({"for_statement", "for_in_statement", "while_statement", "do_statement"})
_USES: Final = frozenset(
    {
        "exec", "execStream", "startProcess", "runCode", "runCodeStream", "readFile", "readFileStream", "listFiles",
        "createBackup", "exposePort", "containerFetch", "wsConnect", "terminal", "renameFile", "moveFile", "exists",
    }
)  # fmt: skip
_DEEPEST: Final = 12


class Requests:
    """Follows requests through a program, whose entry module is given."""

    def __init__(self, program: Program, entry: Module) -> None:
        self.program, self.entry = program, entry
        self._checks = lru_cache(maxsize=None)(self._checks_in)
        self._found = lru_cache(maxsize=None)(self._checks_of)
        self._uses = lru_cache(maxsize=None)(self._uses_of)

    def is_open(self, place: Place) -> bool:
        """Say whether a request reaches a place without a check of the caller."""
        return self._is_open(place, frozenset())

    def is_unattended(self, place: Place, depth: int = 0) -> bool:
        """Say whether every way to a place begins with a schedule, a queue or the like."""
        function = place.module.function(place.node)
        if function is None or depth > _DEEPEST:
            return False
        here = Place(place.module, function)
        name = self.program.name_of(here)
        if name in _UNATTENDED:
            return True
        callers = self.program.callers(here) if name else (here,)
        return bool(callers) and all(self.is_unattended(each, depth + 1) for each in callers)

    def _is_open(self, place: Place, seen: frozenset[tuple[str, int]]) -> bool:
        if place.mark in seen or len(seen) > _DEEPEST:
            return False
        seen |= {place.mark}
        module, node = place
        function = module.function(node)
        if function is None or self._is_checked(module, node, function):
            return False
        route = self._route(module, function)
        if route is not None:
            return not self._is_guarded(module, route, function)
        return self._handles(module, function) or self._is_called_openly(Place(module, function), seen)

    def _is_called_openly(self, function: Place, seen: frozenset[tuple[str, int]]) -> bool:
        """Say whether a request that nobody checked reaches a function: where it is called, named, or written."""
        if any(self._is_open(each, seen) for each in self.program.callers(function)):
            return True
        if any(self._is_served(each) for each in self.program.references(function)):
            return True
        return not self.program.name_of(function) and self._is_open(function, seen)

    def _is_served(self, place: Place) -> bool:
        """Say whether naming a function here makes it the handler of requests that nobody checked."""
        module, node = place
        above = module.parent(node)
        if above is not None and above.type == "arguments":
            call = module.parent(above)
            route = call is not None and self._is_route(module, call)
            return bool(route) and call is not None and not self._is_guarded(module, call, node)
        member = node.type == "shorthand_property_identifier" or (above is not None and above.type == "pair")
        name = text(node) if node.type == "shorthand_property_identifier" else key(above) if above else ""
        return member and name == "fetch" and self._is_default(module, node)

    def _handles(self, module: Module, function: Node) -> bool:
        """Say whether a function is the handler of requests of the Worker."""
        above = module.parent(function)
        name = key(function) if child(function, "name") else key(above) if above and above.type == "pair" else ""
        return name == "fetch" and self._is_default(module, function)

    def _is_default(self, module: Module, node: Node) -> bool:
        """Say whether a member belongs to what the entry module exports by default."""
        if module is not self.entry:
            return False
        around = module.surrounding(node, frozenset({"object", *CLASSES}))
        declared = module.exported("default")
        if around is None or declared is None:
            return False
        value = declared.node if declared.node.type != "variable_declarator" else child(declared.node, "value")
        return value is not None and value.start_byte <= around.start_byte and around.end_byte <= value.end_byte

    def _route(self, module: Module, function: Node) -> Node | None:
        above = module.parent(function)
        call = module.parent(above) if above is not None and above.type == "arguments" else None
        return call if call is not None and self._is_route(module, call) else None

    def _is_route(self, module: Module, call: Node) -> bool:
        inner = receiver(call)
        return called(call) in _ROUTES and inner is not None and self._router(module, inner) is not None

    def _router(self, module: Module, node: Node) -> Node | None:
        """Return what makes the router on which a route is declared."""
        for _ in range(200):
            if node.type in {"call_expression", "new_expression"}:
                inner = receiver(node) if node.type == "call_expression" else None
                if inner is None:
                    return node if _ROUTER.search(text(callee(node))) else None
                node = inner
            elif node.type == "identifier":
                found = self.program.resolved(module, text(node), node)
                value = child(found[1].node, "value") if found else None
                if found is None or value is None:
                    kind = text(child(found[1].node, "type")) if found else ""
                    return node if _ROUTER.search(kind or text(node)) else None
                module, node = found[0], value
            else:
                return None
        return None

    def _is_guarded(self, module: Module, route: Node, handler: Node) -> bool:
        """Say whether something checks callers of a route before its handler runs."""
        given = arguments(route)
        path = string(given[0]) if given else None
        before = [each for each in given if each != handler and each.start_byte < handler.start_byte]
        if any(self._is_check(module, each) for each in before if string(each) is None):
            return True
        router = self._router(module, receiver(route) or route)
        options = next((each for each in children_of(router, "arguments")), None)
        if options is not None and any(_CHECKS.search(text(each)) for each in arguments(router or route)):
            return True
        return any(self._guards(home, call, router, path) for home, call in self._middlewares())

    def _middlewares(self) -> Iterator[tuple[Module, Node]]:
        for word in (".use(", ".all("):
            for module in self.program.mentioning(word):
                for call in module.kinds.get("call_expression", ()):
                    if f".{called(call)}(" == word and self._is_route(module, call):
                        yield module, call

    def _guards(self, module: Module, call: Node, router: Node | None, path: str | None) -> bool:
        given = arguments(call)
        where = string(given[0]) if given else None
        if not any(self._is_check(module, each) for each in given if string(each) is None):
            return False
        same = self._router(module, receiver(call) or call) == router
        if not same or where is None or path is None:
            return True
        return path.startswith(where.rstrip("*").rstrip("/") or "")

    def _is_check(self, module: Module, node: Node) -> bool:
        """Say whether a middleware checks the caller."""
        target = callee(node) if node.type == "call_expression" else node
        function = self.program.function(module, target) if target else None
        if function is not None:
            return bool(self._checks(function))
        return bool(_CHECKS.search(text(target))) and not _OTHERWISE.search(text(target))

    def _is_checked(self, module: Module, node: Node, function: Node | None) -> bool:
        """Say whether a check stands before a node in its function, or in its arguments, on every way to it."""
        for each in self._found(module, function):
            if each.start_byte < node.end_byte and _reaches(module, each, node, function):
                return True
        return False

    def _checks_of(self, module: Module, function: Node | None) -> tuple[Node, ...]:
        """Return all checks in a function: by itself, and by functions of the program that it calls."""
        found = list(evidence(module, function))
        for call in module.within("call_expression", function):
            target = callee(call)
            known = self.program.function(module, target) if target else None
            if known is not None and known.node != function and self._checks(known):
                found.append(call)
        return tuple(found)

    def _checks_in(self, function: Place, depth: int = 0) -> bool:
        """Say whether a function, or one that it calls, checks the caller."""
        if any(True for _ in evidence(function.module, function.node)):
            return True
        for call in function.module.within("call_expression", function.node) if depth < 4 else ():
            target = callee(call)
            if target is None:
                continue
            known = self.program.function(function.module, target)
            if known is not None:
                if known != function and self._checks_in(known, depth + 1):
                    return True
            elif _is_named_check(call):
                return True
        return False

    def is_followed(self, place: Place) -> bool:
        """Say whether the same request uses the sandbox after a place."""
        return self._is_followed(place, frozenset())

    def _is_followed(self, place: Place, seen: frozenset[tuple[str, int]]) -> bool:
        if place.mark in seen or len(seen) > _DEEPEST:
            return False
        seen |= {place.mark}
        module, node = place
        function = module.function(node)
        if any(True for _ in self._after(module, node, function)):
            return True
        if function is None:
            return False
        here = Place(module, function)
        if self.program.name_of(here) and self._route(module, function) is None:
            return any(self._is_followed(each, seen) for each in self.program.callers(here))
        return self._route(module, function) is None and self._is_followed(here, seen)

    def _after(self, module: Module, node: Node, function: Node | None) -> Iterator[Node]:
        """Return the uses of a sandbox behind a node in its function; in a loop, all of the loop's."""
        loop = module.surrounding(node, frozenset({*_LOOPS, *FUNCTIONS}))
        start = loop.start_byte if loop is not None and loop.type in _LOOPS else node.end_byte
        for each in reversed(self._uses(module, function)):
            if each.start_byte < start:
                return
            if not (each.start_byte <= node.start_byte and node.end_byte <= each.end_byte):
                yield each

    def _uses_of(self, module: Module, function: Node | None) -> tuple[Node, ...]:
        calls = (*module.within("call_expression", function), *module.within("new_expression", function))
        return tuple(sorted((each for each in calls if self._is_use(module, each)), key=lambda each: each.start_byte))

    def _is_use(self, module: Module, call: Node) -> bool:
        inner = receiver(call)
        if called(call) in _USES and inner is not None and is_sandbox(self.program, module, inner):
            return True
        return any(is_sandbox(self.program, module, each) for each in arguments(call) if each.type == "identifier")


def evidence(module: Module, function: Node | None) -> Iterator[Node]:
    """Return what in a function has to do with who calls; functions that can be seen are judged by what they do."""
    for each in module.within("string", function):
        if _HEADERS.search(text(each)) and len(text(each)) < 60:
            yield each
    for each in module.within("number", function):
        if text(each) in {"401", "403"}:
            yield module.surrounding(each, frozenset({"if_statement"})) or each
    for call in module.within("call_expression", function):
        if _is_named_check(call) and not _is_seen(module, call):
            yield call
    for each in module.within("member_expression", function):
        name = text(child(each, "property"))
        if is_env(child(each, "object")) and _CHECKS.search(name) and _is_compared(module, each):
            yield each


def _is_named_check(call: Node) -> bool:
    name, given, inner = called(call), arguments(call), receiver(call)
    if name == "get" and inner is not None and text(inner) in {"c", "ctx", "context"} and given:
        return bool(_SET_BEFORE.search(string(given[0]) or ""))
    whole = f"{text(inner)}.{name}" if inner is not None and inner.type == "identifier" else name
    return bool(_CHECKS.search(whole)) and not _OTHERWISE.search(whole)


def _is_seen(module: Module, call: Node) -> bool:
    """Say whether the function that a call names is one of this program."""
    target = callee(call)
    if target is None or target.type != "identifier":
        return False
    declared = module.declared(text(target), target)
    if declared is None:
        return False
    return declared.kind != "import" or module.import_of(declared)[0].startswith(".")


def _is_compared(module: Module, node: Node) -> bool:
    above = module.surrounding(node, frozenset({"binary_expression", "call_expression", "statement_block"}))
    return above is not None and above.type == "binary_expression" and "=" in text(child(above, "operator"))


def _reaches(module: Module, check: Node, node: Node, function: Node | None) -> bool:
    """Say whether a check lies on every way to a node: not in a branch that the node is not in."""
    below = check
    for each in module.above(check):
        if each == function:
            return True
        branch = each.type in {"if_statement", "ternary_expression"} and child(each, "condition") != below
        apart = branch or each.type in {"switch_case", "switch_default", "catch_clause", *FUNCTIONS}
        if apart and not (below.start_byte <= node.start_byte < below.end_byte):
            return False
        below = each
    return True
