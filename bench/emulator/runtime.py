"""Measures the runtime as a program and prints a table: `python -m bench.emulator.runtime`.

The load comes from this process, the emulator and workerd are two more: on two cores all three share them.
"""

import asyncio
import contextlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import httpx

from testbed import loopback
from testbed.emulator.process import TOKEN, started
from testbed.emulator.runtime_stage import PACKAGES, fetch_runtime
from testbed.emulator.workers_upload import parts
from tools.setup import toolchain

TRIVIAL = "export default { fetch() { return new Response('hello') } };"
COUNTING = """import { DurableObject } from "cloudflare:workers";
export class Counter extends DurableObject {
  async get() { return (await this.ctx.storage.get("n")) ?? 0; }
  async add() { const n = (await this.get()) + 1; await this.ctx.storage.put("n", n); return n; }
}
export default { async fetch(request, env) {
  const [, what, name] = new URL(request.url).pathname.split("/");
  return new Response(`RELEASE ${what} ${name} ${await env.COUNTER.getByName(name)[what]()}`);
} };"""
REQUESTS = 4_000
CONNECTIONS = 8
RATE, SECONDS, REDEPLOYS = 200, 20, 5
OBJECTS, WRITES = 20, 10


@contextlib.contextmanager
def emulator(state: Path, **env: str) -> Iterator[httpx.Client]:
    """A client of the API of an emulator of its own."""
    fetch_runtime()
    with (
        started(state, "--packages", PACKAGES, "--node", toolchain.load().node, **env) as (_, url),
        httpx.Client(base_url=url, headers={"authorization": f"Bearer {TOKEN}"}, timeout=60) as client,
    ):
        yield client


def upload(client: httpx.Client, name: str, code: str, **metadata: Any) -> None:
    account = client.get("/accounts").json()["result"][0]["id"]
    given = {"compatibility_date": "2026-10-01", **metadata}
    answer = client.put(f"/accounts/{account}/workers/scripts/{name}", files=parts(given, {"index.js": code}))
    assert answer.status_code == 200, answer.text


class Connection:
    """Requests over one kept connection."""

    def __init__(self, port: int, host: str, path: str = "/") -> None:
        self._port = port
        self._request = f"GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n".encode()

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def ask(self) -> tuple[int, bytes]:
        self._writer.write(self._request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        return int(head.split()[1]), await self._reader.readexactly(length)


async def latencies(port: int, host: str, count: int) -> list[float]:
    """Milliseconds of requests one after the other."""
    found = []
    async with Connection(port, host) as connection:
        for _ in range(count):
            started = time.perf_counter()
            assert (await connection.ask())[0] == 200
            found.append((time.perf_counter() - started) * 1000)
    return found


async def per_second(port: int, host: str) -> float:
    started = time.perf_counter()
    await asyncio.gather(*(latencies(port, host, REQUESTS // CONNECTIONS) for _ in range(CONNECTIONS)))
    return REQUESTS / (time.perf_counter() - started)


async def under_load(port: int, host: str, redeploy: Any, seconds: float, redeploys: int) -> dict[str, Any]:
    """Ask at a steady rate, for these seconds and until the last redeploy is done; one request in ten writes."""
    answers: list[tuple[float, int, bytes]] = []

    async def one(path: str) -> None:
        started = time.perf_counter()
        try:
            async with Connection(port, host, path) as connection:
                status, body = await connection.ask()
        except (OSError, asyncio.IncompleteReadError) as error:
            status, body = 0, repr(error).encode()
        answers.append(((time.perf_counter() - started) * 1000, status, body))

    async def deploy() -> None:
        pause = seconds / (redeploys + 1)
        for number in range(redeploys):
            await asyncio.sleep(pause)
            await asyncio.to_thread(redeploy, str(number + 2))
        await asyncio.sleep(pause)

    deploying = asyncio.ensure_future(deploy())
    tasks: list[asyncio.Future[None]] = []
    begun = time.perf_counter()
    while len(tasks) < RATE * seconds or not deploying.done():
        number = len(tasks)
        await asyncio.sleep(max(0.0, begun + number / RATE - time.perf_counter()))
        what = "get" if number % WRITES else "add"
        tasks.append(asyncio.ensure_future(one(f"/{what}/{number // WRITES % OBJECTS}")))
    await asyncio.gather(*tasks, deploying)
    adds = [body.partition(b" ")[2] for _, _, body in answers if body.partition(b" ")[2].startswith(b"add ")]
    written = len(range(0, len(answers), WRITES))
    return {
        "requests": len(answers),
        "written": written,
        "failed": [(status, body) for _, status, body in answers if status != 200],
        "releases": {body.split()[0].decode() for _, status, body in answers if status == 200},
        "lost": written - len(set(adds)),
        "longest": max(ms for ms, _, _ in answers),
        "median": statistics.median(ms for ms, _, _ in answers),
    }


def measure() -> dict[str, float]:
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, emulator(Path(folder)) as client:
        port = client.base_url.port or 0
        upload(client, "trivial", TRIVIAL)
        host = "trivial.localhost"
        started = time.perf_counter()
        asyncio.run(latencies(port, host, 1))
        found["first request, workerd not yet running (ms)"] = (time.perf_counter() - started) * 1000
        scripts = client.get(str(client.base_url).replace("/client/v4/", "/_emulator/runtime")).json()["result"][
            "scripts"
        ]
        direct = scripts[0]["port"]
        for _ in range(2):  # the first round warms up
            alone = statistics.median(asyncio.run(latencies(direct, host, 2000)))
            routed = statistics.median(asyncio.run(latencies(port, host, 2000)))
        found["workerd alone, median (ms)"], found["through the router, median (ms)"] = alone, routed
        found["overhead of the router, median (ms)"] = routed - alone
        found["workerd alone (requests/s)"] = asyncio.run(per_second(direct, host))
        found["through the router (requests/s)"] = asyncio.run(per_second(port, host))
        objects = {"bindings": [{"type": "durable_object_namespace", "name": "COUNTER", "class_name": "Counter"}]}
        migrations = {"new_tag": "v1", "new_sqlite_classes": ["Counter"]}
        upload(client, "counting", COUNTING.replace("RELEASE", "1"), **objects, migrations=migrations)

        def redeploy(release: str) -> None:
            upload(client, "counting", COUNTING.replace("RELEASE", release), **objects)

        load = asyncio.run(under_load(port, "counting.localhost", redeploy, SECONDS, REDEPLOYS))
        title = f"{RATE} requests/s for {SECONDS} s, {REDEPLOYS} redeploys"
        found[f"{title}: failed"], found[f"{title}: lost counts"] = len(load["failed"]), load["lost"]
        found[f"{title}: longest (ms)"], found[f"{title}: median (ms)"] = load["longest"], load["median"]
    return found


if __name__ == "__main__":
    loopback.enforce()
    result = {title: round(value, 2) for title, value in measure().items()}
    if "--json" in sys.argv:
        print(json.dumps(result, indent=2))
    else:
        for title, value in result.items():
            print(f"  {value:>9,.2f}  {title}")
