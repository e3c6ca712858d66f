"""What package.json, its lock file and .npmrc say."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ..platform.sdk_support import PACKAGE
from ..rules.facts import Fact, Package, SupplyChain
from .document import BrokenDocumentError, Document, line_of, read_jsonc
from .files import LARGEST_LOCK, Files, is_file

_NAME: Final = re.escape(PACKAGE)
_LOCKS: Final = {
    "package-lock.json": re.compile(rf'"(?:node_modules/)?{_NAME}"\s*:\s*\{{\s*"version"\s*:\s*"([^"]+)"'),
    "npm-shrinkwrap.json": re.compile(rf'"(?:node_modules/)?{_NAME}"\s*:\s*\{{\s*"version"\s*:\s*"([^"]+)"'),
    "pnpm-lock.yaml": re.compile(rf"^\s+'?/?{_NAME}[@/](\d[^'(:\s]*)", re.MULTILINE),
    "yarn.lock": re.compile(rf'^"?{_NAME}@[^\n]*\n\s+version:?\s+"?([^"\s]+)', re.MULTILINE),
    "bun.lock": re.compile(rf'"{_NAME}"\s*:\s*\[\s*"{_NAME}@([^"]+)"'),
}
_BINARY_LOCK: Final = "bun.lockb"
_GROUPS: Final = ("dependencies", "devDependencies", "optionalDependencies")
_NO_SCRIPTS: Final = re.compile(r"^\s*ignore-scripts\s*=\s*true\s*$", re.MULTILINE)


def read_package(files: Files, folder: Path) -> Document | None:
    """Read the package.json of a folder."""
    path = folder / "package.json"
    text = files.text(path)
    if text is None:
        return None
    try:
        document = read_jsonc(files.name(path), text)
    except BrokenDocumentError as error:
        files.problem(f"{files.name(path)}:{error.line}", f"package.json cannot be read: {error}")
        return None
    if not isinstance(document.value, dict):
        files.problem(f"{files.name(path)}:1", "package.json is not an object")
        return None
    return document


def dependencies(document: Document) -> Iterator[tuple[str, Fact[str]]]:
    """Give the direct dependencies, each with its range."""
    for group in _GROUPS:
        said: Any = document.value.get(group)
        for name, range_ in said.items() if isinstance(said, dict) else ():
            if isinstance(range_, str):
                yield name, Fact(range_, document.where(group, name))


def facts(files: Files, folder: Path, top: Path) -> tuple[Package, SupplyChain]:
    """Give what is known about the packages of a project; the lock file may lie in a folder above, up to `top`."""
    document = read_package(files, folder)
    if document is None:
        return Package(), SupplyChain()
    direct = tuple(dependencies(document))
    declared = next((said for name, said in direct if name == PACKAGE), Fact(None, document.where()))
    lock = _lock(files, folder, top)
    package = Package(document.name, declared, _locked(files, lock) if lock else Fact(None, declared.where))
    where = document.where()
    return package, SupplyChain(
        document.name,
        Fact(lock[0].name if lock else None, where),
        direct,
        _install_scripts(files, folder, top, lock[0].name if lock else "", where),
    )


def _lock(files: Files, folder: Path, top: Path) -> tuple[Path, str] | None:
    for number, each in enumerate(_upwards(folder, top)):
        for name in _LOCKS:
            path = each / name
            text = files.text(path, LARGEST_LOCK) if is_file(path) else None
            # A lock file further up that does not know the SDK is that of something else.
            if text is not None and (number == 0 or PACKAGE in text):
                return path, text
        if is_file(each / _BINARY_LOCK):
            return each / _BINARY_LOCK, ""
    return None


def _locked(files: Files, lock: tuple[Path, str]) -> Fact[str | None] | None:
    """Give the version in the lock file; None if it cannot be told which."""
    path, text = lock
    if path.name == _BINARY_LOCK:
        return None
    found = list(_LOCKS[path.name].finditer(text))
    if not found:
        return Fact(None, f"{files.name(path)}:1")
    where = f"{files.name(path)}:{line_of(text, found[0].start(1))}"
    return Fact(found[0][1], where) if len({match[1] for match in found}) == 1 else None


def _install_scripts(files: Files, folder: Path, top: Path, lock: str, where: str) -> Fact[bool]:
    # pnpm, bun and yarn 4 run scripts of listed packages only.
    if lock in {"pnpm-lock.yaml", "bun.lock", _BINARY_LOCK} or is_file(folder / ".yarnrc.yml"):
        return Fact(value=False, where=where)
    texts = (files.text(each / ".npmrc") or "" for each in _upwards(folder, top))
    return Fact(not any(map(_NO_SCRIPTS.search, texts)), where)


def _upwards(folder: Path, top: Path) -> Iterator[Path]:
    """Give a folder and those above it, up to the repository's, or to `top` where there is none."""
    folder, top = folder.absolute(), top.absolute()
    last = next((each for each in (top, *top.parents) if os.path.exists(each / ".git")), top)  # noqa: PTH110 - a name that no file can have is no error
    for each in (folder, *folder.parents):
        yield each
        if each == last:
            return
