"""Files of a project, read with care: what is too large, not text, or leads in a circle is said and not followed."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Final

LARGEST_CONFIG: Final = 1_000_000
LARGEST_MODULE: Final = 2_000_000
LARGEST_LOCK: Final = 64_000_000
MOST_FOLDERS: Final = 20_000
SKIPPED: Final = frozenset({"node_modules", "venv", "__pycache__", "dist"})
"""Folders of others' or of made files; hidden ones are skipped too."""
CONFIGS: Final = ("wrangler.json", "wrangler.jsonc", "wrangler.toml")
"""Names of configurations; of several in one folder wrangler takes the first of these."""


class UnreadableError(ValueError):
    """A file that cannot be read, and why."""


@dataclass
class Files:
    """Reads files below a folder and remembers what could not be read."""

    root: Path
    problems: list[tuple[str, str]] = field(default_factory=list)
    """Places and what is wrong there."""
    notes: list[tuple[str, str]] = field(default_factory=list)
    """Places and what nobody can tell who only reads them."""
    _start: str = field(default_factory=lambda: os.path.join(os.getcwd(), ""))  # noqa: PTH109, PTH118 - text is faster

    def name(self, path: Path) -> str:
        """Return a file's name as findings say it: relative to where the command was started, if it is below."""
        absolute = os.path.abspath(path)  # noqa: PTH100 - resolve() would follow links
        return absolute.removeprefix(self._start).replace(os.sep, "/")

    def text(self, path: Path, largest: int = LARGEST_CONFIG) -> str | None:
        """Return a file's text; None if there is no such file, or if it cannot be read, which is remembered."""
        try:
            return read(path, largest)
        except FileNotFoundError:
            return None
        except UnreadableError as error:
            self.problems.append((f"{self.name(path)}:1", str(error)))
            return None

    def problem(self, where: str, what: str) -> None:
        """Remember that something could not be read."""
        self.problems.append((where, what))


def is_file(path: Path | str) -> bool:
    """Say whether there is such a file; unlike pathlib, a name that no file can have is no error."""
    return os.path.isfile(path)  # noqa: PTH113 - see above


def is_folder(path: Path | str) -> bool:
    """Say whether there is such a folder; unlike pathlib, a name that no folder can have is no error."""
    return os.path.isdir(path)  # noqa: PTH112 - see above


def read(path: Path, largest: int) -> str:
    """Read a text file; UTF-8 and UTF-16 with a mark are understood."""
    try:
        status = path.stat()
        size = status.st_size
        data = path.read_bytes() if S_ISREG(status.st_mode) and size <= largest else None
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except OSError as error:
        raise UnreadableError(f"the file cannot be read: {error.strerror or error}") from None
    except ValueError:
        raise UnreadableError("the name of the file is not one") from None
    if data is None and size > largest:
        raise UnreadableError(f"the file has {size} bytes, more than the {largest} that are read")
    if data is None:
        raise UnreadableError("this is not a file")
    return decoded(data)


def decoded(data: bytes) -> str:
    """Return the text of bytes; line ends become plain ones."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableError(f"the file is not {encoding.removesuffix('-sig').upper()} text: {error.reason}") from None
    if "\0" in text:
        raise UnreadableError("the file is binary")
    return text.replace("\r\n", "\n")


def walk(files: Files, root: Path) -> Iterator[tuple[Path, list[str]]]:
    """Return every folder below with its files; links to folders are not followed, so there are no circles."""

    def closed(error: OSError) -> None:
        files.problem(f"{files.name(Path(error.filename))}:1", f"the folder cannot be read: {error.strerror}")

    for count, (folder, folders, names) in enumerate(os.walk(root, onerror=closed, followlinks=False)):
        if count >= MOST_FOLDERS:
            files.problem(f"{files.name(root)}:1", f"there are more than the {MOST_FOLDERS} folders that are searched")
            return
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
        yield Path(folder), sorted(names)
