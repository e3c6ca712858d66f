"""Calls of the Linux kernel that Python 3.11 has no words for. Imports little: every supervisor is a copy of it."""

import ctypes
import os

NEW_MOUNTS = 0x00020000
NEW_USERS = 0x10000000
NEW_PIDS = 0x20000000
NEW_NETWORK = 0x40000000

READ_ONLY, NO_SUID, NO_DEV, NO_EXEC, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18

_DEATH_SIGNAL = 1

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


def end_with_parent(signal_number: int) -> None:
    """Have the kernel send this signal when the parent dies; lost with every change of user."""
    _check(_libc.prctl(_DEATH_SIGNAL, signal_number), "prctl")


def _check(result: int, what: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
