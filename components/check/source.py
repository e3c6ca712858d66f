"""What the Worker's modules do with sandboxes, as facts: the entry module and what it imports from its own project."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ..platform.sdk_support import PACKAGE
from ..rules.facts import Call, Fact, Source
from ..rules.features import MOUNT
from .files import LARGEST_MODULE, Files
from .script import Invocation, Script, exports, imported

_SUFFIXES: Final = (".ts", ".tsx", ".mts", ".js", ".mjs", ".jsx", ".cjs")
_MOST_MODULES: Final = 2_000
_MOST_TEXT: Final = 16_000_000
_METHODS: Final = (
    "exec", "execStream", "startProcess", "readdir", "rm", "rmdir", "spawn", "stat", "isProcessRunning", "gitCheckout",
    "exposePort", "writeFile", "listFiles", "exists", "fetch", "containerFetch", "destroy", "createCodeContext",
    "runCode", "mountBucket", "createBackup", "restoreBackup",
)  # fmt: skip
_FUNCTIONS: Final = ("getSandbox",)
_ASSIGNED: Final = re.compile(
    r"\b([A-Za-z_$][\w$]*)\s*(?::[^=;\n]{1,80})?=\s*(?:await\s+)?(?:getSandbox\b|[\w$.]*(?:createSession|getSession)\s*\()"
)
_TYPED: Final = re.compile(r"\b([A-Za-z_$][\w$]*)\s*\??:\s*(?:[\w.]+<\s*)?(?:Sandbox|ISandbox|ExecutionSession)\b")
_LOOKS: Final = re.compile(r"sandbox|^sbx$", re.IGNORECASE)
_WORDS: Final = re.compile(
    r"\bstatic\s+(outbound\w*)|\b(allowedHosts|deniedHosts)\s*[=:]|\b(credentialProxy)\s*:\s*true"
    r"|\b(proxyToSandbox|sleepAfter|keepAlive|createBackup|restoreBackup)\b|\.\s*(tunnels)\b|\b(transport)\s*:"
)
_BRIDGE: Final = f"{PACKAGE}/bridge"
_HANDLER: Final = re.compile(r"\bfetch\s*(?::\s*(?:async\s*)?)?\([^)]*\)[^{;]{0,80}\{")


class Modules:
    """The modules of one Worker."""

    def __init__(self, files: Files, entry: Path) -> None:
        self.files, self.entry = files, entry
        self.scripts = dict(self._read())

    def _read(self) -> Iterator[tuple[Path, Script]]:
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
            yield path, Script(text)
            for target in imported(text):
                found = _resolved(path, target) if target.startswith(".") else None
                if found and found not in seen:
                    seen.add(found)
                    waiting.append(found)

    @property
    def found(self) -> bool:
        """Whether the entry module could be read."""
        return self.entry in self.scripts

    @property
    def mention_sdk(self) -> bool:
        """Whether a module imports the SDK."""
        return any(PACKAGE in script.text for script in self.scripts.values())

    def exports(self) -> Fact[frozenset[str]]:
        """Give what the entry module exports."""
        return Fact(exports(self.scripts[self.entry]), f"{self.files.name(self.entry)}:1")

    def facts(self) -> Source:
        """Give what the modules do."""
        calls: list[Call] = []
        uses: list[Fact[str]] = []
        for path, script in self.scripts.items():
            if "sandbox" in script.text.lower():
                name = self.files.name(path)
                found = [_call(each, f"{name}:{script.line(each.offset)}") for each in _invocations(script)]
                calls += found
                uses += _uses(script, name, found)
        return Source(self.files.name(self.entry), tuple(calls), tuple(uses), self._proxy())

    def _proxy(self) -> Fact[str] | None:
        script = self.scripts[self.entry]
        handler = _HANDLER.search(script.masked)
        at = script.masked.find("proxyToSandbox(", handler.end()) if handler else -1
        if handler is None or at < 0:
            return None
        late = re.search(r"\breturn\b", script.masked[handler.end() : at])
        # `return (await proxyToSandbox(…)) ?? …` is first, too.
        late = late if late and "proxyToSandbox" not in script.masked[handler.end() + late.start() : at + 1] else None
        only = late and script.masked[handler.end() + late.end() : at].strip(" (") in {"await", ""}
        where = f"{self.files.name(self.entry)}:{script.line(at)}"
        return Fact("late" if late and not only else "first", where)


def _resolved(path: Path, target: str) -> Path | None:
    base = Path(os.path.normpath(path.parent / target))
    stem = base.with_suffix("") if base.suffix in {".js", ".mjs", ".jsx", ".cjs"} else base
    candidates = [base, *(stem.with_name(stem.name + suffix) for suffix in _SUFFIXES)]
    candidates += [base / f"index{suffix}" for suffix in _SUFFIXES]
    return next((each for each in candidates if each.suffix in _SUFFIXES and each.is_file()), None)


def _invocations(script: Script) -> Iterator[Invocation]:
    known = {match[1] for pattern in (_ASSIGNED, _TYPED) for match in pattern.finditer(script.masked)}
    for each in script.calls((*_FUNCTIONS, *_METHODS)):
        if each.name in _FUNCTIONS:
            if not each.receiver:
                yield each
        elif each.receiver in known or each.receiver == "getSandbox" or _LOOKS.search(each.receiver):
            yield each


def _call(each: Invocation, where: str) -> Call:
    keys = frozenset(key for argument in each.arguments for key in argument.keys)
    spliced = bool(each.arguments) and each.arguments[0].put_together
    return Call(each.name, where, tuple(argument.text for argument in each.arguments), keys, spliced, each.dropped)


def _uses(script: Script, name: str, calls: list[Call]) -> Iterator[Fact[str]]:
    for match in _WORDS.finditer(script.masked):
        word = next(filter(None, match.groups()))
        yield Fact(word, f"{name}:{script.line(match.start())}")
    for call in calls:
        # With an endpoint the container mounts by itself; locally nothing is mounted.
        if call.name == MOUNT and not call.options & {"endpoint", "localBucket"}:
            yield Fact(MOUNT, call.where)
    at = script.text.find(_BRIDGE)
    if at >= 0 and _BRIDGE in imported(script.text):
        yield Fact("bridge", f"{name}:{script.line(at)}")
