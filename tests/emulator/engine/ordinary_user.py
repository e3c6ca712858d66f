"""Runs tests as an ordinary user, from a run of root's: as nobody, who is there on every machine.

What tests need may lie where nobody cannot look, below root's home for one. In a mount namespace of its own the closed
folders are covered by open ones, with only the needed paths in them; outside nothing changes.
"""

import ctypes
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

from testbed import loopback
from testbed.emulator.machine import PARTS, parts
from tools.paths import LOCAL, ROOT

_NOBODY = 65_534
_NEW_MOUNTS, _BIND, _RECURSIVE, _PRIVATE = 0x20000, 4096, 16384, 1 << 18
_SECONDS = 240
HOME = LOCAL / "ordinary-user"


def run_tests(*files: Path) -> tuple[dict[str, int], str]:
    """Run files of tests as nobody; the counts of their summary, and all they said."""
    HOME.mkdir(parents=True, exist_ok=True)  # kept: unpacked layers are used again
    os.chown(HOME, _NOBODY, _NOBODY)
    places = {"HOME": str(HOME), "XDG_CACHE_HOME": str(HOME), "TMPDIR": str(HOME)}
    environment = {"PATH": os.environ["PATH"], PARTS: os.pathsep.join(map(str, parts())), **places}
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={HOME / 'made'}"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.emulator.engine.ordinary_user", *pytest, *map(str, files)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    output = done.stdout + done.stderr
    summary = output.strip().splitlines()[-1] if output.strip() else ""
    counts = dict.fromkeys(("passed", "failed", "errors", "skipped"), 0)
    found = {word.rstrip("s") if word == "error" else word: int(n) for n, word in re.findall(r"(\d+) (\w+)", summary)}
    return {**counts, **found}, output


def main() -> None:
    """Open what is needed and become nobody; then be the program that is named."""
    _mount_namespace()
    _open_up([ROOT, Path(sys.base_prefix), *parts()])
    _open_fuse()
    os.setgroups([])
    os.setgid(_NOBODY)
    os.setuid(_NOBODY)
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606 - there is no shell to prefer


def _open_fuse() -> None:
    """Let everybody use FUSE here, as most machines do."""
    device = Path("/dev/fuse")
    if device.exists():
        stand_in = HOME / "fuse"
        stand_in.unlink(missing_ok=True)
        os.mknod(stand_in, 0o666 | stat.S_IFCHR, device.stat().st_rdev)
        stand_in.chmod(0o666)
        _check(ctypes.CDLL(None, use_errno=True).mount(bytes(stand_in), bytes(device), b"none", _BIND, b""))


def _mount_namespace() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    _check(libc.unshare(_NEW_MOUNTS))
    _check(libc.mount(b"none", b"/", b"none", ctypes.c_ulong(_RECURSIVE | _PRIVATE), b""))


def _open_up(needed: list[Path]) -> None:
    """Cover the closed folders above what is needed; all of it is opened first, while it can be reached."""
    libc = ctypes.CDLL(None, use_errno=True)
    covered = {closed for path in needed if (closed := _closed(path.resolve()))}
    handles = [(path.resolve(), os.open(path, os.O_PATH)) for path in needed if _closed(path.resolve()) in covered]
    for folder in covered:
        _check(libc.mount(b"none", str(folder).encode(), b"tmpfs", ctypes.c_ulong(0), b"mode=755"))
    for path, handle in handles:
        if not path.exists():
            path.mkdir(parents=True)
            source = f"/proc/self/fd/{handle}".encode()
            _check(libc.mount(source, str(path).encode(), b"none", ctypes.c_ulong(_BIND | _RECURSIVE), b""))


def _closed(path: Path) -> Path | None:
    """The topmost folder above a path that others may not enter."""
    return next((each for each in reversed(path.parents) if not each.stat().st_mode & stat.S_IXOTH), None)


def _check(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    loopback.enforce()
    main()
