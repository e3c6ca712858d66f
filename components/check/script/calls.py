"""Calls that have to do with sandboxes, each as a fact: what it is given, what becomes of it, and who can reach it."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from tree_sitter import Node

from ...facts.stack import HOLE, Call
from .module import Module, parameters
from .program import Place, Program
from .requests import Requests
from .sandboxes import is_sandbox
from .syntax import (
    arguments,
    called,
    callee,
    child,
    children,
    key,
    line,
    members,
    receiver,
    text,
    unwrapped,
    walk,
)  # fmt: skip
from .texts import BINDING, OUTSIDE, RANDOM, UNKNOWN, Hole, Texts
from .values import Values, is_env

COMMANDS: Final = frozenset({"exec", "execStream", "startProcess"})
_WRITES: Final = frozenset({"gitCheckout", "writeFile"})
_HANDED: Final = frozenset({*COMMANDS, "setEnvVars", "createSession", "writeFile", "runCode", "createCodeContext"})
"""Calls that hand what they are given to the sandbox."""
FUNCTIONS: Final = frozenset({"getSandbox", "proxyToSandbox"})
METHODS: Final = frozenset(
    {
        *COMMANDS, *_WRITES, *_HANDED, "readdir", "rm", "rmdir", "spawn", "stat", "isProcessRunning", "exposePort",
        "listFiles", "exists", "fetch", "containerFetch", "destroy", "mountBucket", "createBackup", "restoreBackup",
    }
)  # fmt: skip
_DEEPEST: Final = 4
_LOGS: Final = re.compile(r"^(?:console|log|logger)\b")


class Calls:
    """Reads the calls of a program."""

    def __init__(self, program: Program, entry: Module, named: Callable[[str], str]) -> None:
        self.program, self.values, self.named = program, Values(program), named
        self.requests = Requests(program, entry)

    def of(self, module: Module) -> Iterator[Call]:
        """Return the calls of a module in the order of the text, behind each the commands that callers hand to it."""
        for node in module.kinds.get("call_expression", ()):
            if self._matters(module, node):
                yield self._fact(module, node)
                if called(node) in COMMANDS:
                    yield from self._handed_on(module, arguments(node)[:1])
        for node in (*module.kinds.get("public_field_definition", ()), *module.kinds.get("assignment_expression", ())):
            left = child(node, "left")
            named = text(left) == "this.envVars" if left else key(node) == "envVars"
            secrets = self._secrets(module, [node]) if named else ()
            if secrets:
                yield Call("envVars", f"{self.named(module.name)}:{line(node)}", secrets=secrets)

    def _matters(self, module: Module, node: Node) -> bool:
        name, target = called(node), callee(node)
        if name in FUNCTIONS:
            return target is not None and target.type == "identifier"
        inner = receiver(node) if name in METHODS else None
        return inner is not None and is_sandbox(self.program, module, inner)

    def _where(self, place: Place) -> str:
        return f"{self.named(place.module.name)}:{line(node_of_name(place.node))}"

    def _handed_on(self, module: Module, command: list[Node], depth: int = 0) -> Iterator[Call]:
        """Return a command that a function only hands on where it is put together: in the calls of that function."""
        wrapper = self._wrapper(module, command) if depth < _DEEPEST else None
        for each in self.program.callers(wrapper[0]) if wrapper else ():
            given = arguments(each.node)[wrapper[1] : wrapper[1] + 1] if wrapper else []
            if self._wrapper(each.module, given):
                yield from self._handed_on(each.module, given, depth + 1)
            elif given:
                told = self.values.of(each.module, given[0])
                yield Call("exec", self._where(each), interpolated=any(map(_is_spliced, told)), text=_shown(told))

    def _wrapper(self, module: Module, given: list[Node]) -> tuple[Place, int] | None:
        """Return the function, one that is called somewhere, that got an argument as its own, and as which of them."""
        node = unwrapped(given[0]) if given else None
        declared = module.declared(text(node), node) if node is not None and node.type == "identifier" else None
        function = module.function(declared.node) if declared and declared.kind == "param" else None
        if function is None or declared is None or declared.taken is not None:
            return None
        place = Place(module, function)
        return (place, parameters(function).index(declared.node)) if self.program.callers(place) else None

    def _fact(self, module: Module, node: Node) -> Call:
        name, given, place = called(node), arguments(node), Place(module, node)
        options = {key for each in given for key in members(each)}
        told = self._told(module, name, given)
        secrets = self._secrets(module, given) if name in _HANDED else ()
        return Call(
            name,
            self._where(place),
            tuple(text(each) for each in given),
            frozenset(options),
            interpolated=name in COMMANDS and any(map(_is_spliced, told)),
            dropped=_is_dropped(module, node),
            text=_shown(told),
            secrets=secrets,
            open=(name == "getSandbox" or bool(secrets)) and self.requests.is_open(place),
            followed=name in _WRITES and self.requests.is_followed(place),
            unattended=name == "getSandbox" and self.requests.is_unattended(place),
            forgotten=name == "getSandbox" and self._is_forgotten(module, given, told),
        )

    def _told(self, module: Module, name: str, given: list[Node]) -> Texts:
        """Return what the argument that matters may be: the command, the address, the id."""
        index = 1 if name == "getSandbox" else 0
        wanted = name in COMMANDS or name in {"gitCheckout", "getSandbox"}
        if name in COMMANDS and self._wrapper(module, given[:1]):
            return UNKNOWN
        return self.values.of(module, given[index]) if wanted and len(given) > index else ()

    def _secrets(self, module: Module, given: list[Node]) -> tuple[str, ...]:
        """Return the bindings of the Worker that stand in arguments, directly or under another name."""
        found: list[str] = []
        for node in (each for one in given for each in walk(one)) if "env" in module.source else ():
            if node.type == "member_expression" and is_env(child(node, "object")):
                found.append(text(child(node, "property")))
            elif node.type == "spread_element" and any(is_env(each) for each in children(node)):
                found.append("env")
            elif node.type in {"identifier", "shorthand_property_identifier"} and self._is_variable(module, node):
                held = self.values.of(module, node)
                found += [
                    part.name for each in held for part in each if isinstance(part, Hole) and part.kind == BINDING
                ]
        return tuple(dict.fromkeys(found))

    def _is_variable(self, module: Module, node: Node) -> bool:
        declared = module.declared(text(node), node)
        return declared is not None and declared.node.type == "variable_declarator"

    def _is_forgotten(self, module: Module, given: list[Node], told: Texts) -> bool:
        """Say whether an id is random and nothing but the call knows it."""
        if not any(isinstance(part, Hole) and part.kind == RANDOM for each in told for part in each):
            return False
        for node in walk(given[1]):
            declared = module.declared(text(node), node) if node.type == "identifier" else None
            if declared is not None and declared.node.type == "variable_declarator":
                scope = module.function(declared.node)
                for kind in ("identifier", "shorthand_property_identifier"):
                    if any(_is_told(module, each, node) for each in module.within(kind, scope)):
                        return False
        return True


def _is_told(module: Module, node: Node, known: Node) -> bool:
    """Say whether a name is used elsewhere, other than to get a sandbox or to log."""
    if text(node) != text(known) or node == known:
        return False
    above = module.parent(node)
    if above is not None and above.type == "variable_declarator" and child(above, "name") == node:
        return False
    calls = (each for each in module.above(node) if each.type == "call_expression")
    return not any(called(each) == "getSandbox" or _LOGS.match(text(callee(each))) for each in calls)


def _shown(told: Texts) -> tuple[str, ...]:
    return tuple(dict.fromkeys("".join(HOLE if isinstance(one, Hole) else one for one in each) for each in told))


def _is_spliced(told: tuple[str | Hole, ...]) -> bool:
    outside = any(isinstance(part, Hole) and part.kind == OUTSIDE for part in told)
    return outside and any(isinstance(part, str) and part.strip() for part in told)


def _is_dropped(module: Module, node: Node) -> bool:
    above = module.parent(node)
    if above is not None and above.type == "await_expression":
        above = module.parent(above)
    return above is not None and above.type == "expression_statement"


def node_of_name(call: Node) -> Node:
    """Return the node whose line a call is said to be on: the name that is called."""
    target = callee(call) or call
    return child(target, "property") or target


def mounts(call: Call) -> bool:
    """Say whether a mount goes through the Worker: with an endpoint the container mounts by itself, locally nothing."""
    told = call.arguments[2] if len(call.arguments) > 2 else "{}"
    known = told.startswith("{") and "..." not in told
    return call.name == "mountBucket" and known and not call.options & {"endpoint", "localBucket"}


def proxy_position(module: Module) -> tuple[str, int] | None:
    """Say whether `proxyToSandbox` is `first` or `late` in the handler of requests, and on which line."""
    for call in module.kinds.get("call_expression", ()):
        handler = _handler(module, call) if called(call) == "proxyToSandbox" else None
        if handler is not None:
            late = any(_answers(module, each, call) for each in module.within("return_statement", handler))
            return ("late" if late else "first"), line(call)
    return None


def _handler(module: Module, call: Node) -> Node | None:
    function = module.function(call)
    above = module.parent(function) if function else None
    name = key(function) if function and child(function, "name") else key(above) if above else ""
    return function if name == "fetch" else None


def _answers(module: Module, node: Node, call: Node) -> bool:
    """Say whether a return comes before a call and can answer a preview host: not if it looked at the host."""
    if node.end_byte > call.start_byte or module.function(node) != module.function(call):
        return False
    conditions = (child(each, "condition") for each in module.above(node) if each.type == "if_statement")
    return not any("host" in text(each).lower() for each in conditions)
