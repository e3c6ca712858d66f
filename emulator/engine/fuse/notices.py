"""System calls that the kernel holds until somebody has decided: seccomp's notifications."""

import contextlib
import errno
import fcntl
import platform
import select
import struct
from dataclasses import dataclass

_NOTICE = struct.Struct("=QIIiIQ6Q")
_RESPONSE = struct.Struct("=QqiI")
_RECEIVE, _SEND, _STILL_THERE = 0xC0502100, 0xC0182101, 0x40082102
_NUMBERS = {"x86_64": ("mount", 165, "umount2", 166), "aarch64": ("mount", 40, "umount2", 39)}
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


@dataclass(frozen=True)
class Notice:
    """One call that waits."""

    id: int
    pid: int
    call: str  # its name, empty where it is not known or of another kind of program
    arguments: tuple[int, ...]


def receive(handle: int) -> Notice | None:
    """The next call; without a process where it has given up. None once nobody is left who could make one."""
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    if any(event & select.POLLHUP for _, event in poll.poll(0)):
        return None
    buffer = bytearray(_NOTICE.size)
    try:
        fcntl.ioctl(handle, _RECEIVE, buffer, True)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.EINTR):
            raise
        return Notice(0, 0, "", ())
    number, pid, _, call, architecture, _, *arguments = _NOTICE.unpack(buffer)
    machine = platform.machine()
    names = _NUMBERS.get(machine, ())
    known = dict(zip(names[1::2], names[::2], strict=True)) if architecture == _ARCHITECTURES.get(machine) else {}
    return Notice(number, pid, str(known.get(call, "")), tuple(arguments))


def is_waiting(handle: int, notice: Notice) -> bool:
    """Whether the caller still waits, so that its process number is still its own."""
    try:
        fcntl.ioctl(handle, _STILL_THERE, struct.pack("=Q", notice.id))
    except OSError:
        return False
    return True


def respond(handle: int, notice: Notice, problem: int) -> None:
    """Let the call end: it has been done, or this is the number of its error."""
    with contextlib.suppress(OSError):  # the caller may be gone
        fcntl.ioctl(handle, _SEND, bytearray(_RESPONSE.pack(notice.id, 0, -problem, 0)), True)
