"""Installs programs that come as Python wheels (Go, Node), pinned by version and hash, into a cache folder."""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools import command
from tools.paths import ROOT, WHEELS, venv_python


def pinned_version(package: str) -> str:
    """Read the pinned version out of the wheel's requirements file."""
    found = re.search(rf"^{re.escape(package)}==(\S+)", _requirements(package).read_text(), re.MULTILINE)
    if not found:
        raise ValueError(f"{_requirements(package)} does not pin {package}")
    return found.group(1)


def install(package: str, folder: Path, *, what: str) -> None:
    """Unpack the wheel into `folder`; pip refuses it when its hash is not one of the pinned ones."""
    unpack(_requirements(package), folder, what=what)


def unpack(requirements: Path, folder: Path, *options: str, what: str) -> None:
    """Unpack all wheels of a requirements file that pins them by hash."""
    usual = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--no-compile", "--disable-pip-version-check"]
    with _pip(what) as pip:
        argv = [*pip, "install", *usual, *options, "--target", str(folder), "-r", str(requirements)]
        command.run(argv, what=what, log=requirements.stem, cwd=ROOT)


@contextmanager
def _pip(what: str) -> Iterator[list[str]]:
    """Return the environment's pip; where it has none, as those that uv makes, one for the time being."""
    own = [str(venv_python()), "-m", "pip"]
    if command.version_of([*own, "--version"]):
        yield own
        return
    with tempfile.TemporaryDirectory() as folder:
        command.run([str(venv_python()), "-m", "venv", folder], what=what, log="venv", cwd=ROOT)
        yield [f"{folder}/bin/python", "-m", "pip"]


def _requirements(package: str) -> Path:
    return WHEELS / f"{package}.txt"
