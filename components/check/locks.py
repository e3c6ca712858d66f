"""Lock files of npm, pnpm, yarn and bun: which version they give a package, also one that lies in a workspace."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from ..facts.stack import Fact
from ..platform.sdk_support import PACKAGE
from ..wrangler.document import line_of

_NAME: Final = re.escape(PACKAGE)
_NPM: Final = rf'"(?:node_modules/)?{_NAME}"\s*:\s*\{{\s*"version"\s*:\s*"([^"]+)"'
_ANYWHERE: Final = {
    "package-lock.json": re.compile(_NPM),
    "npm-shrinkwrap.json": re.compile(_NPM),
    "pnpm-lock.yaml": re.compile(rf"^\s+'?/?{_NAME}[@/](\d[^'(:\s]*)", re.MULTILINE),
    "yarn.lock": re.compile(rf'^"?{_NAME}@[^\n]*\n\s+version:?\s+"?([^"\s]+)', re.MULTILINE),
    "bun.lock": re.compile(rf'"{_NAME}"\s*:\s*\[\s*"{_NAME}@([^"]+)"'),
}
"""How a version of the SDK is written, for whom it may be."""
NAMES: Final = tuple(_ANYWHERE)
BINARY: Final = "bun.lockb"


@dataclass(frozen=True)
class Lock:
    """A lock file, read for one package."""

    path: Path
    text: str
    member: str
    """Folder of the package as the lock file names it; `.` if the file lies beside it."""
    package: str
    """Name of the package."""

    @property
    def is_ours(self) -> bool:
        """Whether it is a lock of the package: it lies beside it, lists it as a member, or knows the SDK."""
        listed = (f'"{self.member}"', f"\n  {self.member}:\n", f"\n  '{self.member}':\n", f"@workspace:{self.member}")
        return self.member == "." or PACKAGE in self.text or any(each in self.text for each in listed)

    def version(self, name: str, declared: str | None) -> Fact[str | None] | None:
        """Return the version of the SDK that the package gets, and its place; None if it cannot be told which."""
        if self.path.name == BINARY:
            return None
        own = next(self._own(declared), None)
        if own is not None:
            at, version = own
            return Fact(version, f"{name}:{line_of(self.text, at)}") if version else None
        found = list(_ANYWHERE[self.path.name].finditer(self.text))
        if not found:
            return Fact(None, f"{name}:1")
        where = f"{name}:{line_of(self.text, found[0].start(1))}"
        return Fact(found[0][1], where) if len({match[1] for match in found}) == 1 else None

    def links(self, package: str) -> bool:
        """Say whether a dependency is a package of the same repository."""
        if self._npm:
            entry = self._npm.get(f"node_modules/{package}")
            return isinstance(entry, dict) and entry.get("link") is True
        quoted = re.escape(package)
        inside = re.search(rf"^ +'?{quoted}'?:\n +specifier: .*\n +version: link:", self._importer, re.MULTILINE)
        return bool(inside) or f"{package}@workspace:" in self.text

    def _own(self, declared: str | None) -> Iterator[tuple[int, str]]:
        """Return place and version that the file has for this package; the version is empty if it is not a number."""
        if self._npm:
            yield from self._of_npm()
        elif self._importer:
            found = re.search(
                rf"^ +'?{_NAME}'?:\n +specifier: .*\n +version: '?([^'(\s]+)", self._importer, re.MULTILINE
            )
            if found:
                at = self.text.index(self._importer) + found.start(1)
                yield at, found[1] if found[1][:1].isdigit() else ""
        elif self.path.name == "yarn.lock" and declared:
            key = rf'^"?(?:[^\n]*, )?"?{_NAME}@(?:npm:)?{re.escape(declared)}[",:][^\n]*\n\s+version:?\s+"?([^"\s]+)'
            yield from ((found.start(1), found[1]) for found in re.finditer(key, self.text, re.MULTILINE))
        elif self.path.name == "bun.lock" and self.package:
            key = rf'"{re.escape(self.package)}/{_NAME}"\s*:\s*\[\s*"{_NAME}@([^"]+)"'
            yield from ((found.start(1), found[1]) for found in re.finditer(key, self.text))

    def _of_npm(self) -> Iterator[tuple[int, str]]:
        parts = self.member.split("/") if self.member != "." else []
        for count in range(len(parts), -1, -1):
            key = "/".join([*parts[:count], "node_modules", PACKAGE])
            entry = self._npm.get(key)
            if not isinstance(entry, dict):
                continue
            if entry.get("link") is True:
                key = str(entry.get("resolved"))
                entry = self._npm.get(key)
            version = entry.get("version") if isinstance(entry, dict) else None
            start = max(0, self.text.find(json.dumps(key)))
            at = self.text.find(f'"{version}"', start)
            yield max(start, at), version if isinstance(version, str) else ""
            return

    @cached_property
    def _npm(self) -> dict[str, Any]:
        """The packages of a lock file of npm."""
        if self.path.name not in {"package-lock.json", "npm-shrinkwrap.json"}:
            return {}
        try:
            packages = json.loads(self.text).get("packages")
        except (ValueError, AttributeError, RecursionError):
            return {}
        return packages if isinstance(packages, dict) else {}

    @cached_property
    def _importer(self) -> str:
        """What pnpm says about this package."""
        if self.path.name != "pnpm-lock.yaml":
            return ""
        head = rf"^  '?{re.escape(self.member)}'?:\n((?:    [^\n]*\n|\n)*)"
        found = re.search(head, self.text, re.MULTILINE)
        return found[1] if found else ""
