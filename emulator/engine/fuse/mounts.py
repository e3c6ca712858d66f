"""What a helper does for a sandbox: mounts a file system of kind fuse where the caller says, or unmounts one.

It acts within the caller's mounts and below the caller's root, in the sandbox's own user namespace: whatever paths a
sandbox makes up, they lead nowhere that it could not go itself.
"""

import contextlib
import errno
import os
import stat
from dataclasses import dataclass
from typing import Self

from emulator.engine import kernel

from .notices import Notice, is_waiting

DEVICE = (10, 229)  # major and minor number
_LONGEST = 4096
_NOT_COVERED = frozenset({"proc", "sysfs", "devpts", "mqueue"})  # file systems that runc, too, relies on
_OPTIONS = frozenset({"rootmode", "user_id", "group_id", "max_read"})
_SWITCHES = frozenset({"default_permissions", "allow_other"})
_MAGIC = 0xC0ED0000  # what old programs send along
# Flags of mount(2), and what they are called when a mount is made by the newer calls; others are refused.
_ATTRIBUTES = {1: 1, 2: 2, 4: 4, 8: 8, 1024: 0x10, 2048: 0x80, 1 << 21: 0, 1 << 24: 0x20}
_HARMLESS = 16 | 128 | 32768  # synchronous in two ways, silent
_ALWAYS = 2 | 4  # no setuid programs, no devices
_DETACH, _FORCE, _NO_FOLLOW = 2, 1, 8


@dataclass(frozen=True)
class Caller:
    """A process that waits, held by what cannot become another's."""

    proc: int  # our own view of processes
    memory: int
    namespace: int
    root: int
    folder: int
    process: int
    mounts: str  # what it sees mounted

    @classmethod
    def of(cls, handle: int, notice: Notice) -> Self:
        """The process behind a notification; only root of the sandbox may ask."""
        proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
        own = f"{notice.pid}/"

        def opened(name: str, flags: int) -> int:
            return os.open(own + name, flags, dir_fd=proc)

        status = _read(opened("status", os.O_RDONLY))
        found = cls(
            proc,
            opened("mem", os.O_RDONLY),
            opened("ns/mnt", os.O_RDONLY),
            opened("root", os.O_PATH),
            opened("cwd", os.O_PATH),
            os.pidfd_open(notice.pid),
            _read(opened("mountinfo", os.O_RDONLY)),
        )
        if not is_waiting(handle, notice) or _effective_user(status) != 0:
            raise PermissionError(errno.EPERM, "only root of the sandbox may mount")
        return found

    def text(self, address: int) -> str:
        """A text in its memory; nothing at all is an empty one."""
        found = b""
        while address and b"\0" not in found:
            if len(found) > _LONGEST:
                raise OSError(errno.ENAMETOOLONG, "too long")
            size = 256 - (address + len(found)) % 256  # never across a page that may not be there
            piece = os.pread(self.memory, size, address + len(found))
            if not piece:
                raise OSError(errno.EFAULT, "not in memory")
            found += piece
        return os.fsdecode(found.partition(b"\0")[0])

    def file(self, number: int) -> int:
        """One of its open files."""
        return kernel.file_of(self.process, number)

    def enter(self) -> None:
        """See what it sees, from where it is."""
        kernel.enter(self.namespace, kernel.NEW_MOUNTS)
        os.fchdir(self.root)
        os.chroot(".")
        os.fchdir(self.folder)

    def kind_of(self, handle: int) -> tuple[str, str]:
        """The kind of the mount that a path leads to, and where that is mounted."""
        mount = _identity(self.proc, handle)
        for line in self.mounts.splitlines():
            fields, _, rest = line.partition(" - ")
            number, place = fields.split()[0], fields.split()[4]
            if number == mount:
                return rest.split()[0], place
        raise OSError(errno.EINVAL, "not one of its mounts")


def act(caller: Caller, notice: Notice) -> int | None:
    """Do what is asked; an open handle of what was mounted. OSError refuses."""
    if notice.call == "mount":
        return _mount(caller, *notice.arguments[:5])
    if notice.call != "umount2":
        raise PermissionError(errno.EPERM, "not a call that is known")
    _unmount(caller, *notice.arguments[:2])
    return None


def _mount(caller: Caller, *arguments: int) -> int:
    source, target, kind, options = (caller.text(arguments[index]) for index in (0, 1, 2, 4))
    name, _, subtype = kind.partition(".")
    flags = arguments[3] & ~_MAGIC & ~_HARMLESS
    if name != "fuse" or flags & ~sum(_ATTRIBUTES):
        raise PermissionError(errno.EPERM, "only file systems of kind fuse are mounted")
    settings, number = _settings(options)
    device = caller.file(number)
    if not _is_fuse(device):
        raise OSError(errno.EINVAL, "not a connection of FUSE")
    caller.enter()
    where = os.open(target, os.O_PATH | os.O_DIRECTORY)
    _check_place(caller, where)
    settings |= {"source": source or "fuse", "fd": str(device)}
    if subtype:
        settings["subtype"] = subtype
    switches = [*(name for name in _SWITCHES if name in options.split(",")), *(["ro"] if flags & 1 else [])]
    attributes = sum(meaning for flag, meaning in _ATTRIBUTES.items() if flags & flag) | _ALWAYS
    made = kernel.new_mount("fuse", settings, switches, attributes)
    kernel.attach(made, where)
    return made


def _settings(options: str) -> tuple[dict[str, str], int]:
    """What is said of a file system of kind fuse, and the number of its file."""
    given = dict(part.partition("=")[::2] for part in options.split(",") if part)
    number = given.pop("fd", "")
    known = {name: value for name, value in given.items() if name in _OPTIONS}
    if set(given) - set(known) - _SWITCHES or not number.isdecimal():
        raise OSError(errno.EINVAL, "options that are not known")
    return known, int(number)


def _is_fuse(device: int) -> bool:
    found = os.fstat(device)
    return stat.S_ISCHR(found.st_mode) and (os.major(found.st_rdev), os.minor(found.st_rdev)) == DEVICE


def _check_place(caller: Caller, where: int) -> None:
    """Leave the root, devices and what tells of processes as they are."""
    kind, place = caller.kind_of(where)
    top = os.path.samestat(os.fstat(where), os.fstat(caller.root))
    if top or kind in _NOT_COVERED or f"{place}/".startswith("/dev/"):
        raise PermissionError(errno.EPERM, "nothing is mounted there")


def _unmount(caller: Caller, target: int, flags: int) -> None:
    path = caller.text(target)
    caller.enter()
    where = os.open(path, os.O_PATH | (os.O_NOFOLLOW if flags & _NO_FOLLOW else 0))
    if caller.kind_of(where)[0].partition(".")[0] != "fuse":
        raise PermissionError(errno.EPERM, "only file systems of kind fuse are unmounted")
    _detach(caller.proc, where, flags & _FORCE)


def _detach(proc: int, handle: int, flags: int) -> None:
    """Unmount what a handle stands for; by that handle, since paths may be anybody's."""
    os.fchdir(proc)
    kernel.unmount(f"self/fd/{handle}", _DETACH | flags)


def abort(namespace: int, handles: tuple[int, ...]) -> None:
    """Unmount all of these in the namespace that has them, with an error for whoever waits for an answer."""
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    kernel.enter(namespace, kernel.NEW_MOUNTS)
    for each in handles:
        with contextlib.suppress(OSError):
            _detach(proc, each, _FORCE)


def present(pid: int) -> set[str]:
    """The mounts that a process sees; none once it has ended."""
    with contextlib.suppress(OSError):
        return {line.split()[0] for line in _read(os.open(f"/proc/{pid}/mountinfo", os.O_RDONLY)).splitlines()}
    return set()


def identity(handle: int) -> str:
    """What the kernel calls the mount of an open file."""
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    try:
        return _identity(proc, handle)
    finally:
        os.close(proc)


def _identity(proc: int, handle: int) -> str:
    told = _read(os.open(f"self/fdinfo/{handle}", os.O_RDONLY, dir_fd=proc))
    return next(line.split()[1] for line in told.splitlines() if line.startswith("mnt_id:"))


def _effective_user(status: str) -> int:
    return next(int(line.split()[2]) for line in status.splitlines() if line.startswith("Uid:"))


def _read(handle: int) -> str:
    with os.fdopen(handle, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()
