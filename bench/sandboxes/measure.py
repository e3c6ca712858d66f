"""Measures sandboxes on this machine and prints a table: `python -m bench.sandboxes.measure`.

The first command of a fresh sandbox, a warm one through the whole Worker beside the same call straight to the server in
a container, commands per second, and the memory of an idle sandbox. Load, emulator, workerd and sandboxes share the
cores.
"""

import asyncio
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from bench.sandboxes import processor
from bench.sandboxes.client import Client, to_port
from bench.sandboxes.stage import Stage, deployed
from emulator.engine.container import Container
from emulator.engine.engine import Engine, NetworkPolicy, Size
from emulator.engine.images import Image, Layer
from emulator.engine.oci import Run
from testbed import loopback
from tools.paths import cache_root, sdk_version
from tools.setup import toolchain
from tools.setup.toolchain import Toolchain

_TYPE, _SIZE = "standard-4", Size(4, 12288, 20000)
_FRESH, _WARM, _SECONDS, _IDLE = 20, 200, 5.0, 10
_IN_FLIGHT = (1, 4, 16)
_PAGE = resource.getpagesize()


def main() -> int:
    """Run everything."""
    tools = toolchain.load()
    if tools.base_image is None or tools.containers is None:
        print("There is no base image or no engine of containers here; `make setup` says why.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        rows = [("", "median", "p95", "")]
        with deployed(tools, Path(folder) / "state", instance_type=_TYPE, max_instances=100) as stage:
            rows += asyncio.run(_through_the_worker(stage))
        rows += asyncio.run(_straight(tools, Path(folder) / "straight"))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, instance type {_TYPE}, SDK {sdk_version()}\n")
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


Row = tuple[str, str, str, str]


async def _through_the_worker(stage: Stage) -> list[Row]:
    place = urlsplit(stage.origin)
    client = Client(to_port(place.hostname or "", place.port or 0), stage.headers)

    async def execute(name: str) -> None:
        status, answer = await client.ask("POST", f"/v1/sandboxes/{name}/exec", {"command": "true"})
        if status != 200 or answer["exit_code"] != 0:
            raise SystemExit(f"{status} {answer}")

    await execute("first")  # workerd starts, layers are unpacked
    fresh = []
    for number in range(_FRESH):
        fresh.append(await _timed(partial(execute, f"fresh-{number}")))
        await client.ask("DELETE", f"/v1/sandboxes/fresh-{number}")
    warm = [await _timed(partial(execute, "first")) for _ in range(_WARM)]
    rows = [_row("first command of a fresh sandbox", fresh), _row("warm command through the Worker", warm)]
    for many in _IN_FLIGHT:
        rows += await _rate(many, execute, stage.pid)
    before = _memory_of(stage.pid)
    for number in range(_IDLE):
        await execute(f"idle-{number}")
    await asyncio.sleep(1)
    each = (_memory_of(stage.pid) - before) / _IDLE / 1e6
    client.close()
    return [*rows, ("memory of an idle sandbox, all its processes", f"{each:.0f} MB", "", f"of {_IDLE}")]


async def _rate(many: int, execute: Callable[[str], Awaitable[None]], emulator: int) -> list[Row]:
    """Commands per second, and what keeps them from being more: the processor time that each takes, and where."""
    until = time.monotonic() + _SECONDS
    done = 0
    before, load = processor.spent(emulator), time.process_time()

    async def loop() -> None:
        nonlocal done
        while time.monotonic() < until:
            await execute("first")
            done += 1

    await asyncio.gather(*(loop() for _ in range(many)))
    parts = processor.since(emulator, before) | {"load": time.process_time() - load}
    each = ", ".join(f"{part} {1000 * seconds / done:.1f}" for part, seconds in parts.items())
    whole = f"{1000 * sum(parts.values()) / done:.1f} ms"
    return [
        (f"commands/s in one sandbox, {many} in flight", f"{done / _SECONDS:.0f}/s", "", f"{done} in {_SECONDS:g} s"),
        ("  processor time of each", whole, "", each),
    ]


async def _straight(tools: Toolchain, folder: Path) -> list[Row]:
    """The same command asked of the server itself, in a container of the same size."""
    engine = Engine(folder, tools.containers, cache_root() / "layers")
    assert tools.base_image is not None
    image = base_image(tools.base_image)
    await engine.prepare(image)
    container = engine.start(image, _SIZE, Run("straight"), NetworkPolicy())
    client = Client(partial(_connected, container), {"host": "localhost:3000"})

    async def ask() -> None:
        wanted = {"command": "true", "sessionId": "__DISABLE_SESSION__"}
        status, answer = await client.ask("POST", "/api/execute", wanted)
        if status != 200 or answer["exitCode"] != 0:
            raise SystemExit(f"{status} {answer}")

    for _ in range(20):
        await ask()
    taken = [await _timed(ask) for _ in range(_WARM)]
    client.close()
    await engine.close()
    return [_row("the same straight to the server", taken)]


async def _connected(container: Container) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection(sock=await container.connect(3000, 20))


def base_image(layout: Path) -> Image:
    """The stand-in base image as it lies on disk."""

    def blob(digest: str) -> Path:
        return layout / "blobs" / "sha256" / digest.removeprefix("sha256:")

    index = json.loads((layout / "index.json").read_text())
    name = "org.opencontainers.image.ref.name"
    entry = next(each for each in index["manifests"] if each.get("annotations", {}).get(name) == sdk_version())
    manifest = json.loads(blob(entry["digest"]).read_text())
    config = json.loads(blob(manifest["config"]["digest"]).read_text())
    contents = zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True)
    layers = tuple(Layer(blob(each["digest"]), each["mediaType"], diff_id) for each, diff_id in contents)
    return Image("the base image", entry["digest"], config, layers)


async def _timed(work: Callable[[], Awaitable[None]]) -> float:
    began = time.perf_counter()
    await work()
    return (time.perf_counter() - began) * 1000


def _row(title: str, taken: list[float]) -> Row:
    ordered = sorted(taken)
    return (
        title,
        f"{statistics.median(taken):.1f} ms",
        f"{ordered[int(len(ordered) * 0.95)]:.1f} ms",
        f"of {len(taken)}",
    )


def _memory_of(pid: int) -> float:
    """What a process and all its offspring have for themselves; what they share counts by share."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    own = 0
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            own = int(line.split()[1]) * 1024
    return own + sum(_memory_of(int(child)) for child in children)


if __name__ == "__main__":
    loopback.enforce()
    sys.exit(main())
