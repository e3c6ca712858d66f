"""Our ends of pipes on the event loop, each with one owner.

A loop's transport over a file has two. Cancelled while it is made, uvloop closes the handle, and later the file closes
it once more, when the number may belong to somebody's connection.
"""

import asyncio
import fcntl
import os
import sys
import termios
from collections.abc import Callable
from typing import Any, Self


class End:
    """One end of a pipe; closed at the end of the block, or before."""

    def __init__(self, handle: int) -> None:
        os.set_blocking(handle, False)
        self._handle = handle

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of it, once."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    async def read(self, most: int) -> bytes:
        """The next bytes; none when all who could write are gone."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                return os.read(self._handle, most)
            except BlockingIOError:
                await self._ready(loop.add_reader, loop.remove_reader)

    async def write(self, data: bytes) -> None:
        """Write all of it, no faster than the other side takes it."""
        loop = asyncio.get_running_loop()
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._handle, rest) :]
            except BlockingIOError:
                await self._ready(loop.add_writer, loop.remove_writer)

    def waiting(self) -> bytes:
        """What can be read now, and no more, whoever goes on writing."""
        size = int.from_bytes(fcntl.ioctl(self._handle, termios.FIONREAD, b"\0" * 4), sys.byteorder)
        return os.read(self._handle, size) if size else b""

    async def _ready(self, add: Callable[..., Any], remove: Callable[[int], Any]) -> None:
        ready = asyncio.Event()
        add(self._handle, ready.set)
        try:
            await ready.wait()
        finally:
            remove(self._handle)
