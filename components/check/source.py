"""What the Worker's modules do with sandboxes, as facts: the entry module and what it imports from its own project."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ..platform.sdk_support import PACKAGE
from ..rules.facts import Call, Fact, Source
from ..rules.features import MOUNT
from .files import LARGEST_MODULE, Files, is_file
from .script import Invocation, Script, exports, imported

_SUFFIXES: Final = (".ts", ".tsx", ".mts", ".js", ".mjs", ".jsx", ".cjs")
_MOST_MODULES: Final = 2_000
_MOST_TEXT: Final = 16_000_000
_METHODS: Final = (
    "exec", "execStream", "startProcess", "readdir", "rm", "rmdir", "spawn", "stat", "isProcessRunning", "gitCheckout",
    "exposePort", "writeFile", "listFiles", "exists", "fetch", "containerFetch", "destroy", "createCodeContext",
    "runCode", "mountBucket", "createBackup", "restoreBackup",
)  # fmt: skip
_FUNCTIONS: Final = ("getSandbox", "proxyToSandbox")
_ADDED: Final = ("readdir", "rm", "rmdir", "spawn", "stat", "isProcessRunning", "gitCheckout")
"""Names under which a subclass of one's own may offer what the SDK does not."""
_DEFINED: Final = re.compile(
    rf"^[ \t]*(?:(?:public|static|override|async)\s+)*({'|'.join(_ADDED)})\s*(?:<[^<>]*>\s*)?\([^()]*\)[^;{{}}()]*\{{",
    re.MULTILINE,
)
# Both begin with what is rare, and look back from there for the name.
_GOT: Final = re.compile(r"(?:getSandbox|createSession|getSession)\s*(?:<[^<>()]*>\s*)?\(")
_TYPED: Final = re.compile(r":\s*(?:[\w.]+<\s*)?(?:Sandbox|ISandbox|ExecutionSession)\b")
_ASSIGNED_TO: Final = re.compile(r"([A-Za-z_$][\w$]*)\s*(?::[^=;\n]{1,80})?=\s*(?:await\s+)?[\w$.]*$")
_NAME: Final = re.compile(r"([A-Za-z_$][\w$]*)\s*\??$")
_LOOKS: Final = re.compile(r"sandbox|^sbx$", re.IGNORECASE)
_WORDS: Final = re.compile(
    r"\b(outbound|outboundByHost|outboundHandlers|allowedHosts|deniedHosts)\s*(?::[^=;,{}\n]{1,200})?=(?![=>])"
    r"|\b(credentialProxy)\s*:\s*true|\b(proxyToSandbox|sleepAfter|keepAlive|createBackup|restoreBackup)\b"
    r"|\b(tunnels)\s*\.\s*(?:get|list|destroy)\s*\(|\b(transport)\s*:"
)
_BEFORE: Final = {
    "outbound": re.compile(r"(?:\bstatic\s+|\b[A-Z]\w*\s*\.\s*)$"),
    "Hosts": re.compile(r"(?<!\bconst)(?<!\blet)(?<!\bvar)(?<!\.)\s+$"),
    "tunnels": re.compile(r"(?<!zeroTrust)\.\s*$"),
}
"""What stands before a word that others use too: a class, its body, a sandbox."""
_WORD_PARTS: Final = (
    "outbound", "edHosts", "credentialProxy", "proxyToSandbox", "sleepAfter", "keepAlive", "Backup", "tunnels",
    "transport",
)  # fmt: skip
"""A part of every such word, to look for before the slower search."""
_TAKEN: Final = re.compile(r"[\w$\s,:]*+\}\s*(?:from\b|=\s*(?:await\s+)?(?:require|import)\s*\()")
"""What follows a name in the list of an import."""
_RENAMED: Final = re.compile(r"\s+as\b|\s*:")
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
        if any(call.name in _ADDED for call in calls):
            own = {match[1] for script in self.scripts.values() for match in _DEFINED.finditer(script.masked)}
            calls = [call for call in calls if call.name not in own]
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
    base = os.path.normpath(os.path.join(path.parent, target))  # noqa: PTH118 - text is faster
    stem = base.removesuffix(".js").removesuffix(".mjs").removesuffix(".jsx").removesuffix(".cjs")
    candidates = (base, *(stem + suffix for suffix in _SUFFIXES), *(f"{base}/index{suffix}" for suffix in _SUFFIXES))
    found = (each for each in candidates if each.endswith(_SUFFIXES) and is_file(each))
    first = next(found, None)
    return Path(first) if first else None


def _invocations(script: Script) -> Iterator[Invocation]:
    known = set(_sandboxes(script.masked))
    for each in script.calls(tuple(name for name in (*_FUNCTIONS, *_METHODS) if name in script.text)):
        if each.name in _FUNCTIONS:
            if not each.receiver:
                yield each
        elif each.receiver in known or each.receiver == "getSandbox" or _LOOKS.search(each.receiver):
            yield each


def _sandboxes(masked: str) -> Iterator[str]:
    """Give the names of variables and parameters that hold a sandbox or a session."""
    for anchor, name in ((_GOT, _ASSIGNED_TO), (_TYPED, _NAME)):
        for match in anchor.finditer(masked):
            before = name.search(masked[max(0, match.start() - 200) : match.start()])
            if before:
                yield before[1]


def _call(each: Invocation, where: str) -> Call:
    keys = frozenset(key for argument in each.arguments for key in argument.keys)
    spliced = bool(each.arguments) and each.arguments[0].put_together
    return Call(each.name, where, tuple(argument.text for argument in each.arguments), keys, spliced, each.dropped)


def _only_taken(masked: str, at: int) -> bool:
    """Say whether a name ends here that an import takes over; renamed, it counts as used, under whatever name."""
    return bool(_TAKEN.match(masked, at, at + 500)) and not _RENAMED.match(masked, at, at + 500)


def _uses(script: Script, name: str, calls: list[Call]) -> Iterator[Fact[str]]:
    said = any(word in script.text for word in _WORD_PARTS)
    for match in _WORDS.finditer(script.masked) if said else ():
        word = next(filter(None, match.groups()))
        before = next((pattern for part, pattern in _BEFORE.items() if part in word), None)
        fits = before is None or before.search(script.masked[max(0, match.start() - 60) : match.start()])
        if fits and not _only_taken(script.masked, match.end()):
            yield Fact(word, f"{name}:{script.line(match.start())}")
    for call in calls:
        # With an endpoint the container mounts by itself; locally nothing is mounted.
        told = call.arguments[2] if len(call.arguments) > 2 else "{}"
        known = told.startswith("{") and "..." not in told
        if call.name == MOUNT and known and not call.options & {"endpoint", "localBucket"}:
            yield Fact(MOUNT, call.where)
    at = script.text.find(_BRIDGE)
    if at >= 0 and _BRIDGE in imported(script.text):
        yield Fact("bridge", f"{name}:{script.line(at)}")
