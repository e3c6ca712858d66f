"""Forks a process into namespaces of its own: users, processes, mounts and network.

As root a range of ids nobody uses stands for the ids inside; an ordinary user stands for root inside, alone. Inside
there is a small file system in memory, `STAGE`, with what the process needs of this machine bound into it under short
names: it could not reach the places themselves as the nobody it is.
"""

import os
import select
import signal
import stat
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import NoReturn

from . import kernel
from .network.netlink import Network

STAGE = "/mnt"
ADDRESS = "10.0.0.1"  # under which the platform reaches ports: what listens on 127.0.0.1 alone is not reached there
# Above what Linux hands out by itself: subordinate ids begin at 100000, those of systemd end below 1.9 and those of a
# directory's users near 2.0 thousand millions; past 2**31 programs take ids for negative.
FIRST_ID, IDS = 2_100_000_000, 65_536
_GO = b"x"
_LONGEST = 4096  # bytes of a reason
_GRACE = 3.0  # seconds for the process inside to end by itself when the other end of its link is closed


@dataclass(frozen=True)
class BindMount:
    """A folder or file of this machine, and what it is called below `STAGE`."""

    source: str
    name: str
    writable: bool = False


@dataclass(frozen=True)
class Disk:
    """A file that holds a file system, and what it is called below `STAGE`; only root can mount one."""

    file: str
    name: str


@dataclass(frozen=True)
class Device:
    """A character device, and what it is called below `STAGE`, where everybody may use it; only root can make one."""

    name: str
    major: int
    minor: int


@dataclass(frozen=True)
class Surroundings:
    """What a confined process sees of this machine besides its own mounts."""

    mounts: tuple[BindMount, ...] = ()
    disk: Disk | None = None
    device: Device | None = None
    keep: tuple[int, ...] = field(default=())  # open files it may use
    leash: int | None = None  # a socket: once its other end sends no more, the process inside has to end


def is_root() -> bool:
    """Whether a range of ids can be mapped, and file systems mounted, outside of user namespaces."""
    if os.geteuid() != 0:
        return False
    with open("/proc/self/uid_map", encoding="ascii") as file:
        rows = [[int(each) for each in line.split()] for line in file]
    return any(first <= FIRST_ID and first + count >= FIRST_ID + IDS for first, _, count in rows)


def run(around: Surroundings, inside: Callable[[], int], beside: Callable[[int], None] | None = None) -> int:
    """Run a function as the first process of new namespaces; its exit code, or 128 and the signal that ended it.

    `beside` is told a process that is in them as soon as they are there. When this process dies, the one inside is
    killed, and with it everything it started. OSError says why the function was not reached.
    """
    told_out, tell_out = os.pipe()
    told_in, tell_in = os.pipe()
    middle = os.fork()
    if middle == 0:
        for each in (told_out, tell_in):  # with a copy of its own it would never learn that this process is gone
            os.close(each)
        _guarded(lambda: _middle(around, inside, tell_out, told_in), tell_out)
    os.close(tell_out)
    os.close(told_in)
    try:
        said = os.read(told_out, _LONGEST)
        if said == _GO:
            _map_ids(middle)
            os.write(tell_in, _GO)
            if beside:
                beside(middle)
            said = os.read(told_out, _LONGEST)  # nothing, once the function is reached
    finally:
        os.close(told_out)
        os.close(tell_in)
    if said:
        _wait(middle)
        raise OSError(f"the sandbox cannot be set up on this machine: {said.decode(errors='replace')}")
    if around.leash is not None:
        _hold(middle, around.leash)
    return _wait(middle)


def _hold(pid: int, leash: int) -> None:
    """Wait for the end of a process; kill it when the leash is let go and it does not see to that itself."""
    ended = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        poll.register(leash, select.POLLRDHUP)
        if all(handle != ended for handle, _ in poll.poll()):
            poll.unregister(leash)
            if not poll.poll(_GRACE * 1000):
                os.kill(pid, signal.SIGKILL)
    finally:
        os.close(ended)


def _wait(pid: int) -> int:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return code if code >= 0 else 128 - code


def _guarded(work: Callable[[], int], tell: int) -> NoReturn:
    """Run the rest of a forked process; nothing of the one it was copied from may happen twice."""
    code = 1
    try:
        code = work()
    except BaseException as error:  # noqa: BLE001 - the fork ends here, and says why
        os.write(tell, (str(error) or type(error).__name__).encode()[:_LONGEST])
    finally:
        os._exit(code)


def _middle(around: Surroundings, inside: Callable[[], int], tell: int, told: int) -> int:
    """Make the namespaces; the first process of a pid namespace has to be a child."""
    as_root = is_root()
    if as_root:
        os.setgroups([])
        kernel.unshare(kernel.NEW_MOUNTS)
        _set_stage(around, f",uid={FIRST_ID},gid={FIRST_ID}")
    kernel.unshare(kernel.NEW_USERS | kernel.NEW_PIDS | kernel.NEW_MOUNTS | kernel.NEW_NETWORK)
    kernel.end_with_parent(signal.SIGKILL)  # after the change of user, which clears it
    os.write(tell, _GO)
    if os.read(told, 1) != _GO:  # also from a parent that was gone before the call above
        return 1
    parent_lives, lives = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(lives)
        _guarded(lambda: _first(around, inside, tell, parent_lives, as_root=as_root), tell)
    close_all_but((lives,))
    return _wait(first)


def _first(around: Surroundings, inside: Callable[[], int], tell: int, parent_lives: int, *, as_root: bool) -> int:
    """Furnish the namespaces and go on. `parent_lives` is a pipe: a parent in another pid namespace has no number."""
    os.setgid(0)
    os.setuid(0)
    kernel.end_with_parent(signal.SIGKILL)  # after the change of user, which clears it
    if select.select([parent_lives], [], [], 0)[0]:
        return 1  # it was gone before the call above
    close_all_but((*around.keep, tell))
    if not as_root:
        _set_stage(around, "")
    kernel.mount("none", "/", flags=kernel.RECURSIVE | kernel.PRIVATE)
    kernel.mount("proc", "/proc", "proc", kernel.NO_SUID | kernel.NO_DEV | kernel.NO_EXEC)
    with Network() as network:
        network.raise_up("lo")
        network.add_address("lo", IPv4Address(ADDRESS))
    os.chdir("/")
    os.dup2(2, tell)  # that far: what goes wrong from now on is said on the error output
    return inside()


def _set_stage(around: Surroundings, owner: str) -> None:
    """Cover `STAGE`; sources may lie below it, so they are opened first."""
    kernel.mount("none", "/", flags=kernel.RECURSIVE | kernel.PRIVATE)
    handles = [(each, os.open(each.source, os.O_PATH)) for each in around.mounts]
    disk = os.open(around.disk.file, os.O_RDWR) if around.disk else None
    kernel.mount("stage", STAGE, "tmpfs", kernel.NO_SUID | kernel.NO_DEV, f"mode=755,size=16m{owner}")
    for each, handle in handles:
        _bind(each, handle)
    if around.device:
        _make_device(around.device)
    if around.disk and disk is not None:
        target = f"{STAGE}/{around.disk.name}"
        os.mkdir(target)
        # The loop device goes with the mount, and the mount with the last process inside.
        done = subprocess.run(
            ["mount", "-o", "loop,nosuid,nodev,noatime", f"/proc/self/fd/{disk}", target],
            pass_fds=(disk,),
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        if done.returncode:
            said = " ".join(done.stderr.decode(errors="replace").split())
            raise OSError(f"its disk cannot be mounted: {said or f'mount ended with {done.returncode}'}")
        os.close(disk)


def _make_device(device: Device) -> None:
    """A device that this machine's own one need not be open to all for."""
    target = f"{STAGE}/{device.name}"
    folder = os.path.dirname(target)
    os.makedirs(folder)
    kernel.mount("device", folder, "tmpfs", kernel.NO_SUID | kernel.NO_EXEC, "mode=755,size=64k")
    os.mknod(target, 0o666 | stat.S_IFCHR, os.makedev(device.major, device.minor))
    os.chmod(target, 0o666)  # noqa: S103 - whatever the mask of this process is; only the sandbox sees it
    kept = kernel.NO_SUID | kernel.NO_EXEC
    kernel.mount("none", folder, flags=kernel.REMOUNT | kernel.BIND | kernel.READ_ONLY | kept)


def _bind(each: BindMount, handle: int) -> None:
    source, target = f"/proc/self/fd/{handle}", f"{STAGE}/{each.name}"
    if os.path.isdir(source):
        os.makedirs(target)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    kernel.mount(source, target, flags=kernel.BIND | kernel.RECURSIVE)
    if not each.writable:
        # An ordinary user is root inside, and owns these files; what is forbidden on their mount has to stay so.
        kept = os.fstatvfs(handle).f_flag & (kernel.NO_SUID | kernel.NO_DEV | kernel.NO_EXEC)
        kernel.mount("none", target, flags=kernel.REMOUNT | kernel.BIND | kernel.READ_ONLY | kept)
    os.close(handle)


def _map_ids(pid: int) -> None:
    if is_root():
        line = f"0 {FIRST_ID} {IDS}\n"
        _write(f"/proc/{pid}/uid_map", line)
        _write(f"/proc/{pid}/gid_map", line)
        return
    _write(f"/proc/{pid}/uid_map", f"0 {os.geteuid()} 1\n")
    _write(f"/proc/{pid}/setgroups", "deny")
    _write(f"/proc/{pid}/gid_map", f"0 {os.getegid()} 1\n")


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def close_all_but(kept: tuple[int, ...]) -> None:
    """Close what was copied by the fork; standard input, output and error stay.

    By number, not by what /proc lists: that may be the one of another pid namespace by now.
    """
    first = 3
    for each in sorted(each for each in kept if each >= first):
        os.closerange(first, each)
        first = each + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))
