"""Provides runc, which BuildKit needs for RUN steps: from PATH, or out of Debian's package without installing it."""

import platform
import shutil
import tempfile
from pathlib import Path
from typing import Final

from tools import command
from tools.errors import SetupError
from tools.progress import Board

# The name BuildKit looks for before plain `runc`.
PROGRAM: Final = "buildkit-runc"
_REMEDY: Final = "Install runc (Debian and Ubuntu: the package runc) and try again"


def on_path() -> Path | None:
    """Find runc on PATH."""
    found = shutil.which(PROGRAM) or shutil.which("runc")
    return Path(found) if found else None


def provide(folder: Path, *, board: Board) -> None:
    """Put runc beside buildkitd."""
    if platform.system() != "Linux":
        raise SetupError("cannot run BuildKit here", "it needs Linux", "Use a remote builder on this machine")
    if found := on_path():
        shutil.copy(found, folder / PROGRAM)  # the cache must not depend on what the user uninstalls
        return
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise SetupError("cannot get runc", "it is not on PATH and this is not a Debian system", _REMEDY)
    with board.step("runc (Debian's package)"), tempfile.TemporaryDirectory(dir=folder) as scratch:
        _unpack_package(Path(scratch), folder / PROGRAM)


def _unpack_package(scratch: Path, program: Path) -> None:
    """Use package lists of our own, so that neither root nor the system's lists are touched."""
    options = [
        *("-o", f"Dir::State={scratch}/state"),
        *("-o", f"Dir::State::status={scratch}/status"),
        *("-o", f"Dir::Cache={scratch}/cache"),
        *("-o", "APT::Sandbox::User="),
        *("-o", "Acquire::Languages=none"),
        *("-o", "Debug::NoLocking=1"),
    ]
    (scratch / "status").touch()
    for sub in ("state/lists/partial", "cache/archives/partial"):
        (scratch / sub).mkdir(parents=True)
    what = "cannot get runc from Debian's packages"
    command.run(["apt-get", *options, "-qq", "update"], what=what, log="apt-update", cwd=scratch)
    command.run(["apt-get", *options, "-qq", "download", "runc"], what=what, log="apt-download", cwd=scratch)
    package = next(scratch.glob("runc_*.deb"), None)
    if not package:
        raise SetupError(what, "apt-get downloaded nothing", _REMEDY)
    command.run(["dpkg-deb", "-x", str(package), str(scratch / "root")], what=what, log="dpkg", cwd=scratch)
    found = next(scratch.glob("root/usr/*bin/runc"))
    if not command.version_of([str(found), "--version"]):
        raise SetupError(what, "the unpacked program does not run", _REMEDY)
    shutil.move(found, program)
