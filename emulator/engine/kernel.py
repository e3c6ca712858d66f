"""Calls of the Linux kernel that Python 3.11 has no words for. Imports little: every supervisor is a copy of it."""

import ctypes
import os
from collections.abc import Iterable, Mapping

NEW_MOUNTS = 0x00020000
NEW_USERS = 0x10000000
NEW_PIDS = 0x20000000
NEW_NETWORK = 0x40000000

READ_ONLY, NO_SUID, NO_DEV, NO_EXEC, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18

_DEATH_SIGNAL = 1
# Numbers of calls that are the same on every kind of machine.
_MOVE_MOUNT, _FSOPEN, _FSCONFIG, _FSMOUNT, _PIDFD_GETFD = 429, 430, 431, 432, 438
_SET_FLAG, _SET_STRING, _CREATE = 0, 1, 6
_BY_HANDLES = 0x44  # both places are given as open files

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> None:
    """Leave namespaces for new ones."""
    _check(_libc.unshare(flags), "unshare")


def enter(namespace: int, kind: int) -> None:
    """Join a namespace that is open as a file."""
    _check(_libc.setns(namespace, kind), "setns")


def mount(source: str, target: str, kind: str = "none", flags: int = 0, options: str = "") -> None:
    """Mount a file system, or change a mount."""
    result = _libc.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode())
    _check(result, f"mount {kind} on {target}")


def unmount(target: str, flags: int) -> None:
    """Take a mount away."""
    _check(_libc.umount2(target.encode(), flags), f"umount {target}")


def new_mount(kind: str, settings: Mapping[str, str], switches: Iterable[str], attributes: int) -> int:
    """A file system that is mounted nowhere yet, as an open file."""
    context = _call(_FSOPEN, kind.encode(), 1)
    try:
        for name, value in settings.items():
            _call(_FSCONFIG, context, _SET_STRING, name.encode(), value.encode("utf-8", "surrogateescape"), 0)
        for name in switches:
            _call(_FSCONFIG, context, _SET_FLAG, name.encode(), None, 0)
        _call(_FSCONFIG, context, _CREATE, None, None, 0)
        return _call(_FSMOUNT, context, 1, attributes)
    finally:
        os.close(context)


def attach(mounted: int, where: int) -> None:
    """Mount what `new_mount` made on a directory that is open."""
    _call(_MOVE_MOUNT, mounted, b"", where, b"", _BY_HANDLES)


def file_of(process: int, number: int) -> int:
    """A copy of an open file of another process, which is given as a handle."""
    return _call(_PIDFD_GETFD, process, number, 0)


def end_with_parent(signal_number: int) -> None:
    """Have the kernel send this signal when the parent dies; lost with every change of user."""
    _check(_libc.prctl(_DEATH_SIGNAL, signal_number), "prctl")


def _call(number: int, *arguments: int | bytes | None) -> int:
    wide = [ctypes.c_long(each) if isinstance(each, int) else ctypes.c_char_p(each) for each in arguments]
    result = int(_libc.syscall(ctypes.c_long(number), *wide))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"system call {number}: {os.strerror(error)}")
    return result


def _check(result: int, what: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
