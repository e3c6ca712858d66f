"""The nested types of the bridged SDK, of which only those that resources in use name get defined.

All of them stand in two modules, 12 MB of source together, which every resource with a nested property imports: running
them takes longer than all else a program does before its first resource. A `Nested` stands in for such a module, cuts
single classes out of its file and runs those. Whoever asks it for more makes it whole; classes it has stay the same.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib.machinery import ModuleSpec
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any, Final

INPUTS: Final = "_inputs"
_DECORATOR: Final = {INPUTS: b"\n@pulumi.input_type\n", "outputs": b"\n@pulumi.output_type\n"}
_CLASS: Final = re.compile(rb"class (\w+)")
_QUOTED: Final = re.compile(rb"'(\w+)'")
IMPORTS: Final = {INPUTS: b"\nfrom ._inputs import *\n", "outputs": b"\nfrom . import outputs\n"}
"""The modules of nested types, and how a module that uses them says so."""


class Nested(ModuleType):
    """A module of nested types before all of its code ran."""

    def __init__(self, spec: ModuleSpec, make_whole: Callable[["Nested"], None]) -> None:
        super().__init__(spec.name)
        self.__spec__, self.__file__, self.__package__ = spec, spec.origin, spec.parent
        self._make_whole = make_whole
        self._defined: set[str] = set()

    def run_imports(self) -> None:
        """Run what stands above the names and classes; the module itself can be imported by then."""
        with Path(str(self.__file__)).open("rb") as file:
            head = list(takewhile(lambda line: not line.startswith(b"__all__"), file))
        self._run(b"".join(head))

    @cached_property
    def _source(self) -> dict[str, bytes]:
        """The source of each class, read when the first is wanted."""
        decorator = _DECORATOR[self.__name__.rpartition(".")[2]]
        pieces = Path(str(self.__file__)).read_bytes().split(decorator)[1:]
        found = [_CLASS.match(piece) for piece in pieces]
        if not all(found):
            raise ImportError(f"{self.__file__} has not the form that pulumi's generator gives it")
        # Between two decorators there may be a further class, a form of the next one for type checkers only.
        sources = (decorator + piece.partition(b"\nclass ")[0] for piece in pieces)
        return {name[1].decode(): source for name, source in zip(found, sources, strict=True) if name}

    @contextmanager
    def offering(self, source: bytes) -> Iterator[None]:
        """Have the classes that this source names, and those that they name in turn, to give to `import *`."""
        self._define(source)
        self.__all__ = sorted(self._defined)
        try:
            yield
        finally:
            del self.__all__  # who asks from here on wants them all

    def _define(self, source: bytes) -> None:
        wanted = self._named(source)
        new: dict[str, bytes] = {}
        while wanted:
            name = wanted.pop()
            new[name] = self._source[name]
            wanted |= self._named(new[name]) - new.keys()
        self._run(b"".join(new.values()))
        self._defined |= new.keys()

    def complete(self) -> None:
        """Run all of the module's code, but keep the classes that somebody may hold already."""
        kept = {name: vars(self)[name] for name in self._defined}
        for name in ("_make_whole", "_source", "_defined"):
            vars(self).pop(name, None)
        self.__class__ = ModuleType  # type: ignore[assignment]  # from here on it is like any other module
        self.__spec__.loader.exec_module(self)  # type: ignore[union-attr]  # a module that was found has both
        vars(self).update(kept)

    def __getattr__(self, name: str) -> Any:
        if name in self._source:
            self._define(f"'{name}'".encode())
        elif name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        else:
            self._make_whole(self)
        return getattr(self, name)

    def __dir__(self) -> Iterable[str]:
        self._make_whole(self)
        return dir(self)

    def _named(self, source: bytes) -> set[str]:
        return set(map(bytes.decode, _QUOTED.findall(source))) & self._source.keys() - self._defined

    def _run(self, source: bytes) -> None:
        exec(compile(source, f"parts of {self.__file__}", "exec"), vars(self))  # noqa: S102 - the SDK's own code
