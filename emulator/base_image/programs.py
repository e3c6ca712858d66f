"""Runs programs of the image on this machine, by the image's own loader: no root, no chroot, nothing of the system.

So what they make is the same on every machine.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from .system import LIBRARIES

_LOADER: Final = "ld-linux-x86-64.so.2"


def run(kept: Path, program: str, arguments: Sequence[str], *, env: Mapping[str, str] | None = None) -> None:
    """Run `program`, a path inside the image, of which `kept` holds what it needs."""
    command = [*_loader(kept), str(kept / program), *arguments]
    subprocess.run(command, env={"PATH": os.defpath, **(env or {})}, stdin=subprocess.DEVNULL, check=True)


def copy(kept: Path, program: str, target: Path) -> None:
    """Copy a program with the libraries it loads, so that it runs from `target` alone."""
    told = subprocess.run([*_loader(kept), "--list", str(kept / program)], capture_output=True, text=True, check=True)
    libraries = [Path(word) for word in told.stdout.split() if word.startswith(f"{kept}/")]
    for path in (kept / program, kept / LIBRARIES / _LOADER, *libraries):
        copied = target / path.relative_to(kept)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copied)


def _loader(kept: Path) -> tuple[str, ...]:
    libraries = kept / LIBRARIES
    return str(libraries / _LOADER), "--library-path", str(libraries)
