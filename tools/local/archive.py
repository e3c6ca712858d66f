"""A local stack as a file: the emulated account and the engine's state, and beside it the keys of the secrets in them.

`FILE` is a tar archive, not compressed, so that it cannot be larger than it looks. Secrets in it stay sealed; what
opens them, and lets in to account and API, is `FILE.keys`. Both are for their owner alone. Sandboxes are no part
of it. What is read is looked at as a whole before anything of it is written.
"""

import base64
import binascii
import contextlib
import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final, TextIO

from tools import command
from tools.errors import SetupError
from tools.local import emulator
from tools.local.stack import LocalStack, is_name
from tools.setup import install

_FORMAT: Final = 1
_ABOUT: Final = "about.json"
_LARGEST_ABOUT: Final = 4096
_MOST_FILES: Final = 200_000
# What is taken along, below the stack's folder. All else comes back by itself, or is a key.
_ACCOUNT: Final = ("state.sqlite3", "state.sqlite3-wal", "blobs", "d1", "runtime/objects")
_STATES: Final = (".pulumi/meta.yaml", ".pulumi/stacks")
_KEYS: Final = {"account": "emulator/key", "token": "emulator/token", "passphrase": "passphrase", "api_key": "api-key"}


@dataclass(frozen=True)
class Saved:
    """What was written."""

    file: Path
    keys: Path
    size: int
    files: int


def keys_of(file: Path) -> Path:
    """Return where the keys of a saved stack are."""
    return file.with_name(f"{file.name}.keys")


def save(stack: LocalStack, file: Path, out: TextIO) -> Saved:
    """Write a stack that is up; its emulator stops for that and is started again, its sandboxes end."""
    if not stack.is_up():
        raise SetupError(f"{stack.qualified} was not saved", "it is not up", f"Run `{stack.command} up`")
    _require_free(file, stack)
    with stack.locked():
        was_running = emulator.halt(stack)
        try:
            found = _written(stack, file)
        finally:
            if was_running:
                emulator.start(install.ensure(), stack)
        print(f"Its sandboxes are not part of {file.name}; those that ran have ended.", file=out)
    return found


def _require_free(file: Path, stack: LocalStack) -> None:
    """Refuse a place that cannot be written, or holds something, while everything still runs."""
    if file.resolve().is_relative_to(stack.folder.resolve()):
        why, remedy = f"`down` takes {stack.folder} away", "Name a file outside of it"
    elif not file.parent.is_dir():
        why, remedy = f"there is no folder {file.parent}", "Make it, or name a file elsewhere"
    elif file.is_dir():
        why, remedy = "it is a folder", f"Name a file in it, such as {file / stack.name}.stack"
    elif there := [each.name for each in (file, keys_of(file)) if os.path.lexists(each)]:
        why, remedy = f"{' and '.join(there)} would be overwritten", "Name another file, or remove what is there"
    else:
        return
    raise SetupError(f"{stack.qualified} was not saved to {file}", why, remedy)


def _written(stack: LocalStack, file: Path) -> Saved:
    paths = list(_files(stack))
    about = {"format": _FORMAT, "project": stack.project_name, "stack": stack.name}
    with _scratch(file) as (archive, scratch), tarfile.open(fileobj=archive, mode="w:") as tar:
        content = json.dumps(about).encode()
        entry = tarfile.TarInfo(_ABOUT)
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
        for path in paths:
            entry = tarfile.TarInfo(path.relative_to(stack.folder).as_posix())
            with path.open("rb") as source:
                entry.size = os.fstat(source.fileno()).st_size
                tar.addfile(entry, source)
        tar.close()
        archive.flush()
        with _scratch(keys_of(file)) as (keys, keys_scratch):
            keys.write(json.dumps(_present_keys(stack), indent=2).encode() + b"\n")
            keys.flush()
            keys_scratch.replace(keys_of(file))
        scratch.replace(file)
    return Saved(file, keys_of(file), file.stat().st_size, len(paths))


@contextlib.contextmanager
def _scratch(target: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """Open a file for its owner alone that may take the place of another when it is whole."""
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file, Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _files(stack: LocalStack) -> Iterator[Path]:
    wanted = [stack.emulator / name for name in _ACCOUNT] + [stack.backend.parent / name for name in _STATES]
    for each in stack.known():  # their states are in the same backend
        project_name, _, name = each.partition("/")
        other = replace(stack, project_name=project_name, name=name)
        wanted += [other.settings_copy, other.taken]
    for place in wanted:
        found = place.rglob("*") if place.is_dir() else [place]
        yield from (path for path in sorted(found) if path.is_file() and not path.is_symlink())


def _present_keys(stack: LocalStack) -> dict[str, str]:
    places = {name: stack.folder / place for name, place in _KEYS.items()}
    return {name: base64.b64encode(path.read_bytes()).decode() for name, path in places.items() if path.is_file()}


def load(stack: LocalStack, file: Path, *, any_stack: bool) -> LocalStack:
    """Put a saved stack into an empty folder; which stack it is. `up` starts it."""
    with stack.locked(), _opened(file) as tar:
        about = _about(tar, file)
        if about["project"] != stack.project_name:
            raise _refused(file, f"it is of the project {about['project']}, and this is {stack.project_name}")
        if not any_stack and about["stack"] != stack.name:
            raise _refused(file, f"it is the stack {about['stack']}, and {stack.name} was asked for")
        found = replace(stack, name=about["stack"])
        if found.known() or found.emulator.exists():
            remedy = f"Run `{stack.command} down`, or name another place with --folder"
            raise SetupError(f"{file.name} was not loaded", "there is a stack already", remedy)
        members = _members(tar, found, file)
        keys = _read_keys(keys_of(file))
        command.require_space(found.folder, sum(each.size for each in members) / 1e9, what=f"cannot load {file.name}")
        _unpack(tar, members, keys, found)
    return found


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[tarfile.TarFile]:
    try:
        # Not compressed: what is read can be no larger than the file.
        with tarfile.open(file, mode="r:") as tar:
            yield tar
    except (tarfile.TarError, EOFError) as error:
        raise _refused(file, f"it is no archive of a stack, or damaged ({error})") from error


def _refused(file: Path, why: str) -> SetupError:
    return SetupError(f"{file.name} was not loaded", why, "Name a file that `sandbox-stack local save` has written")


def _about(tar: tarfile.TarFile, file: Path) -> dict[str, str]:
    first = tar.next()
    if first is None or first.name != _ABOUT or not first.isreg() or first.size > _LARGEST_ABOUT:
        raise _refused(file, "it does not begin with a description of a stack")
    content = tar.extractfile(first)
    assert content is not None  # noqa: S101 - it is a file
    try:
        about: Any = json.loads(content.read())
    except ValueError:
        about = None
    if not isinstance(about, dict) or about.get("format") != _FORMAT:
        raise _refused(file, "its description is not one that this version understands")
    if not all(isinstance(about.get(name), str) and is_name(about[name]) for name in ("project", "stack")):
        raise _refused(file, "its description names no project and stack")
    return about


def _members(tar: tarfile.TarFile, stack: LocalStack, file: Path) -> list[tarfile.TarInfo]:
    """Return the files of an archive; refuse all of it for one that is something else, or lies somewhere else."""
    found: dict[str, tarfile.TarInfo] = {}
    size, most = 0, file.stat().st_size
    for member in tar:
        if member.name == _ABOUT and not found:
            continue
        size += max(member.size, 0)
        if not member.isreg() or member.issparse():
            raise _refused(file, f"{member.name!r} in it is no plain file")
        if not _belongs(member.name, stack):
            raise _refused(file, f"{member.name!r} in it is no part of a stack")
        if member.name in found:
            raise _refused(file, f"{member.name!r} is in it twice")
        if size > most or len(found) >= _MOST_FILES:
            raise _refused(file, "it claims to hold more than it can")
        found[member.name] = member
    return list(found.values())


def _belongs(name: str, stack: LocalStack) -> bool:
    path = PurePosixPath(name)
    if path.is_absolute() or path.as_posix() != name or ".." in path.parts or "\\" in name or "\0" in name:
        return False
    place = stack.folder / path
    if len(path.parts) == 4 and path.parts[0] == "project":
        other = replace(stack, project_name=path.parts[1], name=path.parts[2])
        return place in (other.settings_copy, other.taken)
    wanted = [stack.emulator / each for each in _ACCOUNT] + [stack.backend.parent / each for each in _STATES]
    return any(place == each or place.is_relative_to(each) for each in wanted)


def _read_keys(file: Path) -> dict[str, bytes]:
    """Return the keys by their places."""
    what = f"{file.name} cannot be used"
    remedy = "Bring the file of keys that was written beside the archive"
    try:
        content = file.read_bytes()
    except OSError as error:
        raise SetupError(what, error.strerror or str(error), remedy) from error
    try:
        found = dict(json.loads(content))
        keys = {_KEYS[name]: base64.b64decode(value, validate=True) for name, value in found.items()}
    except (ValueError, TypeError, KeyError, binascii.Error) as error:
        raise SetupError(what, "it holds no keys of a stack", remedy) from error
    if missing := sorted({"token", "passphrase"} - found.keys()):  # the others are made when they are first needed
        raise SetupError(what, f"it lacks {' and '.join(missing)}", remedy)
    return keys


def _unpack(tar: tarfile.TarFile, members: list[tarfile.TarInfo], keys: dict[str, bytes], stack: LocalStack) -> None:
    """Write everything beside its place, then bring it there: a load that fails leaves nothing."""
    scratch = Path(tempfile.mkdtemp(dir=stack.folder, prefix=".loading-"))
    try:
        for member in members:
            content = tar.extractfile(member)
            assert content is not None  # noqa: S101 - it is a file
            with _created(scratch / member.name) as target:
                shutil.copyfileobj(content, target, 1 << 20)
        for place, value in keys.items():
            with _created(scratch / place) as target:
                target.write(value)
        for path in sorted(scratch.iterdir()):
            # Running pulumi by hand makes folders in which no stack is.
            shutil.rmtree(stack.folder / path.name, ignore_errors=True)
            path.replace(stack.folder / path.name)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _created(path: Path) -> IO[bytes]:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb")
