"""Where the folders and files that belong to this package lie: beside it in a checkout, inside it when installed."""

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_PROGRAMS: Final = "programs"


def folder(name: str) -> Path:
    """Return the folder `images`, `pipelines`, `policy` or `worker_src`."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


def file(name: str) -> Path:
    """Return the file `requirements.txt`."""
    inside = _PACKAGE / name
    return inside if inside.is_file() else _PACKAGE.parent / name


def programs() -> Path:
    """Return the folder from which `python -m tools` and `python -m emulator` run, each in a process of its own."""
    inside = _PACKAGE / _PROGRAMS
    return inside if inside.is_dir() else _PACKAGE.parent
