"""Python in the image: wheels beside Debian's interpreter, and everything compiled.

A container begins with the image's files, so modules that are not compiled there are compiled in each one anew.
"""

import os
from pathlib import Path
from typing import Final

from . import programs
from .layer import EPOCH, Layer
from .packages import Package

_TESTS: Final = r"/tests?/"


def version_of(packages: tuple[Package, ...]) -> str:
    """Return the version, such as 3.11, of the interpreter among the packages."""
    for package in packages:
        if package.name == "python3":
            return ".".join(package.version.split(".")[:2])
    raise LookupError("there is no python3 among the packages")


def add_wheels(layer: Layer, wheels: Path, version: str, kept: Path) -> None:
    """Add what pip has unpacked from wheels, where pip in the image would have put it."""
    inside = f"usr/local/lib/python{version}/dist-packages"
    for path in sorted(wheels.rglob("*")):
        if path.is_dir():
            continue
        name = path.relative_to(wheels).as_posix()
        content = path.read_bytes()
        if name.startswith("bin/"):
            # pip wrote the path of the interpreter that ran it.
            script = b"#!/usr/bin/python3\n" + content.partition(b"\n")[2]
            layer.file(f"usr/local/{name}", script, 0o755)
            continue
        if name.endswith(".dist-info/RECORD"):
            content = b"".join(line for line in content.splitlines(keepends=True) if b"bin/" not in line)
        layer.file(f"{inside}/{name}", content)
        if name.endswith(".py"):
            copy = kept / inside / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)
            os.utime(copy, (EPOCH, EPOCH))


def compile_all(layer: Layer, version: str, kept: Path) -> None:
    """Add every module in its compiled form, made by the image's own interpreter."""
    folders = ("usr/lib/python3", f"usr/lib/python{version}", f"usr/local/lib/python{version}")
    present = [str(kept / folder) for folder in folders if (kept / folder).is_dir()]
    arguments = ["-S", "-m", "compileall", "-q", "-x", _TESTS, "-s", str(kept), "-p", "/", *present]
    # One process and one seed: the order of sets and of shared constants is part of what is written.
    # What the compiler itself loads it must not write on the way: that would name the folder it lies in here.
    env = {"PYTHONHOME": str(kept / "usr"), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    programs.run(kept, f"usr/bin/python{version}", arguments, env=env)
    for folder in present:
        for path in sorted(Path(folder).rglob("*.pyc")):
            layer.file(path.relative_to(kept).as_posix(), path.read_bytes())
