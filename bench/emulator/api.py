"""Measures the emulator as a program and prints a table: `make measure`.

Reads go over keep-alive connections of a client in a process of its own, so on two cores each side has one.
"""

import asyncio
import http.client
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from emulator.settings import Settings
from emulator.state import State
from testbed import loopback
from testbed.emulator.process import TOKEN, started

READS = 20_000
CONNECTIONS = 8
DOCUMENTS = 10_000
STARTS = 5


@contextmanager
def emulator(state: Path) -> Iterator[tuple[str, float]]:
    """Return the address and the seconds from the start of the process to its first answer."""
    before = time.perf_counter()
    with started(state) as (_, url):
        get(url, "/user/tokens/verify")
        yield url, time.perf_counter() - before


def get(url: str, path: str) -> None:
    # Not httpx: making its client takes longer than the answer.
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.netloc)
    connection.request("GET", address.path + path, headers={"authorization": f"Bearer {TOKEN}"})
    assert connection.getresponse().read().startswith(b'{"success":true')
    connection.close()


async def reads_per_second(url: str, path: str) -> float:
    address = urlsplit(url)
    head = f"GET {address.path}{path} HTTP/1.1\r\nhost: {address.netloc}\r\nauthorization: Bearer {TOKEN}"
    request = f"{head}\r\n\r\n".encode()

    async def ask(times: int) -> None:
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        for _ in range(times):
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            await reader.readexactly(length)
        writer.close()

    started = time.perf_counter()
    await asyncio.gather(*(ask(READS // CONNECTIONS) for _ in range(CONNECTIONS)))
    return READS / (time.perf_counter() - started)


def fill(state: Path) -> str:
    """Put ten thousand scripts and DNS records into the state; the zone's id."""
    emulated = State(Settings(), state)
    account = Settings().accounts[0].id
    zone: str = emulated.store.select("zone", "", limit=1)[0]["id"]
    with emulated.store.transaction():
        for number in range(DOCUMENTS):
            name = f"n{number}.sandbox.example"
            key = f"{number:032x}"
            record = {"id": key, "name": name, "type": "A", "content": "192.0.2.1", "ttl": 1}
            emulated.store.put("dns_record", zone, key, record, labels={"name": name})
            emulated.store.put("worker", account, f"script-{number}", {"name": f"script-{number}", "id": key})
    emulated.close()
    return zone


def measure() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        empty, full = Path(folder) / "empty", Path(folder) / "full"
        found: dict[str, list[float]] = {}
        zone = fill(full)
        for _ in range(STARTS):
            for name, state in (("empty", empty), ("full", full)):
                with emulator(state) as (_, seconds):
                    found.setdefault(f"start to first answer, {name} state (s)", []).append(seconds)
        with emulator(full) as (url, _):
            for path, title in (("/user/tokens/verify", "token check"), (f"/zones/{zone}", "read of a zone")):
                found[f"{title} (requests/s)"] = [asyncio.run(reads_per_second(url, path)) for _ in range(3)]
            for count in (100, 1000):
                started = time.perf_counter()
                for page in range(1, 10_000 // count + 1):
                    get(url, f"/zones/{zone}/dns_records?per_page={count}&page={page}")
                found[f"list of 10,000 records, pages of {count} (s)"] = [time.perf_counter() - started]
    return {title: round(statistics.median(values), 2) for title, values in found.items()}


if __name__ == "__main__":
    loopback.enforce()
    result = measure()
    if "--json" in sys.argv:
        print(json.dumps(result, indent=2))
    else:
        for title, value in result.items():
            print(f"  {value:>9,.2f}  {title}")
