"""A wrangler project on disk: found, read with what its conversion has to know, and written as a Pulumi project.

All files of the new project appear, or none; a file that exists is never replaced.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..check.config import read_config
from ..check.files import CONFIGS, Files, is_file, is_folder
from ..check.npm import facts as npm_facts
from ..errors import UserError, reading_or_writing
from ..init.writing import in_the_way
from ..init.writing import write as write_all
from .document import Document
from .environment import Environment, named


class ProjectError(UserError):
    """A project that cannot be read or written: one line for each problem."""


@dataclass(frozen=True)
class Found:
    """A configuration that was found and read."""

    path: Path
    document: Document
    sdk_version: str | None
    """Version of the SDK that the project has, where its lock file does not say it for the builder."""

    def environment(self, name: str) -> Environment:
        """Return an environment by name; the top level for an empty one."""
        if name and name not in named(self.document):
            known = ", ".join(named(self.document)) or "there are none"
            raise ProjectError(f"{self.document.name}: there is no environment {name} ({known})")
        return Environment(self.document, self.path.parent, name)


def find(path: Path) -> Found:
    """Find and read the configuration of a project: a folder with one, or the file itself."""
    if is_folder(path):
        chosen = next((path / name for name in CONFIGS if is_file(path / name)), None)
        if chosen is None:
            raise ProjectError(f"there is no {', '.join(CONFIGS)} in {path}; name the folder of a wrangler project")
        path = chosen
    if not is_file(path):
        raise ProjectError(f"{path}: there is no such file or folder; name the folder of a wrangler project")
    files = Files(path.parent)
    document = read_config(files, path)
    if document is None or files.problems:
        raise ProjectError("\n".join(f"{where}: {what}" for where, what in files.problems))
    if document.twice:
        raise ProjectError(
            "\n".join(f"{document.where(*each)}: {each[-1]} is said twice; keep one" for each in document.twice)
        )
    package, _ = npm_facts(files, path.parent, files.root)
    locked = package.locked.value if package.locked else None
    plain = is_file(path.parent / "package-lock.json")
    return Found(path, document, None if plain and locked else locked)


def stack_name(wanted: str) -> str:
    """Return the name back if a Pulumi stack, and its file, can be called this."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", wanted):
        raise ProjectError(f"{wanted!r} cannot name a Pulumi stack; give another name with --stack")
    return wanted


def is_inside(folder: Path, path: str) -> bool:
    """Whether a path names a file below a folder, also after links were followed."""
    if "\0" in path or not is_file(folder / path):
        return False
    return (folder / path).resolve().is_relative_to(folder.resolve())


def leads_out(folder: Path, path: str) -> bool:
    """Whether links on the way take a path out of a folder."""
    return not Path(os.path.realpath(folder / path)).is_relative_to(os.path.realpath(folder))


def write(folder: Path, contents: Mapping[str, str | bytes]) -> None:
    """Write files that do not exist yet: all of them, or none."""
    with reading_or_writing(folder, "nothing was written; name another folder"):
        taken = in_the_way(folder, contents)
    if taken:
        raise ProjectError(f"{folder} has {', '.join(taken)} already, and nothing is overwritten; name another folder")
    with reading_or_writing(folder, "nothing was written; name another folder"):
        write_all(folder, contents)
