"""Programs that Linux systems package: from PATH, or out of Debian's package without installing it and without root."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from tools import command
from tools.errors import SetupError
from tools.progress import Board
from tools.setup import cache, debian

RUNC: Final = "runc"
SLIRP: Final = "slirp4netns"
REVISION: Final = 3  # of what `provide` makes: caches with an earlier one may hold a runc that does not run alone
# Where Debian keeps runc and mkfs, which is not on the PATH of ordinary users.
_ADMINISTRATION: Final = "/usr/sbin:/sbin"
# Stands in for a program whose libraries lie beside it because the system does not have them.
_WITH_LIBRARIES: Final = """#!/bin/sh
here="${{0%/*}}/{name}.lib"
LD_LIBRARY_PATH="$here" exec "$here/{name}" "$@"
"""
# runc starts itself again with an environment of its own, in which no libraries beside it would be found, and the
# container engine shows a sandbox's first process this one file.
_ALONE: Final = frozenset({RUNC})
_DEAD: Final = "it does not run"
# Part of every system, and bound to its loader.
_SYSTEM_LIBRARIES: Final = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|resolv))\.so\.\d+")


def find(name: str) -> Path | None:
    """Find a program on PATH or where administrators have theirs."""
    found = shutil.which(name) or shutil.which(name, path=_ADMINISTRATION)
    return Path(found) if found else None


def provide(name: str, folder: Path, *, board: Board) -> None:
    """Put the program into `folder`."""
    if found := find(name):
        # The cache must not depend on what the user uninstalls.
        copied = Path(shutil.copy(found, folder / f".{name}"))
        libraries = [] if name in _ALONE else _libraries(found)
        _put(copied, [Path(shutil.copy(each, folder)) for each in libraries], folder / name)
        if trouble := _trouble(folder / name):
            raise SetupError(f"cannot get {name}", f"a copy of {found} is of no use: {trouble}", _remedy(name))
        return
    if debian.why_not():
        raise SetupError(f"cannot get {name}", "it is not on PATH and this is not a Debian system", _remedy(name))

    def produce(scratch: Path) -> None:
        with board.step(f"{name} (Debian's package)"), tempfile.TemporaryDirectory(dir=scratch) as work:
            _unpack_package(name, Path(work), scratch)

    shutil.copytree(cache.entry(f"debian-{name}-{REVISION}", produce, board=board), folder, dirs_exist_ok=True)


def _unpack_package(name: str, work: Path, folder: Path) -> None:
    """Unpack the package and what it needs beyond what is installed."""
    what = f"cannot get {name} from Debian's packages"
    index = debian.Index.fetched(work / "apt", what=what, log=f"{name}-apt", here=True)
    (work / "root").mkdir()
    for package in index.download(name):
        command.run(["dpkg-deb", "-x", str(package), "root"], what=what, log=f"{name}-dpkg", cwd=work)
    found = next(work.glob(f"root/usr/*bin/{name}"), None)
    if not found:
        raise SetupError(what, "apt-get downloaded no package that holds it", _remedy(name))
    _put(found, [] if name in _ALONE else list(work.glob("root/**/lib*.so.*")), folder / name)
    if trouble := _trouble(folder / name):
        raise SetupError(what, f"the unpacked program is of no use: {trouble}", _remedy(name))


def _trouble(program: Path) -> str:
    """Try a program and say what is wrong with it, if anything is.

    One that has to run alone is tried as the container engine has it: elsewhere, in a bare environment.
    """
    from emulator.engine import runc_version  # noqa: PLC0415 - the rest of set-up stands without the emulator

    if program.name not in _ALONE:
        return "" if command.version_of([str(program), "--version"]) else _DEAD
    with tempfile.TemporaryDirectory(dir=program.parent) as place:
        alone = Path(place, program.name)
        alone.hardlink_to(program)
        try:
            said = subprocess.check_output([alone, "--version"], env={"PATH": os.defpath}, text=True, timeout=20)
        except (OSError, subprocess.SubprocessError):
            return _DEAD
    return runc_version.why_not(said) or ""


def _put(program: Path, libraries: list[Path], target: Path) -> None:
    if not libraries:
        shutil.move(program, target)
        return
    beside = target.with_name(f"{target.name}.lib")
    beside.mkdir()
    shutil.move(program, beside / target.name)
    for each in libraries:
        shutil.move(each, beside / each.name)
    target.write_text(_WITH_LIBRARIES.format(name=target.name))
    target.chmod(0o755)


def _libraries(program: Path) -> list[Path]:
    """What a program loads besides the system's own libraries; nothing of one that is static."""
    try:
        said = subprocess.run(["ldd", str(program)], capture_output=True, text=True, timeout=20, check=False).stdout
    except OSError:
        return []
    named = re.findall(r"^\s*(\S+) => (/\S+)", said, re.MULTILINE)
    return [Path(place) for name, place in named if not _SYSTEM_LIBRARIES.fullmatch(name)]


def _remedy(name: str) -> str:
    return f"Install {name} (Debian and Ubuntu: the package {name}) and try again"
