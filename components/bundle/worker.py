"""The Worker's code, bundled: modules with their hashes in a folder named after what they were made from.

This package's Worker that was bundled before is found again by the hash of its sources, without starting Node.
Different runs may work in one folder: results appear whole, by a rename.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ..errors import UserError
from . import contents, packaged

_SKIPPED: Final = {"node_modules", "dist", "test", "coverage"}
_NO_MODULES: Final = {"node_modules", "__pycache__"}
_LOCK: Final = "package-lock.json"
_OPTIONS: Final = "esbuild.json"
_PACKAGE_FILES: Final = ("package.json", _LOCK, ".npmrc")
_SHOP: Final = "source"
_REPORT: Final = "report.json"


class BundleError(UserError):
    """The Worker's code cannot be bundled; says what, why and what to do."""


@dataclass(frozen=True)
class Module:
    """One file to upload."""

    file: Path
    sha256: str


@dataclass(frozen=True)
class WorkerBundle:
    """The modules of a Worker."""

    main_module: str
    modules: Mapping[str, Module]
    exports: frozenset[str] | None = None
    """Names the main module exports; None when they are not known."""
    sdk_version: str | None = None
    """Version of the Sandbox SDK whose code is in it; None when it has none, or is not known."""


def packaged_worker(build_folder: Path, *, further_classes: Sequence[str] = ()) -> WorkerBundle:
    """Bundle this package's Worker; each further class is one more kind of sandbox."""
    source = packaged.folder("worker_src")
    entry = _entry(further_classes)
    key = _digest([*_tree(source), ("entry", entry.encode())])
    return _made(build_folder, key, lambda scratch: _bundle(source, build_folder, scratch, entry=entry))


def own_worker(entry: Path, build_folder: Path) -> WorkerBundle:
    """Bundle a user's entry file with the packages that are installed beside it, or else those of its lock file."""
    if not entry.is_file():
        raise BundleError(f"worker.entry: there is no file {entry}; correct the path")
    source, place = packaged.folder("worker_src"), build_folder / "worker"
    # Every time: what the file imports can lie anywhere, also in packages, and only the builder knows.
    with _scratch(place) as scratch:
        made = _bundle(source, build_folder, scratch, own=entry.resolve())
        held = contents.reported(scratch / _REPORT, (scratch / _SHOP).resolve())
        folder = place / _digest(_tree(made))
        _keep(made, folder)
    return replace(_bundle_in(folder), exports=held.exports, sdk_version=_one_version(held, entry))


def _one_version(held: contents.Contents, entry: Path) -> str | None:
    """Return the version of the SDK in a bundle; it has to be the one that the project's lock file says."""
    project, found = project_of(entry), sorted(held.sdk_versions)
    if len(found) > 1:
        raise BundleError(f"worker.entry: {entry} is bundled with {contents.SDK} {' and '.join(found)}; keep one")
    version, locked = next(iter(found), None), sdk_version(project)
    if version and locked and version != locked:
        raise BundleError(
            f"worker.entry: {entry} finds {contents.SDK} {version} installed, and {project / _LOCK} says {locked}; run "
            f"`npm ci` in {project}"
        )
    return version


def ready_bundle(main: Path) -> WorkerBundle:
    """Take a bundle as it is: the main module and the files beside it, unless those are a project's own."""
    if not main.is_file():
        raise BundleError(f"worker.bundle: there is no file {main}; build it first or correct the path")
    alone = (main.parent / "Pulumi.yaml").is_file()
    files = [main] if alone else sorted(path for path in main.parent.rglob("*") if _is_module(path, main.parent))
    modules = {path.relative_to(main.parent).as_posix(): Module(path, _sha256(path)) for path in files}
    return WorkerBundle(main.name, modules, contents.exported_names(main))


def _is_module(path: Path, folder: Path) -> bool:
    parts = path.relative_to(folder).parts
    made = any(part in _NO_MODULES or part.startswith(".") for part in parts)
    return path.is_file() and path.suffix != ".map" and not made


def project_of(entry: Path) -> Path:
    """Return the folder of the package an entry file belongs to."""
    return next((folder for folder in entry.parents if (folder / "package.json").is_file()), entry.parent)


def sdk_version(project: Path) -> str | None:
    """Return the version of the Sandbox SDK that a lock file resolves, if there is one that says so."""
    try:
        lock = json.loads((project / _LOCK).read_text(encoding="utf-8"))
        return str(lock["packages"][f"node_modules/{contents.SDK}"]["version"])
    except FileNotFoundError:
        return None
    except (KeyError, TypeError):
        return None
    except (OSError, ValueError) as error:
        raise BundleError(f"cannot read {project / _LOCK} ({error}); run `npm install` there") from None


def _entry(further_classes: Sequence[str]) -> str:
    """Write the entry module: the packaged one, and one subclass for each further kind of sandbox."""
    lines = ['import { Sandbox } from "./src/index.ts";', 'export * from "./src/index.ts";']
    lines += ['export { default } from "./src/index.ts";']
    lines += [f"export class {name} extends Sandbox {{}}" for name in sorted(further_classes)]
    return "\n".join(lines) + "\n"


def _made(build_folder: Path, key: str, make: Callable[[Path], Path]) -> WorkerBundle:
    """Return the bundle of this key, made if there is none; it appears whole or not at all."""
    folder = build_folder / "worker" / key
    if not folder.is_dir():
        with _scratch(folder.parent) as scratch:
            _keep(make(scratch), folder)
    return _bundle_in(folder)


@contextmanager
def _scratch(parent: Path) -> Iterator[Path]:
    """Return a folder on the same disk that goes with the block."""
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent, prefix=".making-") as scratch:
        yield Path(scratch)


def _keep(made: Path, folder: Path) -> None:
    """Move a result to its place, unless it is there already: another run may have been quicker."""
    try:
        made.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def _bundle_in(folder: Path) -> WorkerBundle:
    main = next(path.name for path in sorted(folder.glob("index.*")) if path.suffix in {".js", ".mjs"})
    return ready_bundle(folder / main)


def _bundle(source: Path, build_folder: Path, scratch: Path, *, entry: str = "", own: Path | None = None) -> Path:
    """Run esbuild on a copy of the sources, without Node, which takes longer to start; the folder with its results."""
    # Absolute: it runs in a folder of its own.
    shop, out = scratch.resolve() / _SHOP, scratch.resolve() / "out"
    shutil.copytree(source, shop, ignore=shutil.ignore_patterns(*_SKIPPED))
    packages = _packages(source, build_folder).resolve() / "node_modules"
    (shop / "node_modules").symlink_to(packages)
    found = packages
    if own is None:
        target = shop / "entry.ts"
        target.write_text(entry, encoding="utf-8")
    else:
        target, found = own, _beside(own, build_folder) or packages
    options = json.loads((shop / _OPTIONS).read_text(encoding="utf-8"))
    # With the name of the result before it, a path that has a `=` in it is not taken for two.
    command = [_esbuild(packages), f"index={target}", f"--outdir={out}", *_flags(options)]
    command.append(f"--metafile={scratch.resolve() / _REPORT}")
    _run(command, shop, "the Worker does not bundle", NODE_PATH=str(found))
    return out


def _beside(entry: Path, build_folder: Path) -> Path | None:
    """Return the packages of an entry's project: installed there, else from its lock file into the build folder.

    None for one that has no lock file and does not name the SDK: it gets what this package's Worker has.
    """
    project = project_of(entry)
    locked = (project / _LOCK).is_file()
    if not locked and not _names_sdk(project):
        return None
    if any((folder / "node_modules" / contents.SDK).is_dir() for folder in (project, *project.parents)):
        return project / "node_modules"
    if locked:
        return _packages(project, build_folder).resolve() / "node_modules"
    raise BundleError(
        f"worker.entry: {project / 'package.json'} names {contents.SDK}, which is not installed, and has no {_LOCK} "
        "beside it; install the packages as the project does (`npm ci`, `pnpm install --frozen-lockfile` …)"
    )


def _names_sdk(project: Path) -> bool:
    try:
        package = json.loads((project / "package.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise BundleError(f"cannot read {project / 'package.json'} ({error}); correct it") from None
    groups = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
    return isinstance(package, dict) and any(contents.SDK in (package.get(group) or {}) for group in groups)


def _esbuild(packages: Path) -> str:
    """Return the program that npm has installed for this machine."""
    scope = packages / "@esbuild"
    found = [*scope.glob("*/bin/esbuild"), *scope.glob("*/esbuild.exe")]
    if not found:
        raise BundleError(f"the Worker does not bundle: {scope} has no program; delete {packages.parent} and try again")
    return str(found[0])


def _flags(options: Mapping[str, Any]) -> Iterator[str]:
    """Write the options of esbuild's API as arguments of its program."""
    for name, value in options.items():
        flag = "--" + re.sub("([A-Z])", lambda capital: f"-{capital[1].lower()}", name)
        if isinstance(value, dict):
            yield from (f"{flag}:{key}={each}" for key, each in value.items())
        elif name == "external":
            yield from (f"{flag}:{each}" for each in value)
        elif isinstance(value, list):
            yield f"{flag}={','.join(value)}"
        else:
            yield flag if value is True else f"{flag}={value}"


def _packages(source: Path, build_folder: Path) -> Path:
    """Return a folder with the packages that the lock file names, installed once per lock file."""
    given = [name for name in _PACKAGE_FILES if (source / name).is_file()]
    key = _digest((name, (source / name).read_bytes()) for name in given)
    folder = build_folder / "packages" / key
    if folder.is_dir():
        return folder
    with _scratch(folder.parent) as scratch:
        made = scratch / "packages"
        made.mkdir()
        for name in given:
            shutil.copyfile(source / name, made / name)
        install = ["npm", "ci", "--omit=dev", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"]
        _run(install, made, "the Worker's packages cannot be installed")
        _keep(made, folder)
    return folder


def _run(command: list[str], folder: Path, what: str, **environment: str) -> None:
    program = shutil.which(command[0])
    if program is None:
        raise BundleError(
            f"{what}: there is no `{command[0]}` on PATH; install Node 22 or newer, or set worker.bundle to a ready one"
        )
    try:
        done = subprocess.run(
            [program, *command[1:]],
            cwd=folder,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:  # a build folder that another kind of machine has filled
        text = f"{what}: {program} does not start here ({error.strerror})"
        raise BundleError(f"{text}; delete the build folder it is in and try again") from None
    if done.returncode:
        why = done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}"
        # Files are named from the program's folder, and not from the one that the command ran in.
        here = os.path.relpath(Path.cwd(), folder) + os.sep
        raise BundleError(f"{what}:\n{why.replace(str(folder), '').replace(here, '')}")


def _tree(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Return name and content of every source file, in one order."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
        for name in sorted(files):
            path = Path(parent, name)
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def _digest(parts: Iterable[tuple[str, bytes]]) -> str:
    digest = hashlib.sha256()
    for name, content in parts:
        digest.update(f"{len(name)} {len(content)} {name}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:24]


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
