"""The programs the engine runs, and why it cannot run where one is missing or the system does not let it."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from . import cgroups, confine, runc_version

NOT_LINUX = "this is not Linux"


def set_up_by(root: Path) -> str:
    """What provides the programs, as people type it: in a checkout, or with the installed package."""
    return "`make setup`" if (root / "Makefile").is_file() else "`sandbox-stack local up`"


_SET_UP = set_up_by(Path(__file__).resolve().parents[2])
NO_RUNC = f"there is no runc; {_SET_UP} provides it, or install the package runc"
UNSAFE_RUNC = (
    "{program} is not used: {reason}; install 1.1.12 or newer (Debian 12: 1.1.5+ds1-1+deb12u1), then run " + _SET_UP
)
NO_LAYERS = f"there is no sandbox-layers, which unpacks images; {_SET_UP} provides it"
NO_USERS = (
    "this system lets nobody but root make user namespaces; allow it (sysctl kernel.unprivileged_userns_clone=1, or "
    "kernel.apparmor_restrict_unprivileged_userns=0), or run the emulator as root"
)
UNLIMITED = "Memory and processor of sandboxes are not limited: {reason}."
UNLIMITED_DISK = "The disk of a sandbox is limited by file only: a file system per sandbox needs root and mkfs.ext4."
NO_INTERNET = "Sandboxes have no internet on this machine: {reason}."
NO_NETWORK_PROGRAM = f"there is no slirp4netns; {_SET_UP} provides it, or install the package slirp4netns"
BROKEN_NETWORK_PROGRAM = f"{{program}} does not run; remove it and run {_SET_UP}, or install the package slirp4netns"
NO_TUN = "there is no {device}; load the module tun (as root: modprobe tun)"
CLOSED_TUN = "this user may not open {device}; allow it (as root: chmod 0666 {device}), or run the emulator as root"
NO_FUSE = "Sandboxes cannot mount archives or buckets on this machine: {reason}."
_TUN, _FUSE = "/dev/net/tun", "/dev/fuse"
_FUSE_KERNEL = (5, 6)  # the first from which files of another process can be had
_SYSTEM = ("/usr/sbin", "/sbin")  # not on every user's PATH
_PROBE_SECONDS = 10
_PROBE = "import ctypes,sys;sys.exit(ctypes.CDLL(None).unshare(0x70020000)!=0)"


class UnavailableError(Exception):
    """Sandboxes cannot run here; the message says why and what helps."""


@dataclass(frozen=True)
class Programs:
    """Where they are; those that are optional may be missing."""

    runc: Path
    layers: Path
    network: Path | None  # slirp4netns, for sandboxes with a way out
    make_disk: Path | None  # mkfs.ext4, for root
    fuse: bool  # whether sandboxes may serve file systems of their own


def find(folder: Path | None) -> Programs:
    """Look in the folder that set-up filled, then on PATH."""
    if sys.platform != "linux":
        raise UnavailableError(NOT_LINUX)
    runc, layers = _which(folder, "runc"), _which(folder, "sandbox-layers")
    if runc is None:
        raise UnavailableError(NO_RUNC)
    if layers is None:
        raise UnavailableError(NO_LAYERS)
    said = subprocess.run([runc, "--version"], capture_output=True, text=True, check=False, timeout=_PROBE_SECONDS)
    if reason := runc_version.why_not(said.stdout):
        raise UnavailableError(UNSAFE_RUNC.format(program=runc, reason=reason))
    probe = subprocess.run([sys.executable, "-I", "-S", "-c", _PROBE], check=False, timeout=_PROBE_SECONDS)
    if probe.returncode:
        raise UnavailableError(NO_USERS)
    disk = _which(None, "mkfs.ext4") if confine.is_root() and Path("/dev/loop-control").exists() else None
    return Programs(runc, layers, _which(folder, "slirp4netns"), disk, why_no_fuse() is None)


def remarks(programs: Programs) -> list[str]:
    """What is limited less than on Cloudflare, in one sentence each."""
    no_fuse = why_no_fuse()
    said = [*([] if programs.make_disk else [UNLIMITED_DISK]), *([no_fuse] if no_fuse else [])]
    try:
        cgroups.look()
    except cgroups.UnlimitedError as error:
        return [UNLIMITED.format(reason=error), *said]
    return said


def why_no_fuse() -> str | None:
    """Why sandboxes cannot mount archives and buckets here; None when they can."""
    if not Path(_FUSE).exists():
        return NO_FUSE.format(reason=f"there is no {_FUSE}; load the module fuse (as root: modprobe fuse)")
    if not confine.is_root() and not os.access(_FUSE, os.R_OK | os.W_OK):
        return NO_FUSE.format(reason=f"this user may not open {_FUSE}; allow it (as root: chmod 0666 {_FUSE})")
    version = tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])
    if version < _FUSE_KERNEL:
        return NO_FUSE.format(reason=f"its kernel is {os.uname().release}, and this takes 5.6")
    return None


def why_no_internet(programs: Programs) -> str | None:
    """Why sandboxes get no way out here, and what helps; None when they do."""
    reason = _why_no_network(programs.network)
    return NO_INTERNET.format(reason=reason) if reason else None


def _why_no_network(program: Path | None) -> str | None:
    if program is None:
        return NO_NETWORK_PROGRAM
    try:
        os.close(os.open(_TUN, os.O_RDWR | os.O_CLOEXEC))
    except PermissionError:
        return CLOSED_TUN.format(device=_TUN)
    except OSError:
        return NO_TUN.format(device=_TUN)
    said = subprocess.run([str(program), "--version"], capture_output=True, check=False, timeout=_PROBE_SECONDS)
    return BROKEN_NETWORK_PROGRAM.format(program=program) if said.returncode else None


def _which(folder: Path | None, name: str) -> Path | None:
    search = [*([str(folder)] if folder else []), os.environ.get("PATH", os.defpath), *_SYSTEM]
    found = shutil.which(name, path=os.pathsep.join(search))
    return Path(found).resolve() if found else None
