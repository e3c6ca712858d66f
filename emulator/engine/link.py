"""Messages between the emulator, the spawner and the supervisors: JSON with open files, whole or not at all."""

import errno
import json
import os
import socket
import struct
from typing import Any

_LARGEST = 32 * 1024  # what goes through a socket at once; more travels as a file in memory
_FILES = 8
_HANDLE = struct.Struct("@i")

Message = dict[str, Any]


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected ends."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(link: socket.socket, message: Message, files: tuple[int, ...] = ()) -> None:
    """Send a message and its files, which stay open here."""
    content = json.dumps(message).encode()
    if len(content) <= _LARGEST:
        socket.send_fds(link, [content], files)
        return
    parcel = os.memfd_create("message")
    try:
        with os.fdopen(os.dup(parcel), "wb") as file:
            file.write(content)
        socket.send_fds(link, [b"@"], (parcel, *files))
    finally:
        os.close(parcel)


def receive(link: socket.socket) -> tuple[Message, list[int]] | None:
    """The next message and its files, of which some are missing where this process may open no more.

    None when the other end is closed. OSError when the message itself is such a file.
    """
    # Not `recv_fds`: it passes no flags on, and programs that are started meanwhile would get the files too.
    room = socket.CMSG_LEN(_FILES * _HANDLE.size)
    content, attached, _, _ = link.recvmsg(_LARGEST, room, socket.MSG_CMSG_CLOEXEC)
    files = [number for _, _, numbers in attached for (number,) in _HANDLE.iter_unpack(numbers)]
    if not content:
        return None
    if content == b"@":
        if not files:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        parcel = files.pop(0)
        os.lseek(parcel, 0, os.SEEK_SET)
        with os.fdopen(parcel, "rb") as file:
            content = file.read()
    return json.loads(content), files
