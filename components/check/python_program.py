"""Settings in a Pulumi program in Python: literals given to `SandboxSettings`, read without running anything.

Names, merged dictionaries and texts put together from literals are followed through the modules of the program. What
only the running program knows is left out and remembered, so that nothing is said about it.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from .files import Files, is_folder
from .python_module import Elsewhere, Module, Modules, dotted

_CALL: Final = "SandboxSettings"
_PROJECT_NAME: Final = "get_project"
_PACKAGE: Final = re.compile(r"^[ \t]*(?:from|import)[ \t]+(pulumi_cloudflare_sandbox|components)\b", re.MULTILINE)
_MOST_MODULES: Final = 500
_DEEPEST: Final = 40
Keys = tuple[str, ...]


class _UnknownError(Exception):
    """A value that only the running program knows."""


@dataclass
class Said:
    """A document of settings as a program says it."""

    where: str
    value: dict[str, Any] = field(default_factory=dict)
    places: dict[Keys, str] = field(default_factory=dict)
    unknown: set[Keys] = field(default_factory=set)
    """Paths of which the program does not tell the value."""

    def place(self, where: str) -> str:
        """Return `file:line` of a path in the settings, or of the nearest part of it that is said."""
        path: Keys = tuple(where.split("."))
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, self.where)

    def hides(self, where: str) -> bool:
        """Say whether the program does not tell what stands at a path, or at one above or below it."""
        path = tuple(where.split("."))
        return any(path[: len(each)] == each or each[: len(path)] == path for each in self.unknown)


@dataclass
class Program:
    """What a program tells of its stacks."""

    documents: list[Said] = field(default_factory=list)
    untold: str = ""
    """The first place where it makes a stack of ours whose settings it does not tell; empty if there is none."""


def read(files: Files, folder: Path, main: str = "") -> Program:
    """Read a program and the modules that it imports from its own folder."""
    start = folder / main if main else folder
    entry = start / "__main__.py" if is_folder(start) else start
    modules, found, imported = Modules(files, entry.parent), Program(), ""
    waiting, seen = [entry], {entry}
    while waiting and len(seen) < _MOST_MODULES:
        path = waiting.pop(0)
        text = files.text(path)
        if text is None:
            continue
        imported = imported or _imports_us(files.name(path), text)
        module = modules.get(path, text) if _CALL in text else None
        for said in _documents(modules, module) if module else ():
            if () in said.unknown:
                found.untold = found.untold or said.where
            else:
                found.documents.append(said)
        for each in modules.imported(path, text):
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    if not found.documents:
        found.untold = found.untold or imported
    return found


def takes_project_name(files: Files, folder: Path, main: str = "") -> bool:
    """Whether a program gives settings the name of its project, as those that `init` writes do."""
    start = folder / main if main else folder
    text = files.text(start / "__main__.py" if is_folder(start) else start) or ""
    if _PROJECT_NAME not in text:
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False  # what is wrong with it is told where the program is read
    return any(_is_project_name(key, value) for node in ast.walk(tree) for key, value in _pairs(node))


def _pairs(node: ast.AST) -> Iterator[tuple[Any, ast.expr]]:
    match node:
        case ast.Dict(keys=keys, values=values):
            yield from ((getattr(key, "value", None), value) for key, value in zip(keys, values, strict=True))
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            yield from ((each.arg, each.value) for each in keywords)


def _is_project_name(key: Any, value: ast.expr) -> bool:
    called = dotted(value.func) if isinstance(value, ast.Call) else ""
    return key == "name" and called.rpartition(".")[2] == _PROJECT_NAME


def _imports_us(name: str, text: str) -> str:
    """Return the place where a module imports this package; other packages are called `components` too."""
    for each in _PACKAGE.finditer(text):
        if each[1] != "components" or "Sandbox" in text:
            return f"{name}:{text.count(chr(10), 0, each.start(1)) + 1}"
    return ""


def _documents(modules: Modules, module: Module) -> Iterator[Said]:
    for call in ast.walk(module.tree):
        given = _given(call)
        if given is not None:
            said = Said(f"{module.file}:{given.lineno}")
            try:
                value = _Reader(modules, module, said).read(given, ())
            except (_UnknownError, RecursionError):
                value = None
            if isinstance(value, dict):
                said.value.update(value)
            else:
                said.unknown.add(())
            yield said


def _given(node: ast.AST) -> ast.expr | None:
    """Return what `SandboxSettings.parse(…)` or `SandboxSettings(…)` is given."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="parse"), args=args, keywords=keywords) if _is_ours(owner):
            given = [*args, *(each.value for each in keywords)]
            return given[0] if given else None
        case ast.Call(func=owner, args=[], keywords=keywords) if keywords and _is_ours(owner):
            return ast.Call(ast.Name("dict"), [], keywords, lineno=node.lineno)
    return None


def _is_ours(owner: ast.expr) -> bool:
    return dotted(owner).rpartition(".")[2] == _CALL


class _Reader:
    """Reads one expression; what it finds out about places goes into `said`."""

    def __init__(self, modules: Modules, module: Module, said: Said) -> None:
        self.modules, self.module, self.said, self.depth = modules, module, said, 0

    def read(self, node: ast.expr, path: Keys) -> Any:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _UnknownError
        try:
            if path:  # the whole stays where it is handed over
                self.said.places[path] = f"{self.module.file}:{node.lineno}"
            return self._value(node, path)
        finally:
            self.depth -= 1

    def _value(self, node: ast.expr, path: Keys) -> Any:  # noqa: PLR0911 - one answer for each form
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Dict():
                return self._dict(node, path)
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return [self.read(each, (*path, str(index))) for index, each in enumerate(elements)]
            case ast.Name() | ast.Attribute():
                return self._named(dotted(node), path)
            case ast.BinOp(left=left, op=ast.BitOr() | ast.Add(), right=right):
                return self._sum(self.read(left, path), self.read(right, path))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return -number
            case ast.JoinedStr(values=parts):
                return "".join(str(self.read(each, path)) for each in parts)
            case ast.FormattedValue(value=value, format_spec=None):
                return self.read(value, path)
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
                return self._members([(each.arg, each.value) for each in keywords], path)
        raise _UnknownError

    def _named(self, name: str, path: Keys) -> Any:
        """Read what a name stands for: `NAME`, or `module.NAME`."""
        meaning = self.module.names.get(name)
        owner, _, inner = name.rpartition(".")
        if owner and name not in self.module.unsure:
            module = self.module.names.get(owner)
            meaning = replace(module, name=inner) if isinstance(module, Elsewhere) and not module.name else None
        if isinstance(meaning, Elsewhere):
            return self._elsewhere(meaning, path)
        if meaning is None:
            raise _UnknownError
        return self.read(meaning, path)

    def _elsewhere(self, meaning: Elsewhere, path: Keys) -> Any:
        """Read a name where it is given its value."""
        other = self.modules.get(meaning.path)
        if other is None or self.depth > _DEEPEST:
            raise _UnknownError
        here, self.module = self.module, other
        self.depth += 1
        try:
            return self._named(meaning.name, path)
        finally:
            self.module = here
            self.depth -= 1

    @staticmethod
    def _sum(left: Any, right: Any) -> Any:
        if isinstance(left, dict) and isinstance(right, dict):
            return {**left, **right}
        if type(left) is type(right) and isinstance(left, str | list):
            return left + right
        raise _UnknownError

    def _dict(self, node: ast.Dict, path: Keys) -> dict[str, Any]:
        pairs: list[tuple[str | None, ast.expr]] = []
        for key, value in zip(node.keys, node.values, strict=True):
            match key:
                case None:
                    pairs.append((None, value))
                case ast.Constant(value=str() as name):
                    pairs.append((name, value))
                case _:
                    raise _UnknownError
        return self._members(pairs, path)

    def _members(self, pairs: list[tuple[str | None, ast.expr]], path: Keys) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            inner = path if key is None else (*path, key)
            try:
                read = self.read(value, inner)
            except _UnknownError:
                self.said.unknown.add(inner)
                found.pop(key or "", None)
                continue
            if key is not None:
                found[key] = read
            elif isinstance(read, dict):
                found.update(read)
        return found
