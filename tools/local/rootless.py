"""Starts programs that need root: as root as they are, as an ordinary user in namespaces, by util-linux's `unshare`.

A user with subordinate ids (a range in /etc/subuid and /etc/subgid, and newuidmap to use it) gets all ids of an image;
anybody else gets one, which is root inside. All processes share a namespace that ends with its first one.
"""

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_SEPARATE: Final = ("--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child=KILL")
_ALL_IDS: Final = "--map-auto"
# Stands before runc where root's id is the only one: there is no group of terminals, which the usual settings name.
_RUNC: Final = """#!/bin/sh
for each; do
  [ "$option" = --bundle ] && sed -i 's/,"gid=5"//' "$each/config.json"
  option=$each
done
exec {runc} "$@"
"""


@dataclass(frozen=True)
class Namespaces:
    """What to put before a command, or why nothing helps; and whether all ids of an image exist inside."""

    command: tuple[str, ...] = ()
    all_ids: bool = False
    reason: str = ""

    def runc(self, folder: Path, programs: Path) -> tuple[str, ...]:
        """Return the options of BuildKit for a runc that works inside; `programs` may have one that came with it."""
        if self.all_ids:
            return ()
        own = programs / "buildkit-runc"
        script = folder / "runc-with-one-id"
        script.write_text(_RUNC.format(runc=shlex.quote(str(own)) if own.exists() else "runc"), encoding="utf-8")
        script.chmod(0o700)
        return (f"--oci-worker-binary={script}",)

    def remove(self, folder: Path) -> None:
        """Remove a folder whose files may belong to ids that exist inside only."""
        subprocess.run([*self.command, "rm", "-rf", "--", str(folder)], capture_output=True, check=False)


def namespaces() -> Namespaces:
    """Find out by trying what this system lets the user have."""
    setpriv, unshare = shutil.which("setpriv"), shutil.which("unshare")
    # Linux ends the program when the process that started it dies, even by a signal nobody can catch.
    if os.geteuid() == 0:
        return Namespaces((setpriv, "--pdeathsig", "TERM", "--") if setpriv else (), all_ids=True)
    if not setpriv or not unshare:
        return Namespaces(reason="BuildKit needs root, or util-linux's unshare and setpriv on PATH")
    # Not TERM, which unshare does not heed while it waits.
    first = (setpriv, "--pdeathsig", "KILL", "--", unshare, *_SEPARATE)
    why = ""
    for command in ((*first, _ALL_IDS), first):
        tried = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
        if tried.returncode == 0:
            return Namespaces(command, all_ids=_ALL_IDS in command)
        why = (tried.stderr.strip().splitlines() or ["no output"])[-1]
    return Namespaces(reason=f"BuildKit needs root, or a system that lets users have user namespaces; {why}")
