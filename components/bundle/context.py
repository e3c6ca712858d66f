"""Build contexts: what a builder is given, known by a hash of its content.

The hash depends on paths, bytes and whether a file can be executed; neither on order nor on times. A rendered context
is written to a folder named by that hash, so that a builder finds the same place as long as nothing changed.
"""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from posixpath import normpath
from typing import Final

from .ignore import Ignored

IGNORE_FILE: Final = ".dockerignore"
_SHORT: Final = 12


@dataclass(frozen=True)
class Entry:
    """A file of a context: bytes in hand, or a path whose bytes count."""

    content: bytes | Path
    executable: bool = False

    def read(self) -> bytes:
        """Return the bytes."""
        return self.content if isinstance(self.content, bytes) else self.content.read_bytes()

    def digest(self) -> bytes:
        """Hash the bytes without holding a large file in memory."""
        if isinstance(self.content, bytes):
            return hashlib.sha256(self.content).digest()
        with self.content.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()


Context = Mapping[str, Entry]


def content_hash(context: Context) -> str:
    """Hash a context."""
    total = hashlib.sha256()
    for path, entry in sorted(context.items()):
        name = path.encode("utf-8", "surrogateescape")
        total.update(len(name).to_bytes(8, "big") + name + bytes([entry.executable]) + entry.digest())
    return total.hexdigest()


def short(full: str) -> str:
    """Return the part of a hash that names folders and tags."""
    return full[:_SHORT]


def rendered(dockerfile: str, ignore_file: str, files: Mapping[str, str], project: Path) -> dict[str, Entry]:
    """Return the context of a rendered Dockerfile: its files lie under the number of their destination."""
    context = {"Dockerfile": Entry(dockerfile.encode()), IGNORE_FILE: Entry(ignore_file.encode())}
    ignored = Ignored(ignore_file)
    for number, (destination, source) in enumerate(sorted(files.items())):
        for path, entry in _copied(destination, source, project, ignored):
            context[f"files/{number}{path}"] = entry
    return context


def _copied(destination: str, source: str, project: Path, ignored: Ignored) -> Iterator[tuple[str, Entry]]:
    place = f"image.files: {source}"
    top = inside(project, source, place)
    if not top.exists():
        raise ValueError(f"{place} does not exist; make it, or take {destination} out of image.files")
    # By its whole path and by where that leads: neither a file in `.ssh` nor a link to one may go in.
    real = top.resolve().relative_to(project.resolve()).as_posix()
    if ignored(normpath(source)) or ignored(real):
        raise ValueError(f"{place} is a kind of file that never goes into an image; give it to the Worker instead")
    if top.is_file():
        yield "", _entry(top)
        return
    own = _read_patterns(top / IGNORE_FILE)
    found = [(path, name) for path, name in _walk(top, ignored) if not own(name)]
    for path, name in found:
        if path.is_symlink():
            raise ValueError(f"{place} has the link {name}, which may lead anywhere; copy what it points to")
    if not found:
        raise ValueError(f"{place} has no files to copy; put some there, or take {destination} out of image.files")
    yield from ((f"/{name}", _entry(path)) for path, name in found)


def _read_patterns(path: Path) -> Ignored:
    return Ignored(path.read_text(encoding="utf-8") if path.is_file() else "")


def inside(project: Path, source: str, place: str) -> Path:
    """Return the full path of something in the project; neither `..` nor a link may lead out of it."""
    path = project / source
    if not path.resolve().is_relative_to(project.resolve()):
        raise ValueError(f"{place} is outside the project; copy it into the project")
    return path


def _walk(top: Path, ignored: Ignored) -> Iterator[tuple[Path, str]]:
    """Return files and links that are not left out, each with its name from the top; links are not followed."""
    for folder, folders, files in os.walk(top):
        here = Path(folder)
        names = {each: (here / each).relative_to(top).as_posix() for each in (*folders, *files)}
        links = [each for each in folders if (here / each).is_symlink()]
        folders[:] = [each for each in folders if each not in links and not ignored.whole(names[each])]
        for each in (*files, *links):
            path = here / each
            if (path.is_symlink() or path.is_file()) and not ignored(names[each]):
                yield path, names[each]


def _entry(path: Path) -> Entry:
    return Entry(path, executable=bool(path.stat().st_mode & stat.S_IXUSR))


def _link(path: Path) -> Entry:
    return Entry(b"link to " + os.fsencode(path.readlink()))


def existing(folder: Path, dockerfile: Path) -> dict[str, Entry]:
    """Return a context that lies in a folder already, as a builder sees it; links are what they point to by name."""
    own = dockerfile.with_name(f"{dockerfile.name}{IGNORE_FILE}")
    ignored = _read_patterns(own if own.is_file() else folder / IGNORE_FILE)
    context = {name: _link(path) if path.is_symlink() else _entry(path) for path, name in _walk(folder, ignored)}
    # Not a name a file can have: the Dockerfile counts even where it is outside the context or ignored.
    return {**context, "//Dockerfile": Entry(dockerfile)}


def write(context: Context, folder: Path) -> None:
    """Make a folder hold a context and nothing else; files that have the right bytes are left alone."""
    wanted = {folder / path: entry for path, entry in context.items()}
    if folder.is_dir():
        _clear(folder, set(wanted))
    for path, entry in wanted.items():
        content, mode = entry.read(), 0o755 if entry.executable else 0o644
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        if stat.S_IMODE(path.stat().st_mode) != mode:
            path.chmod(mode)


def _clear(folder: Path, wanted: set[Path]) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_symlink() or (path.is_file() and path not in wanted):
            path.unlink()
        elif path.is_dir() and not any(path in each.parents for each in wanted):
            shutil.rmtree(path)
