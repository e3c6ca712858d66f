"""FUSE for a sandbox, which may mount nothing itself: file systems that its own processes serve, mounted on its behalf.

The kernel holds its calls of mount and umount (seccomp's notifications) until a helper here has decided. The helper
does what was asked within the sandbox's own mounts and user namespace, for file systems of kind fuse alone, on a
directory that it holds open; everything else is refused as it is without FUSE. Whatever a sandbox's file systems hold
up, `abort` ends, so that it can always be killed.
"""

import contextlib
import errno
import os
import selectors
import signal
import socket
from collections.abc import Callable

from emulator.engine import kernel
from emulator.engine.confine import STAGE, close_all_but

from . import mounts
from .mounts import Caller
from .notices import Notice, receive, respond

DEVICE = f"{STAGE}/device/fuse"
LISTENER = f"{STAGE}/notices"
CALLS = ("mount", "umount2")
_MOST_MOUNTS, _MOST_HELPERS = 32, 8
_RUNC_SECONDS = 5.0  # for runc to say what it has connected for
_ABORT_SECONDS = 2.0
_LONGEST = 65536


def filtered(seccomp: dict[str, object]) -> dict[str, object]:
    """The filter of system calls, which asks here instead of refusing."""
    asked = {"names": list(CALLS), "action": "SCMP_ACT_NOTIFY"}
    rules = seccomp.get("syscalls")
    return {**seccomp, "syscalls": [*(rules if isinstance(rules, list) else ()), asked], "listenerPath": LISTENER}


class Fuse:
    """The mounts of one sandbox."""

    def __init__(self, selector: selectors.BaseSelector, groups: tuple[int, ...]) -> None:
        """`groups` are open `cgroup.procs` files: what helpers use counts as the sandbox's own."""
        self._selector = selector
        self._groups = groups
        self._helpers: dict[int, tuple[int, Notice] | None] = {}  # by process, what each decides
        self._handles: list[int] = []  # open mounts
        self._namespace: int | None = None  # of the sandbox's mounts
        self._told, self._tell = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(LISTENER)
        self._listener.listen()
        selector.register(self._listener, selectors.EVENT_READ, self._accept)
        selector.register(self._told, selectors.EVENT_READ, self._keep)

    def _accept(self) -> None:
        """Take what runc hands over: the notifications of what it has just started."""
        opened, _ = self._listener.accept()
        with opened, contextlib.suppress(OSError):
            opened.settimeout(_RUNC_SECONDS)
            _, files, _, _ = socket.recv_fds(opened, _LONGEST, 1)
            for each in files:
                self._selector.register(each, selectors.EVENT_READ, lambda handle=each: self._notice(handle))

    def _notice(self, handle: int) -> None:
        notice = receive(handle)
        if notice is None:
            self._selector.unregister(handle)  # nobody is left who could ask
            os.close(handle)
        elif len(self._helpers) >= _MOST_HELPERS:
            respond(handle, notice, errno.EAGAIN)
        elif notice.call == "mount" and len(self._handles) >= _MOST_MOUNTS:
            respond(handle, notice, errno.ENOSPC)
        elif notice.pid:
            if self._namespace is None:
                with contextlib.suppress(OSError):
                    self._namespace = os.open(f"/proc/{notice.pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
            pid = _forked(lambda: self._help(handle, notice), (handle, self._tell.fileno()), self._groups)
            self._helpers[pid] = (handle, notice)

    def _help(self, handle: int, notice: Notice) -> None:
        """Decide in a process of its own: whatever the sandbox makes of its paths, only that process waits."""
        problem = errno.EPERM
        try:
            caller = Caller.of(handle, notice)
            made = mounts.act(caller, notice)
            if made is not None:
                socket.send_fds(self._tell, [b"m"], [made])
            problem = 0
        except OSError as error:
            problem = error.errno or errno.EPERM
        except ValueError:
            problem = errno.EINVAL
        finally:
            respond(handle, notice, problem)

    def _keep(self) -> None:
        _, files, _, _ = socket.recv_fds(self._told, 16, 1)
        self._handles += files

    def ended(self, pid: int, first: int) -> bool:
        """Whether a child that has ended was a helper; `first` is the sandbox's first process."""
        if pid not in self._helpers:
            return False
        if asked := self._helpers.pop(pid):
            respond(*asked, errno.EPERM)  # which counts only where the helper did not come to its end
        present = mounts.present(first)
        gone = [each for each in self._handles if mounts.identity(each) not in present]
        for each in gone:  # its server ends when nobody holds it any more
            self._handles.remove(each)
            os.close(each)
        return True

    def abort(self) -> None:
        """Unmount everything at once, and fail whatever waits for an answer; else it could not be killed."""
        if not self._handles or self._namespace is None:
            return
        namespace, handles = self._namespace, tuple(self._handles)
        pid = _forked(lambda: mounts.abort(namespace, handles), (namespace, *handles), ())
        ended = os.pidfd_open(pid)
        with selectors.DefaultSelector() as wait:
            wait.register(ended, selectors.EVENT_READ)
            wait.select(_ABORT_SECONDS)
        os.close(ended)
        self._helpers[pid] = None  # reaped with the others
        for each in handles:
            self._handles.remove(each)
            os.close(each)


def _forked(work: Callable[[], None], kept: tuple[int, ...], groups: tuple[int, ...]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        kernel.end_with_parent(signal.SIGKILL)
        for each in groups:
            os.write(each, b"0")
        signal.set_wakeup_fd(-1)
        close_all_but(kept)
        work()
    finally:
        os._exit(0)
