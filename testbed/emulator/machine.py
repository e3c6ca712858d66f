"""An engine on a thread of its own, and containers as a test sees them: started, asked, ended, one call each.

The image is the packages layer of the base image that set-up has made: Debian with bash, coreutils and Perl.
"""

import asyncio
import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from emulator.engine.container import Command, Container, Process
from emulator.engine.engine import Engine, NetworkPolicy, Size
from emulator.engine.images import Image, Layer
from emulator.engine.oci import Run
from tools.setup import toolchain

SMALL = Size(vcpu=1, memory_mib=128, disk_mb=100)
SLEEP = ["sleep", "600"]
PATIENCE = 60
PARTS = "SANDBOX_TEST_PARTS"


@dataclass(frozen=True)
class Done:
    """What a command left."""

    code: int
    out: str
    err: str


class Box:
    """One container."""

    def __init__(self, machine: "Machine", container: Container) -> None:
        self.machine, self.container = machine, container

    def started(self) -> "Box":
        """Wait until it runs; raises why it does not."""
        self.machine.do(outcome(self.container.started))
        return self

    def wait(self) -> int:
        """Wait until nothing is left of it; its exit code."""
        code: int = self.machine.do(_end(self.container))
        return code

    def kill(self) -> int:
        """End it and wait."""
        self.machine.loop.call_soon_threadsafe(self.container.kill)
        return self.wait()

    def signal(self, number: int) -> None:
        self.machine.loop.call_soon_threadsafe(self.container.signal, number)

    def connect(self, port: int, patience: float = 10.0) -> socket.socket:
        """Connect to a port; waits for something to listen there."""
        opened: socket.socket = self.machine.do(self.container.connect(port, patience))
        opened.settimeout(PATIENCE)
        return opened

    def ask(self, port: int, sent: bytes = b"") -> bytes:
        """Connect to a port, send something, and return what comes back until the other side closes."""
        with self.connect(port) as opened:
            opened.sendall(sent)
            opened.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: opened.recv(65536), b""))

    def log(self) -> str:
        said: str = self.machine.do(self.container.log())
        return said

    def begin(self, *argv: str, stdin: int | None = None, **options: Any) -> tuple[Process, int, int]:
        """Begin a command; also where its output and its complaints can be read."""
        given = stdin if stdin is not None else os.open(os.devnull, os.O_RDONLY)
        (out, their_out), (err, their_err) = os.pipe(), os.pipe()
        command = Command(list(argv), options.pop("env", []), **options)

        async def execute() -> Process:
            return await self.container.execute(command, (given, their_out, their_err))

        try:
            return self.machine.do(execute()), out, err
        finally:
            for each in (given, their_out, their_err):
                os.close(each)

    def run(self, *argv: str, stdin: bytes = b"", **options: Any) -> Done:
        """Run a command."""
        given, ours = os.pipe()
        process, out, err = self.begin(*argv, stdin=given, **options)
        said = [b"", b""]
        readers = [threading.Thread(target=_read, args=(each, said, number)) for number, each in enumerate((out, err))]
        feeder = threading.Thread(target=_feed, args=(ours, stdin))
        for each in (*readers, feeder):
            each.start()
        code = self.machine.do(outcome(process.exit))
        for each in (*readers, feeder):
            each.join(PATIENCE)
        return Done(code, said[0].decode(errors="replace"), said[1].decode(errors="replace"))

    def sh(self, script: str, **options: Any) -> Done:
        """Run a script of the shell."""
        return self.run("bash", "-c", script, **options)


class Machine:
    """One engine."""

    def __init__(self, engine: Engine, loop: asyncio.AbstractEventLoop, image: Image) -> None:
        self.engine, self.loop, self.image = engine, loop, image
        self.boxes: list[Box] = []

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Do something on the engine's thread."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)

    def start(
        self,
        *argv: str,
        image: Image | None = None,
        size: Size = SMALL,
        env: dict[str, str] | None = None,
        **config: Any,
    ) -> Box:
        """Start a container that sleeps, or does what is said; more arguments change the image's configuration."""
        base = image or self.image
        said = {"Entrypoint": list(argv or SLEEP), **config}
        changed = replace(base, config={**base.config, "config": said}) if argv or config or not image else base
        run = Run("box", env or {})

        async def begin() -> Container:
            return self.engine.start(changed, size, run, NetworkPolicy())

        box = Box(self, self.do(begin()))
        self.boxes.append(box)
        return box

    def clear(self) -> None:
        """End what a test has left."""
        for box in self.boxes:
            self.loop.call_soon_threadsafe(box.container.kill)
        for box in self.boxes:
            self.do(box.container.gone.wait())
        self.boxes.clear()


@contextmanager
def machine(state: Path, layers: Path, tools: Path | None = None) -> Iterator[Machine]:
    """Return an engine whose disks lie below a folder, on a thread, and close it at the end."""
    provided, layout = parts()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    engine = Engine(state, tools or provided, layers)
    made = Machine(engine, loop, packages_image(layout))
    try:
        yield made
    finally:
        made.do(engine.close())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()


def parts() -> tuple[Path, Path]:
    """The folders of the engine's programs and of the base image; another user cannot read what set-up has recorded."""
    if given := os.environ.get(PARTS):
        tools, layout = (Path(each) for each in given.split(os.pathsep))
        return tools, layout
    found = toolchain.load()
    assert found.containers, "there are no programs for containers: `make setup` says why"
    assert found.base_image, "there is no base image: `make setup` says why"
    return found.containers, found.base_image


def packages_image(layout: Path) -> Image:
    """The first layer of the base image."""
    (entry, *_) = json.loads((layout / "index.json").read_text())["manifests"]
    manifest = json.loads(_blob(layout, entry["digest"]).read_text())
    config = json.loads(_blob(layout, manifest["config"]["digest"]).read_text())
    described, diff_id = manifest["layers"][0], config["rootfs"]["diff_ids"][0]
    layer = Layer(_blob(layout, described["digest"]), described["mediaType"], diff_id)
    return Image("test/packages", entry["digest"], config, (layer,))


def _blob(layout: Path, digest: str) -> Path:
    return layout / "blobs" / digest.replace(":", "/")


def supervisors(here: Machine) -> list[int]:
    """The processes that keep the machine's containers: the third generation of its spawner."""
    assert here.engine._process
    found = [here.engine._process.pid]
    for _ in ("shims", "what makes their namespaces", "supervisors"):
        found = [int(each) for pid in found for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return found


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE / 2
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


async def outcome(future: "asyncio.Future[Any]") -> Any:
    return await asyncio.wait_for(asyncio.shield(future), PATIENCE)


async def _end(container: Container) -> int:
    await asyncio.wait_for(container.gone.wait(), PATIENCE)
    return await container.exit


def _read(handle: int, said: list[bytes], number: int) -> None:
    with os.fdopen(handle, "rb") as file:
        said[number] = file.read()


def _feed(handle: int, content: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), os.fdopen(handle, "wb") as file:
        file.write(content)
