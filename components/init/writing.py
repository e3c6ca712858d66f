"""Writing a plan: all files or none, and nothing that is there already is touched."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath


def in_the_way(folder: Path, files: Iterable[str]) -> list[str]:
    """Return what lies where files are to be, by its path in the folder, and what is no folder where one has to be."""
    if os.path.lexists(folder) and not folder.is_dir():
        return ["."]
    return sorted({found for name in files for found in _obstacles(folder, PurePosixPath(name))})


def _obstacles(folder: Path, name: PurePosixPath) -> Iterator[str]:
    for above in [each for each in name.parents if each.name]:
        # A link would lead what is written out of the folder.
        if (folder / above).is_symlink() or ((folder / above).exists() and not (folder / above).is_dir()):
            yield f"{above}"
    if os.path.lexists(folder / name):
        yield f"{name}"


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write every file; whatever happens on the way, what was made so far is taken away again."""
    made: list[Path] = []
    try:
        for name, content in files.items():
            _make_folders((folder / name).parent, made)
            with (folder / name).open("xb") as file:
                made.append(folder / name)
                file.write(content.encode() if isinstance(content, str) else content)
    except BaseException:
        for path in reversed(made):
            path.rmdir() if path.is_dir() else path.unlink()
        raise


def _make_folders(folder: Path, made: list[Path]) -> None:
    absent = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(absent):
        each.mkdir()
        made.append(each)
