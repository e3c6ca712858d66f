"""Modules of a program in Python: what each gives a name to once and for all, and what it imports from the others."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from .files import Files, is_file

_IMPORT: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+([\w, \t(]+)|import[ \t]+([\w., \t]+))", re.MULTILINE
)
_CHANGES: Final = frozenset({"append", "clear", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update"})


@dataclass(frozen=True)
class Elsewhere:
    """A name in another module of the program; without a name, that module itself."""

    path: Path
    name: str = ""


Meaning = ast.expr | Elsewhere


@dataclass
class Module:
    """A module whose names are known."""

    file: str
    """Its name as findings say it."""
    tree: ast.Module
    names: dict[str, Meaning] = field(default_factory=dict)
    """What is given a value exactly once, wherever that is, and never changed. Modules are here by their whole name."""
    unsure: set[str] = field(default_factory=set)
    """What is changed, or given a value more than once."""


class Modules:
    """The modules of one program, each read once and when it is asked for."""

    def __init__(self, files: Files, top: Path) -> None:
        """Begin with the folder that absolute imports start from."""
        self.files, self.top = files, top
        self._read: dict[Path, Module | None] = {}

    def get(self, path: Path, text: str | None = None) -> Module | None:
        """Return a module; one that is none is remembered as a problem."""
        if path not in self._read:
            text = self.files.text(path) if text is None else text
            self._read[path] = None if text is None else self._parsed(path, text)
        return self._read[path]

    def _parsed(self, path: Path, text: str) -> Module | None:
        name = self.files.name(path)
        try:
            module = Module(name, ast.parse(text))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.files.problem(f"{name}:{getattr(error, 'lineno', None) or 1}", f"{path.name} is not a Python program")
            return None
        found: dict[str, list[Meaning | None]] = {}
        for key, meaning in self._given(module.tree, path):
            if meaning not in (known := found.setdefault(key, [])) or meaning is None:
                known.append(meaning)
        module.names = {key: each[0] for key, each in found.items() if len(each) == 1 and each[0] is not None}
        module.unsure = found.keys() - module.names.keys()
        return module

    def _given(self, tree: ast.Module, path: Path) -> Iterator[tuple[str, Meaning | None]]:
        """Return every name with what it is given; nothing for what only the running program knows."""
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=targets, value=value):
                    yield from ((each.id, value) for each in targets if isinstance(each, ast.Name))
                case ast.AnnAssign(target=ast.Name(id=name), value=value):
                    yield name, value
                case ast.AugAssign(target=ast.Name(id=name)) | ast.For(target=ast.Name(id=name)):
                    yield name, None
                case ast.NamedExpr(target=ast.Name(id=name)) | ast.arg(arg=name):
                    yield name, None
                case ast.Subscript(ctx=ast.Store() | ast.Del(), value=owner):
                    yield dotted(owner), None
                case ast.Call(func=ast.Attribute(value=owner, attr=attribute)) if attribute in _CHANGES:
                    yield dotted(owner), None
                case ast.Import() | ast.ImportFrom():
                    yield from self._imports(node, path)

    def _imports(self, node: ast.Import | ast.ImportFrom, path: Path) -> Iterator[tuple[str, Elsewhere]]:
        for alias in node.names:
            if isinstance(node, ast.Import):
                found = _module(self.top, alias.name)
                meaning = Elsewhere(found) if found else None
            else:
                meaning = self._imported_name(node, alias.name, path)
            if meaning:
                yield alias.asname or alias.name, meaning

    def _imported_name(self, node: ast.ImportFrom, name: str, path: Path) -> Elsewhere | None:
        base = _base(path, self.top, node.level)
        inner = _module(base, f"{node.module or ''}.{name}")
        if inner:
            return Elsewhere(inner)
        outer = _module(base, node.module or "")
        return Elsewhere(outer, name) if outer else None

    def imported(self, path: Path, text: str) -> Iterator[Path]:
        """Return the modules of the program that a text imports; it is not parsed for that, which would take long."""
        for source, names, plain in _IMPORT.findall(text):
            inner = source.lstrip(".")
            base = _base(path, self.top, len(source) - len(inner))
            wanted = [f"{inner}.{name.strip('( ')}" for name in names.split(",")] if source else []
            wanted += [inner] if inner else []
            wanted += [name.split()[0] for name in plain.split(",") if name.split()]
            yield from (found for each in wanted if (found := _module(base, each)))


def dotted(node: ast.expr) -> str:
    """Return the name of what an expression is about, without its members: `a.b` of `a.b["c"]`; nothing for others."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attribute):
            owner = dotted(value)
            return f"{owner}.{attribute}" if owner else ""
        case ast.Subscript(value=value):
            return dotted(value)
    return ""


def _base(path: Path, top: Path, dots: int) -> Path:
    """Return the folder that an import of a module starts from."""
    return path.parents[dots - 1] if 0 < dots <= len(path.parents) else top


def _module(base: Path, name: str) -> Path | None:
    """Find the file of a module below a folder."""
    inner = name.strip(".").replace(".", "/")
    candidates = (base / f"{inner}.py", base / inner / "__init__.py") if inner else (base / "__init__.py",)
    return next((each for each in candidates if is_file(each)), None)
