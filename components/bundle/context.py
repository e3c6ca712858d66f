"""Build contexts: what a builder is given, known by a hash of its content.

The hash depends on paths, bytes and whether a file can be executed; neither on order nor on times. A rendered context
is written to a folder named by that hash, so that a builder finds the same place as long as nothing changed.
"""

import hashlib
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .ignore import Ignored, reader

IGNORE_FILE: Final = ".dockerignore"
_SHORT: Final = 12


@dataclass(frozen=True)
class Entry:
    """A file of a context: bytes in hand, or a path whose bytes count."""

    content: bytes | Path
    executable: bool = False

    def read(self) -> bytes:
        """Give the bytes."""
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
    """Give the part of a hash that names folders and tags."""
    return full[:_SHORT]


def rendered(dockerfile: str, ignore_file: str, files: Mapping[str, str], project: Path) -> dict[str, Entry]:
    """Give the context of a rendered Dockerfile: its files lie under the number of their destination."""
    context = {"Dockerfile": Entry(dockerfile.encode()), IGNORE_FILE: Entry(ignore_file.encode())}
    ignored = reader(ignore_file)
    for number, (destination, source) in enumerate(sorted(files.items())):
        for path, entry in _copied(destination, source, project, ignored):
            context[f"files/{number}{path}"] = entry
    return context


def _copied(destination: str, source: str, project: Path, ignored: Ignored) -> Iterator[tuple[str, Entry]]:
    place = f"image.files: {source}"
    top = inside(project, source, place)
    if not top.exists():
        raise ValueError(f"{place} does not exist; make it, or take {destination} out of image.files")
    if top.is_file():
        if ignored(top.name):
            raise ValueError(f"{place} is a kind of file that never goes into an image; give it to the Worker instead")
        yield "", _entry(top)
        return
    own = top / IGNORE_FILE
    also = reader(own.read_text(encoding="utf-8")) if own.is_file() else reader("")
    found = [(path, name) for path, name in _walk(top, place) if not ignored(name) and not also(name)]
    if not found:
        raise ValueError(f"{place} has no files to copy; put some there, or take {destination} out of image.files")
    yield from ((f"/{name}", _entry(path)) for path, name in found)


def inside(project: Path, source: str, place: str) -> Path:
    """Give the full path of something in the project; neither `..` nor a link may lead out of it."""
    path = project / source
    if not path.resolve().is_relative_to(project.resolve()):
        raise ValueError(f"{place} is outside the project; copy it into the project")
    return path


def _walk(top: Path, place: str) -> Iterator[tuple[Path, str]]:
    for path in sorted(top.rglob("*")):
        if path.is_symlink():
            name = path.relative_to(top).as_posix()
            raise ValueError(f"{place} has the link {name}, which may lead anywhere; copy what it points to")
        if path.is_file():
            yield path, path.relative_to(top).as_posix()


def _entry(path: Path) -> Entry:
    return Entry(path, executable=bool(path.stat().st_mode & stat.S_IXUSR))


def existing(folder: Path, dockerfile: Path) -> dict[str, Entry]:
    """Give a context that lies in a folder already, as a builder will see it; links are what they point to by name."""
    own = dockerfile.with_name(f"{dockerfile.name}{IGNORE_FILE}")
    patterns = own if own.is_file() else folder / IGNORE_FILE
    ignored = reader(patterns.read_text(encoding="utf-8")) if patterns.is_file() else reader("")
    context = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if ignored(name):
            continue
        if path.is_symlink():
            context[name] = Entry(b"link to " + str(path.readlink()).encode("utf-8", "surrogateescape"))
        elif path.is_file():
            context[name] = _entry(path)
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
