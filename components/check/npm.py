"""What package.json, its lock file and .npmrc say."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ..facts.stack import Fact, Package, SupplyChain
from ..platform.sdk_support import PACKAGE
from ..rules.features import LOCAL_RANGES
from ..wrangler.document import BrokenDocumentError, Document, read_jsonc
from .files import LARGEST_CONFIG, LARGEST_LOCK, Files, UnreadableError, is_file, read
from .locks import BINARY, NAMES, Lock

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
    """Return the direct dependencies, each with its range."""
    for group in _GROUPS:
        said: Any = document.value.get(group)
        for name, range_ in said.items() if isinstance(said, dict) else ():
            if isinstance(range_, str):
                yield name, Fact(range_, document.where(group, name))


def facts(files: Files, folder: Path, top: Path) -> tuple[Package, SupplyChain]:
    """Return what is known about the packages of a project; the lock file may lie in a folder above, up to `top`."""
    document = read_package(files, folder)
    if document is None:
        return Package(), SupplyChain()
    lock = _lock(files, folder, top, str(document.value.get("name") or ""))
    direct = tuple((name, _linked(lock, name, said)) for name, said in dependencies(document))
    declared = next((said for name, said in direct if name == PACKAGE), Fact(None, document.where()))
    locked = lock.version(files.name(lock.path), declared.value) if lock else Fact(None, declared.where)
    package = Package(document.name, declared, locked)
    where = document.where()
    return package, SupplyChain(
        document.name,
        Fact(lock.path.name if lock else None, where),
        direct,
        _install_scripts(files, folder, top, lock.path.name if lock else "", where),
    )


def _linked(lock: Lock | None, name: str, said: Fact[str]) -> Fact[str]:
    """Say of a range that a package of the same repository stands behind it, as npm leaves unsaid."""
    local = lock is not None and not said.value.startswith(LOCAL_RANGES) and lock.links(name)
    return Fact(f"workspace:{said.value}", said.where) if local else said


def _lock(files: Files, folder: Path, top: Path, package: str) -> Lock | None:
    for each in _upwards(folder, top):
        member = Path(os.path.relpath(folder.absolute(), each)).as_posix()
        for name in NAMES:
            path = each / name
            text = files.text(path, LARGEST_LOCK) if is_file(path) else None
            # A lock file further up that knows neither the package nor the SDK is that of something else.
            if text is not None and (lock := Lock(path, text, member, package)).is_ours:
                return lock
        if is_file(each / BINARY):
            return Lock(each / BINARY, "", member, package)
    return None


def _install_scripts(files: Files, folder: Path, top: Path, lock: str, where: str) -> Fact[bool]:
    # pnpm, bun and yarn 4 run scripts of listed packages only.
    if lock in {"pnpm-lock.yaml", "bun.lock", BINARY} or any(
        is_file(each / ".yarnrc.yml") for each in _upwards(folder, top)
    ):
        return Fact(value=False, where=where)
    texts = (files.text(each / ".npmrc") or "" for each in _upwards(folder, top))
    return Fact(not any(map(_NO_SCRIPTS.search, texts)), where)


def _upwards(folder: Path, top: Path) -> Iterator[Path]:
    """Return a folder and those above it, up to that of the repository or workspace, or else `top`."""
    folder, top = folder.absolute(), top.absolute()
    last = next((each for each in (top, *top.parents) if os.path.exists(each / ".git")), None)  # noqa: PTH110 - a name that no file can have is no error
    last = last or next((each for each in top.parents if _is_workspace(each)), top)
    for each in (folder, *folder.parents):
        yield each
        if each == last:
            return


def _is_workspace(folder: Path) -> bool:
    """Say whether a folder is the root of a workspace."""
    if is_file(folder / "pnpm-workspace.yaml"):
        return True
    try:
        return '"workspaces"' in read(folder / "package.json", LARGEST_CONFIG)
    except (FileNotFoundError, UnreadableError):
        return False
