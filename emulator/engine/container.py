"""A container as its engine's users see it: its start, its ports, its commands, its end.

All of it is asked of the supervisor that keeps the container, and told by it, over one link.
"""

import asyncio
import contextlib
import itertools
import os
import signal
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from . import cgroups, link
from .images import Image
from .link import Message
from .oci import ImageError

_KILLED = 128 + signal.SIGKILL
_DIAL_SECONDS = 30
_KILL_SECONDS = 5  # for a supervisor to do as it is told; then its shim ends it
_START_SECONDS = 30  # for one that is to be killed to have started: before that it obeys nobody
_LOG_SECONDS = 5  # one that does not answer must not hold up who asks for all


class NotListeningError(Exception):
    """Nothing listens on the port, or nobody is there to do what was asked."""


@dataclass(frozen=True)
class Outgoing:
    """A connection that left a container for an address that is intercepted."""

    socket: socket.socket
    address: str
    port: int


class Container:
    """A container that was asked for; it may still be starting, and it may have ended."""

    def __init__(self, name: str, image: Image, group: cgroups.Group | None, *, internet: bool) -> None:
        self.name = name
        self.image = image
        self.internet = internet  # whether it has a way out
        self.connected = asyncio.Event()  # it is known whether that works
        self.network_problem: str | None = None  # why it has none although it was to have one
        self.outbound: Callable[[Outgoing], None] | None = None  # takes what is intercepted
        self.started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.exit: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.unkept = asyncio.Event()  # no process keeps it any more
        self.left_behind = True  # its shim has not said that it has cleared up
        self.gone = asyncio.Event()  # nothing of it is left; set by the engine
        self.out_of_memory = False
        self.last_words = ""
        self._group = group
        self._link: socket.socket | None = None
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[tuple[Message, list[int]]]] = {}
        self._processes: dict[int, Process] = {}
        self._kill = False
        # Who asks for neither must not be told that nobody did.
        self.started.add_done_callback(_look_at)
        self.exit.add_done_callback(_look_at)

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return not self.exit.done()

    def memory(self) -> int | None:
        """Bytes in use, where that is known."""
        return self._group.memory() if self._group else None

    def attach(self, control: socket.socket) -> None:
        """Listen to the supervisor."""
        control.setblocking(False)
        self._link = control
        asyncio.get_running_loop().add_reader(control, self._receive)
        if self._kill:
            self.kill()

    def fail(self, error: Exception) -> None:
        """It has never run."""
        if not self.started.done():
            self.started.set_exception(error)
        if not self.exit.done():
            self.exit.set_exception(error)
        self.left_behind = False
        self.unkept.set()

    def _receive(self) -> None:
        assert self._link is not None  # noqa: S101 - there is no reader without it
        try:
            received = link.receive(self._link)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            received = None
        if received is None:
            self._end()
            return
        message, files = received
        if number := message.get("number"):
            waiting = self._asked.pop(number, None)
            if waiting is None or waiting.done():
                for each in files:
                    os.close(each)
            else:
                waiting.set_result((message, files))
        else:
            self._event(message, files)

    def _event(self, message: Message, files: list[int]) -> None:
        kind = message["event"]
        if kind == "started" and not self.started.done():
            self.started.set_result(None)
        elif kind == "failed" and not self.started.done():
            self.started.set_exception(ImageError(message["reason"]))
        elif kind == "done":
            self._done(message["of"], message["code"])
        elif kind == "exit":
            self.last_words = message["log"]
            self._exit(message["code"])
        elif kind == "gone":
            self.out_of_memory = message["out_of_memory"] > 0
            self.left_behind = False
        elif kind == "network":
            self.network_problem = message["problem"]
            self.internet = not message["problem"]
            self.connected.set()
        elif kind == "outbound" and files:  # else this process may open no more
            opened = _opened((message, files))
            if self.outbound and self.running:
                self.outbound(Outgoing(opened, message["address"], message["port"]))
            else:
                opened.close()

    def _done(self, number: int, code: int) -> None:
        if process := self._processes.pop(number, None):
            process.exit.set_result(code)

    def _exit(self, code: int) -> None:
        if self.exit.done():
            return
        problem = self.started.exception() if self.started.done() else None
        if problem:
            self.exit.set_exception(problem)
        else:
            self.exit.set_result(code)
        for waiting in self._asked.values():
            if not waiting.done():
                waiting.set_exception(NotListeningError)
        self._asked.clear()
        for number in list(self._processes):
            self._done(number, _KILLED)

    def _end(self) -> None:
        """The last process of it has closed its end."""
        if self._link is not None:
            asyncio.get_running_loop().remove_reader(self._link)
            self._link.close()
            self._link = None
        if not self.started.done():
            self.started.set_exception(ImageError("the container ended before it ran"))
        self._exit(_KILLED)
        self.unkept.set()

    def _send(self, message: Message, files: tuple[int, ...] = ()) -> bool:
        if self._link is None or not self.running:
            return False
        with contextlib.suppress(OSError):
            link.send(self._link, message, files)
            return True
        return False

    async def _ask(
        self, message: Message, files: tuple[int, ...] = (), process: "Process | None" = None
    ) -> tuple[Message, list[int]]:
        number = next(self._numbers)
        if process:  # known before the answer: its end may come with it
            process.number = number
            self._processes[number] = process
        answer: asyncio.Future[tuple[Message, list[int]]] = asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        if not self._send({**message, "number": number}, files):
            self._asked.pop(number, None)
            self._processes.pop(number, None)
            raise NotListeningError
        try:
            told = await answer
        except asyncio.CancelledError:
            _close_files(answer)
            raise
        finally:
            self._asked.pop(number, None)
        if "refused" in told[0]:
            self._processes.pop(number, None)
            raise NotListeningError(told[0]["refused"])
        return told

    async def connect(self, port: int, patience: float) -> socket.socket:
        """A connection to a port; waits so many seconds for something to listen there."""
        await asyncio.shield(self.started)
        return _opened(await self._ask({"do": "connect", "port": port, "patience": patience}))

    async def intercept(self, addresses: list[str]) -> None:
        """Intercept requests for more addresses; OSError says why that cannot be."""
        await asyncio.shield(self.started)
        message, _ = await self._ask({"do": "intercept", "addresses": addresses})
        if "error" in message:
            raise OSError(message["error"])

    async def bypass(self, address: str, port: int) -> socket.socket:
        """A connection from the container's network that is not intercepted."""
        async with asyncio.timeout(_DIAL_SECONDS):  # not `wait_for`, which can swallow a cancellation
            return _opened(await self._ask({"do": "bypass", "address": address, "port": port}))

    def signal(self, number: int) -> None:
        """Send a signal to its first process."""
        self._send({"do": "signal", "signal": number})

    def _kill_or_let_go(self) -> None:
        """Have it killed, or, where the supervisor follows no orders, let go of the link: its shim sees that."""
        if self._send({"do": "signal", "signal": signal.SIGKILL}):
            asyncio.get_running_loop().call_later(_KILL_SECONDS, self._let_go)
        else:
            self._let_go()

    def _let_go(self) -> None:
        if self._link is not None:
            with contextlib.suppress(OSError):
                self._link.shutdown(socket.SHUT_WR)

    def kill(self) -> None:
        """End it at once, also when it is still starting."""
        self._kill = True
        if self.started.done():
            self._kill_or_let_go()
        else:
            self.started.add_done_callback(lambda _: self._kill_or_let_go())
            asyncio.get_running_loop().call_later(_START_SECONDS, self._let_go)

    async def log(self) -> str:
        """Its newest output."""
        if not self.running or self._link is None:
            return self.last_words
        with contextlib.suppress(NotListeningError, TimeoutError):
            async with asyncio.timeout(_LOG_SECONDS):
                message, _ = await self._ask({"do": "log"})
            return str(message["log"])
        return self.last_words

    async def execute(self, command: "Command", stdio: tuple[int, int, int]) -> "Process":
        """Run a command in it on these open files, which may be closed once it is there."""
        await asyncio.shield(self.started)
        process = Process(self)
        message, _ = await self._ask({"do": "exec", **asdict(command)}, stdio, process)
        process.pid = message["pid"]
        if "exit" in message:
            self._done(process.number, message["exit"])
        return process

    def signal_process(self, process: "Process", number: int) -> None:
        """Send a signal to a command; one that has ended does not hear it."""
        if not process.exit.done():
            self._send({"do": "signal", "signal": number, "of": process.number})


class Process:
    """A command in a container. One that could not be started has ended with 127."""

    def __init__(self, container: Container) -> None:
        self.pid = 0  # as the container knows it; 0 when it ended too soon to be asked
        self.number = 0
        self.exit: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._container = container

    def kill(self, number: int) -> None:
        """Send it a signal."""
        self._container.signal_process(self, number)


@dataclass(frozen=True)
class Command:
    """What is executed in a container."""

    argv: list[str]
    env: list[str]
    cwd: str = ""
    user: str = ""


def _opened(answer: tuple[Message, list[int]]) -> socket.socket:
    """The connection that came with a message."""
    if not answer[1]:
        raise NotListeningError
    opened = socket.socket(fileno=answer[1][0])
    opened.setblocking(False)
    return opened


def _close_files(answer: "asyncio.Future[tuple[Message, list[int]]]") -> None:
    """Close what came with an answer whose asker was told to stop in the same moment: nobody else knows of it."""
    if answer.done() and not answer.cancelled() and not answer.exception():
        for each in answer.result()[1]:
            os.close(each)


def _look_at(future: "asyncio.Future[Any]") -> None:
    if not future.cancelled():
        future.exception()
