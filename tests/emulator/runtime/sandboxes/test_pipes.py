"""Ends of pipes: closed once, by who opened them, however the waiting for them ends."""

import asyncio
import gc
import os
from pathlib import Path

import pytest

from emulator import server
from emulator.runtime.sandboxes import pipes
from emulator.runtime.workerd import process

pytestmark = pytest.mark.workerd

SLEEPER = "#!/bin/sh\nexec sleep 60\n"
PAUSES = (0.0, 0.0001, 0.001, 0.01)


def _handles() -> int:
    """Open pipes and files in memory: an emulator on another thread of the tests has sockets that come and go."""
    links = [str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    return sum(each.startswith(("pipe:", "/memfd:")) for each in links)


def test_a_start_given_up_closes_what_it_opened_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A handle that is closed twice is, the second time, somebody else's: here a file that takes its number."""
    program = tmp_path / "workerd"
    program.write_text(SLEEPER)
    program.chmod(0o755)
    order = process.Order(program, "", frozenset({"app"}), tmp_path, tmp_path / "log")

    async def give_up() -> None:
        for pause in PAUSES:
            monkeypatch.setattr(process, "_PATIENCE", pause)
            with pytest.raises(process.SlowStartError) as given_up:
                await process.start(order)
            await asyncio.sleep(0.01)  # the loop closes what it has in its own time
            taken = [os.open(tmp_path, os.O_RDONLY) for _ in range(8)]
            del given_up  # and with it the frames that hold what was being opened
            gc.collect()
            for each in taken:
                os.fstat(each)
                os.close(each)

    with asyncio.Runner(loop_factory=server.new_loop) as runner:
        runner.run(asyncio.sleep(0))
        gc.collect()  # what earlier tests have left goes now, not amid the count
        before = _handles()
        runner.run(give_up())
        assert _handles() == before


def test_all_is_written_no_faster_than_it_is_read():
    handle, other = os.pipe()
    data = os.urandom(1024 * 1024)

    async def move() -> bytes:
        with pipes.End(handle) as reader, pipes.End(other) as writer:

            async def write() -> None:
                with writer:
                    await writer.write(data)

            writing = asyncio.ensure_future(write())
            await asyncio.sleep(0.05)
            assert not writing.done()
            parts = []
            while part := await reader.read(4096):
                parts.append(part)
            await writing
            return b"".join(parts)

    with asyncio.Runner(loop_factory=server.new_loop) as runner:
        assert runner.run(move()) == data


def test_what_waits_is_taken_without_waiting():
    handle, other = os.pipe()
    with pipes.End(handle) as reader, pipes.End(other):
        assert reader.waiting() == b""
        os.write(other, b"last words")
        assert (reader.waiting(), reader.waiting()) == (b"last words", b"")
