"""What the Worker's modules do with sandboxes, as facts: the entry module and what it imports from its own project.

Texts are read and searched for imports; only a module that can matter is parsed, and only then is the parser loaded.
"""

import os
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..facts.stack import Call, Fact, Source
from ..platform.sdk_support import PACKAGE
from ..rules.features import MOUNT
from .files import LARGEST_MODULE, Files, is_file

if TYPE_CHECKING:
    from .script.program import Program

_SUFFIXES: Final = (".ts", ".tsx", ".mts", ".js", ".mjs", ".jsx", ".cjs")
_MOST_MODULES: Final = 2_000
_MOST_TEXT: Final = 16_000_000
_ADDED: Final = frozenset({"readdir", "rm", "rmdir", "spawn", "stat", "isProcessRunning", "gitCheckout"})
"""Names under which a subclass of one's own may offer what the SDK does not."""
_BRIDGE: Final = f"{PACKAGE}/bridge"
_IMPORT: Final = re.compile(r"""(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(['"])([^'"\n]{1,300})\1""")


class Modules:
    """The modules of one Worker."""

    def __init__(self, files: Files, entry: Path) -> None:
        self.files, self.entry = files, entry
        self.texts = dict(self._read())

    def _read(self) -> Iterator[tuple[Path, str]]:
        waiting, seen, total = [self.entry], {self.entry}, 0
        while waiting:
            path = waiting.pop()
            text = self.files.text(path, LARGEST_MODULE)
            if text is None:
                continue
            total += len(text)
            if len(seen) > _MOST_MODULES or total > _MOST_TEXT:
                self.files.problem(f"{self.files.name(self.entry)}:1", "the Worker has more modules than are read")
                return
            yield path, text
            for target in imported(text):
                found = _resolved(path, target) if target.startswith(".") else None
                if found and found not in seen:
                    seen.add(found)
                    waiting.append(found)

    @property
    def found(self) -> bool:
        """Whether the entry module could be read."""
        return self.entry in self.texts

    @cached_property
    def _program(self) -> "Program":
        from .script.program import Program  # noqa: PLC0415 - loads the parser

        return Program(self.texts, _resolved)

    def exports(self) -> Fact[frozenset[str]]:
        """Return what the entry module exports."""
        return Fact(frozenset(self._program.module(self.entry).exports), f"{self.files.name(self.entry)}:1")

    def facts(self) -> Source:
        """Return what the modules do."""
        from .script.calls import Calls, proxy_position  # noqa: PLC0415 - loads the parser

        entry = self._program.module(self.entry)
        reader = Calls(self._program, entry, lambda path: self.files.name(Path(path)))
        calls: list[Call] = []
        uses: list[Fact[str]] = []
        for path, text in self.texts.items():
            if "sandbox" in text.lower():
                found = list(reader.of(self._program.module(path)))
                calls += found
                uses += self._uses(path, found)
        if any(call.name in _ADDED for call in calls):
            own = self._own_methods()
            calls = [call for call in calls if call.name not in own]
        said = proxy_position(entry)
        name = self.files.name(self.entry)
        return Source(name, tuple(calls), tuple(uses), Fact(said[0], f"{name}:{said[1]}") if said else None)

    def _own_methods(self) -> set[str]:
        from .script.sandboxes import own_methods  # noqa: PLC0415 - loads the parser

        mentioned = (path for path, text in self.texts.items() if any(each in text for each in _ADDED))
        program = self._program
        return {name for path in mentioned for name in own_methods(program, program.module(path))} & _ADDED

    def _uses(self, path: Path, calls: list[Call]) -> Iterator[Fact[str]]:
        from .script.calls import mounts  # noqa: PLC0415 - loads the parser
        from .script.words import bridge, words  # noqa: PLC0415 - loads the parser

        name, module = self.files.name(path), self._program.module(path)
        yield from (Fact(word, f"{name}:{line}") for word, line in words(module))
        yield from (Fact(MOUNT, call.where) for call in calls if mounts(call))
        line = bridge(module, _BRIDGE) if _BRIDGE in module.source else None
        if line:
            yield Fact("bridge", f"{name}:{line}")


def imported(text: str) -> list[str]:
    """Return the modules that a text may import: a quick search, which decides what is read."""
    return [match[2] for match in _IMPORT.finditer(text)]


def _resolved(path: Path, target: str) -> Path | None:
    base = os.path.normpath(os.path.join(path.parent, target))  # noqa: PTH118 - text is faster
    stem = base.removesuffix(".js").removesuffix(".mjs").removesuffix(".jsx").removesuffix(".cjs")
    candidates = (base, *(stem + suffix for suffix in _SUFFIXES), *(f"{base}/index{suffix}" for suffix in _SUFFIXES))
    found = (each for each in candidates if each.endswith(_SUFFIXES) and is_file(each))
    first = next(found, None)
    return Path(first) if first else None
