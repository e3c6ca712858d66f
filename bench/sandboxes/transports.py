"""Measures each transport between the SDK and its server, and prints a table: `python -m bench.sandboxes.transports`.

The same deployment three times, with nothing different but `SANDBOX_TRANSPORT`: the first command of a fresh sandbox, a
warm one, a file of 8 MB, and commands per second with 16 in flight. Rounds go from one to the other and back, so that a
machine whose load changes is unfair to none.
"""

import asyncio
import contextlib
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from bench.sandboxes.client import Client, to_port
from bench.sandboxes.stage import Stage, deployed
from testbed import loopback
from tools.setup import toolchain

_TRANSPORTS = ("http", "websocket", "rpc")
_ROUNDS, _FRESH, _WARM, _SECONDS, _IN_FLIGHT = 3, 4, 100, 3.0, 16
_FILE = {"path": "/workspace/file", "content": "x" * 8_000_000}


class Side:
    """One transport's deployment, and what was measured of it."""

    def __init__(self, name: str, stage: Stage) -> None:
        place = urlsplit(stage.origin)
        self.name = name
        self.dial, self.headers = to_port(place.hostname or "", place.port or 0), stage.headers
        self.client = Client(self.dial, self.headers)
        self.taken: dict[str, list[float]] = {"first": [], "warm": [], "file": []}
        self.done = 0

    async def ask(self, method: str, path: str, body: object = None) -> None:
        """A call that succeeds."""
        status, answer = await self.client.ask(method, f"/v1/sandboxes/{path}", body)
        if status >= 300:
            raise SystemExit(f"{self.name}: {method} {path}: {status} {answer}")

    async def timed(self, what: str, method: str, path: str, body: object) -> None:
        """The same, with the time it took."""
        began = time.perf_counter()
        await self.ask(method, path, body)
        self.taken[what].append((time.perf_counter() - began) * 1000)

    async def round(self, number: int) -> None:
        """Everything once, over connections of its own: the server closes those that wait for their turn."""
        self.client.close()
        self.client = Client(self.dial, self.headers)
        command = {"command": "true"}
        for fresh in range(_FRESH):
            await self.timed("first", "POST", f"fresh-{number}-{fresh}/exec", command)
            await self.ask("DELETE", f"fresh-{number}-{fresh}")
        for _ in range(_WARM):
            await self.timed("warm", "POST", "warm/exec", command)
        await self.timed("file", "PUT", "warm/files", _FILE)
        until = time.monotonic() + _SECONDS

        async def loop() -> None:
            while time.monotonic() < until:
                await self.ask("POST", "warm/exec", command)
                self.done += 1

        await asyncio.gather(*(loop() for _ in range(_IN_FLIGHT)))

    def row(self) -> tuple[str, ...]:
        """As it is printed."""
        medians = (f"{statistics.median(self.taken[what]):.1f} ms" for what in ("first", "warm", "file"))
        return self.name, *medians, f"{self.done / _SECONDS / _ROUNDS:.0f}/s"


async def _measure(sides: list[Side]) -> None:
    for side in sides:
        await side.ask("POST", "warm/exec", {"command": "true"})  # workerd starts, layers are unpacked
    for number in range(_ROUNDS):
        for side in sides if number % 2 else reversed(sides):
            await side.round(number)


def main() -> int:
    """Run everything."""
    tools = toolchain.load()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as open_stages:
        sides = []
        for name in _TRANSPORTS:
            serving = deployed(
                tools,
                Path(folder) / name,
                instance_type="standard-4",
                max_instances=20,
                variables={"SANDBOX_TRANSPORT": name},
            )
            sides.append(Side(name, open_stages.enter_context(serving)))
        asyncio.run(_measure(sides))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    titles = ("transport", "first command", "warm command", "8 MB in", f"{_IN_FLIGHT} in flight")
    for row in (titles, *(side.row() for side in sides)):
        print("  ".join(cell.ljust(14) for cell in row).rstrip())
    return 0


if __name__ == "__main__":
    loopback.enforce()
    sys.exit(main())
