"""Connections of entry modules that are no requests: raw TCP to a port of a sandbox, and commands run in one.

Each begins with one line of JSON that says whose container is meant and what for. A port is answered with a byte that
says whether anything listens there, and what it sends, or the reason. What a command writes comes back in
frames (its kind, its length, its bytes), the first of which tells its number and the last how it ended.
"""

import asyncio
import contextlib
import json
import os
import socket
import struct
import time
from collections.abc import Coroutine
from typing import Any

from emulator.engine.container import Command, NotListeningError, Process
from emulator.engine.oci import ImageError

from . import pipes
from .gateway import NOT_LISTENING, NOT_RUNNING
from .sandbox import Key, Sandbox
from .sandboxes import Sandboxes
from .secret import Secrets

_LOOPBACK = "127.0.0.1"
_LONGEST_LINE = 1024 * 1024
_CHUNK = 64 * 1024
_LOOK_SECONDS = 5  # between looks whether the other side is still there
_CLOSED = 7  # the state of a connection whose other side is gone, as Linux numbers it
_START_SECONDS, _START_PAUSE = 5.0, 0.01
_DRAIN_SECONDS = 0.2  # for what a command has started to say its last, where that outlives it
_LISTENS, _REFUSED = b"\0", b"\1"
_KINDS = (1, 2)  # output, complaints
_EXIT, _BEGUN = 3, 4


class Streams:
    """Listens for such connections."""

    def __init__(self, sandboxes: Sandboxes, secrets: Secrets) -> None:
        self._sandboxes = sandboxes
        self._secrets = secrets
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[Any] | None] = set()  # nobody else holds them: they could vanish half-way

    async def address(self) -> str:
        """Host and port, listening from now on."""
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, _LOOPBACK, 0, limit=_LONGEST_LINE)
        host, port = self._server.sockets[0].getsockname()
        return f"{host}:{port}"

    async def stop(self) -> None:
        """Listen no more."""
        if self._server:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._serving.add(task)
        try:
            await self._answer(reader, writer)
        finally:
            self._serving.discard(task)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, ValueError, KeyError, TypeError, NotListeningError, ImageError):
            line = json.loads(await reader.readline())
            key = Key(str(line["account"]), *str(line["target"]).split("/"))
            known = self._secrets.is_of(str(line["secret"]), key.account, key.namespace)
            sandbox = await self._find(key, line.get("run")) if known else None
            if sandbox is not None and sandbox.running:
                with sandbox.in_use():
                    await _while_there(writer, self._join(sandbox, line, reader, writer))
            elif "port" in line:
                writer.write(_REFUSED + NOT_RUNNING.encode())
        with contextlib.suppress(ConnectionError):
            writer.close()
            await writer.wait_closed()

    async def _find(self, key: Key, run: str | None) -> Sandbox | None:
        """The sandbox that an object has started; word of the start may come later than the connection."""
        until = time.monotonic() + _START_SECONDS
        while True:
            sandbox = self._sandboxes.find(key)
            if run is None or (sandbox and sandbox.run == run) or time.monotonic() > until:
                return sandbox
            await asyncio.sleep(_START_PAUSE)

    async def _join(
        self, sandbox: Sandbox, line: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if "exec" in line:
            await _execute(sandbox, line["exec"], reader, writer)
            return
        port = int(line["port"])
        try:
            opened = await sandbox.connect(port)
        except (NotListeningError, ImageError):
            writer.write(_REFUSED + NOT_LISTENING.format(port=port).encode())
            return
        writer.write(_LISTENS)
        far_reader, far_writer = await asyncio.open_connection(sock=opened)
        try:
            await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
        finally:
            far_writer.close()


async def _while_there(writer: asyncio.StreamWriter, work: Coroutine[Any, Any, None]) -> None:
    """Do the work, unless the other side is gone before it is done; that it says no more does not show that."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _LOOK_SECONDS)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _LOOK_SECONDS)
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=_LOOK_SECONDS)
            if (
                writer.transport.is_closing()
                or connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == _CLOSED
            ):
                break
    finally:
        if not task.done():
            task.cancel()
        (outcome,) = await asyncio.gather(task, return_exceptions=True)
    if isinstance(outcome, Exception):
        raise outcome


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while chunk := await reader.read(_CHUNK):
            writer.write(chunk)
            await writer.drain()
        writer.write_eof()


async def _execute(sandbox: Sandbox, wanted: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    env = [f"{name}={value}" for name, value in (wanted.get("env") or {}).items()]
    command = Command(wanted["argv"], env, wanted.get("cwd") or "", wanted.get("user") or "")
    with contextlib.ExitStack() as opened:
        (their_input, into), (out, their_output), (wrong, their_complaint) = (os.pipe() for _ in range(3))
        ours = [opened.enter_context(pipes.End(handle)) for handle in (into, out, wrong)]
        theirs = (their_input, their_output, their_complaint)
        try:
            process = await sandbox.execute(command, theirs)
        finally:
            for handle in theirs:
                os.close(handle)
        sandbox.processes[wanted["id"]] = process
        try:
            _frame(writer, _BEGUN, json.dumps({"pid": process.pid}).encode())
            code = await _accompany(process, ours, reader, writer)
            _frame(writer, _EXIT, json.dumps({"code": code}).encode())
            await writer.drain()
        finally:
            sandbox.processes.pop(wanted["id"], None)


async def _accompany(
    process: Process, ours: list[pipes.End], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> int:
    """Be with a command until it has ended and said its last; its exit code."""
    given, *outputs = ours
    fed = asyncio.ensure_future(_feed(reader, given))
    said = [asyncio.ensure_future(_say(*each, writer)) for each in zip(outputs, _KINDS, strict=True)]
    try:
        code = await asyncio.shield(process.exit)
        await asyncio.wait(said, timeout=_DRAIN_SECONDS)
    finally:
        for task in (fed, *said):
            task.cancel()
        # A command that does not take its input is no error; who listens to it and is gone shows at the next word.
        await asyncio.gather(fed, *said, return_exceptions=True)
    for output, kind in zip(outputs, _KINDS, strict=True):
        if rest := output.waiting():  # who still has it open writes into nothing from now on
            _frame(writer, kind, rest)
    return code


async def _feed(reader: asyncio.StreamReader, given: pipes.End) -> None:
    """What the object writes is the command's input."""
    with given:
        while chunk := await reader.read(_CHUNK):
            await given.write(chunk)


async def _say(output: pipes.End, kind: int, writer: asyncio.StreamWriter) -> None:
    """Pass on what a command writes, until all who have its output have closed it."""
    while chunk := await output.read(_CHUNK):
        _frame(writer, kind, chunk)
        await writer.drain()


def _frame(writer: asyncio.StreamWriter, kind: int, content: bytes) -> None:
    writer.write(struct.pack(">BI", kind, len(content)) + content)
