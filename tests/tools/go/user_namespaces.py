"""Ways to unpack and mount layers on this machine: as root with a range of ids, as an ordinary user with one."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FIRST: Final = 100_000
_NOBODY: Final = 65_534
# Enters a new user namespace, waits until its parent has mapped the ids, then takes the first of them.
_ENTER: Final = """
import ctypes, os, shutil, sys
ids, program = sys.argv[1], shutil.which(sys.argv[2])  # Python's own files may be out of reach inside
ready, go = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    assert ctypes.CDLL(None).unshare(0x10000000 | 0x00020000) == 0, "unshare"
    os.write(ready[1], b"."), os.read(go[0], 1)
    os.setgid(0), os.setuid(0)
    os.execv(program, sys.argv[2:])
os.read(ready[0], 1)
for kind in ("uid", "gid"):
    with open(f"/proc/{child}/{kind}_map", "w") as target:
        target.write(f"0 {ids}")
os.write(go[1], b".")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@dataclass(frozen=True)
class Way:
    """Arguments for sandbox-layers, the ids it leaves files with, and a prefix for commands in such a namespace."""

    options: tuple[str, ...]
    first: int
    all_ids: bool
    outside: tuple[str, ...]
    inside: tuple[str, ...]


def ways() -> dict[str, Way]:
    """Return what this machine's user can do; an ordinary user cannot be root."""
    as_nobody = ("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", "--")
    enter = ("unshare", "--user", "--map-root-user", "--mount")
    if os.geteuid():
        return {"one id": Way(("--rootless",), os.geteuid(), all_ids=False, outside=(), inside=enter)}
    mapped = (sys.executable, "-c", _ENTER, f"{FIRST} 65536")
    return {
        "one id": Way(("--rootless",), _NOBODY, all_ids=False, outside=as_nobody, inside=(*as_nobody, *enter)),
        "a range": Way(("--ids", f"{FIRST}:65536"), FIRST, all_ids=True, outside=(), inside=mapped),
    }


@contextmanager
def workplace(way: Way) -> Iterator[Path]:
    """Return a folder that the way's user owns and can reach, unlike those of the test run."""
    folder = Path(tempfile.mkdtemp(prefix="layers-"))
    try:
        folder.chmod(0o755)
        if os.geteuid() == 0:
            os.chown(folder, way.first, way.first)
        yield folder
    finally:
        subprocess.run([*way.inside, "rm", "-rf", str(folder)], check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)
