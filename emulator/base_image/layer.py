"""One layer of an image: a tar that depends on its contents alone, so that equal contents give equal digests.

Everything belongs to root: such a layer can be unpacked where only one user id is mapped.
"""

import io
import tarfile
from pathlib import Path, PurePosixPath
from typing import IO, Final, Self

EPOCH: Final = 1767225600
"""The time of files made here: zip, and with it pip, takes none before 1980."""


class Layer:
    """A tar that is being written; a path that is there already, here or in a layer below, is not written again.

    Paths are relative to the root, without a slash in front. `below` has the paths of the layers below.
    """

    def __init__(self, target: Path, *, below: frozenset[str] = frozenset()) -> None:
        self._archive = tarfile.open(target, "w", format=tarfile.PAX_FORMAT)  # noqa: SIM115 - closed by __exit__
        self._paths: set[str] = set()
        self._below = below

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    @property
    def paths(self) -> frozenset[str]:
        """Every path of this layer and those below."""
        return self._below | self._paths

    def has(self, path: str) -> bool:
        """Tell whether there is something at this path."""
        return path in self._paths or path in self._below

    def directory(self, path: str, mode: int = 0o755, mtime: int = EPOCH) -> None:
        """Add a folder with the folders it lies in."""
        if self.has(path) or path in {"", "."}:
            return
        self._parents(path)
        self._add(path, tarfile.DIRTYPE, mode, mtime)

    def file(
        self, path: str, content: bytes | str, mode: int = 0o644, mtime: int = EPOCH, *, replace: bool = False
    ) -> None:
        """Add a file; `replace` says that it takes the place of one in a layer below."""
        content = content.encode() if isinstance(content, str) else content
        self.stream(path, io.BytesIO(content), len(content), mode, mtime, replace=replace)

    def stream(
        self, path: str, content: IO[bytes], size: int, mode: int = 0o644, mtime: int = EPOCH, *, replace: bool = False
    ) -> None:
        """Add a file of this size from what can be read."""
        if self.has(path) and not (replace and path not in self._paths):
            return
        self._parents(path)
        self._add(path, tarfile.REGTYPE, mode, mtime, size=size, content=content)

    def symlink(self, path: str, target: str, mtime: int = EPOCH) -> None:
        """Add a symbolic link."""
        self._link(path, tarfile.SYMTYPE, target, mtime)

    def hardlink(self, path: str, target: str, mtime: int = EPOCH) -> None:
        """Add a second name for a file of this layer."""
        self._link(path, tarfile.LNKTYPE, target, mtime)

    def tree(self, folder: Path, inside: str) -> None:
        """Add what lies in a folder of this machine; times are dropped, since they are those of the unpacking."""
        for path in sorted(folder.rglob("*")):
            name = f"{inside}/{path.relative_to(folder).as_posix()}"
            if path.is_symlink():
                self.symlink(name, str(path.readlink()))
            elif path.is_dir():
                self.directory(name)
            else:
                with path.open("rb") as content:
                    size = path.stat().st_size
                    self.stream(name, content, size, 0o755 if path.stat().st_mode & 0o100 else 0o644)

    def _link(self, path: str, kind: bytes, target: str, mtime: int) -> None:
        if not self.has(path):
            self._parents(path)
            self._add(path, kind, 0o777, mtime, linkname=target)

    def _parents(self, path: str) -> None:
        self.directory(str(PurePosixPath(path).parent))

    def _add(
        self,
        path: str,
        kind: bytes,
        mode: int,
        mtime: int,
        *,
        linkname: str = "",
        size: int = 0,
        content: IO[bytes] | None = None,
    ) -> None:
        entry = tarfile.TarInfo(path)
        entry.type, entry.mode, entry.mtime, entry.linkname, entry.size = kind, mode, mtime, linkname, size
        self._archive.addfile(entry, content)
        self._paths.add(path)
