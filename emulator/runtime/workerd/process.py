"""One workerd process: started with a configuration that never touches the disk, watched, ended.

The configuration holds opened secrets, so it is passed as a file that exists in memory only (where the system has no
such thing, as a file of the owner's that is gone once workerd has read it).
"""

import asyncio
import contextlib
import json
import os
import sys
import tempfile
from asyncio.subprocess import Process
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from emulator.runtime.sandboxes import pipes

_LAUNCH = Path(__file__).with_name("launch.py")
_PATIENCE = 30.0  # seconds for a start; a busy machine has been seen to take two
_GRACE = 0.5  # seconds for what goes on after an answer
_LOG_LIMIT = 4 * 1024 * 1024
_REASON_LINES = 6
_MOST = 64 * 1024  # bytes at once
_TOO_NEW = "newest date supported by this server binary"
_NEWER = "On this machine the Worker runs with that date or an earlier one."
_NOISE = ("warning:", "does not need to be specified")


class StartError(Exception):
    """workerd refused the configuration; the message is its reason."""


class SlowStartError(StartError):
    """workerd did not listen in time; it may the next time."""


@dataclass
class Workerd:
    """A running process and the ports of its sockets by name."""

    process: Process
    ports: dict[str, int]

    @property
    def pid(self) -> int:
        """The process id."""
        return self.process.pid

    async def wait(self) -> int:
        """Until it ends; the exit code."""
        return await self.process.wait()

    async def stop(self) -> None:
        """End it; what Durable Objects have confirmed is on disk, whatever the way it ends."""
        if self.process.returncode is not None:
            return
        self.process.terminate()
        try:
            await asyncio.wait_for(self.process.wait(), _GRACE)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):  # it has ended since
                self.process.kill()
            await self.process.wait()


@dataclass(frozen=True)
class Order:
    """What to run."""

    program: Path
    configuration: str
    sockets: frozenset[str]
    imports: Path  # folder the configuration embeds files from
    log: Path


async def start(order: Order) -> Workerd:
    """Run workerd until it listens on all its sockets."""
    handle, writer = os.pipe()
    with pipes.End(handle) as reader:
        return await _start(order, reader, writer)


async def _start(order: Order, reader: pipes.End, writer: int) -> Workerd:
    config = _in_memory(order.configuration)
    with _open_log(order.log) as output:
        said = output.tell()
        arguments = ["serve", "--experimental", f"--control-fd={writer}", f"-I{order.imports}", f"/dev/fd/{config}"]
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", str(_LAUNCH), str(os.getpid()), str(order.program), *arguments),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(config, writer),
                cwd=order.log.parent,
                env={"PATH": os.defpath},  # nothing of the emulator's environment is the Worker's business
            )
        finally:
            os.close(config)
            os.close(writer)
    try:
        ports = await asyncio.wait_for(_ports(reader, order.sockets), _PATIENCE)
    except BaseException as error:
        await Workerd(process, {}).stop()
        if isinstance(error, TimeoutError):
            raise SlowStartError(f"workerd does not listen after {_PATIENCE:g} seconds") from error
        if isinstance(error, EOFError):
            raise StartError(_reason(order.log, said)) from error
        raise
    return Workerd(process, ports)


def _in_memory(text: str) -> int:
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("workerd")
    else:
        handle, name = tempfile.mkstemp()
        Path(name).unlink()
    with os.fdopen(os.dup(handle), "wb") as file:
        file.write(text.encode())
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def _open_log(path: Path) -> BinaryIO:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    whole = path.stat().st_size > _LOG_LIMIT
    return path.open("wb" if whole else "ab")


async def _ports(reader: pipes.End, wanted: frozenset[str]) -> dict[str, int]:
    """Ports by socket name, as workerd reports them; EOFError when it ends first."""
    ports: dict[str, int] = {}
    said = b""
    while not wanted <= ports.keys():
        heard = await reader.read(_MOST)
        if not heard:
            raise EOFError
        *lines, said = (said + heard).split(b"\n")
        for event in map(json.loads, lines):
            if event.get("event") == "listen":
                ports[event["socket"]] = event["port"]
    return ports


def _reason(log: Path, start: int) -> str:
    """What workerd complained of, without its remarks."""
    with log.open("rb") as file:
        file.seek(start)
        lines = file.read(64 * 1024).decode(errors="replace").splitlines()
    telling = [line for line in lines if line.strip() and not any(word in line for word in _NOISE)]
    reason = "\n".join(telling[:_REASON_LINES]) or "workerd ended without saying why"
    return f"{reason} {_NEWER}" if _TOO_NEW in reason else reason
