"""Runs work in sandboxes of its own under random limits, departures and kills, and prints what was left behind.

`make ephemeral` makes 500 runs; the suite has a short form. Time limits begin at 10 ms, far below a cold start; clients
leave at any moment; now and then a sandbox is killed from outside. Afterwards there must be no sandbox, no entry in KV
but the count of those ended, and no file, mount or group of a sandbox. A seed repeats the same choices.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import secrets
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.sandboxes.stage import Stage, deployed
from bench.verdict import verdict
from testbed import loopback
from testbed.emulator import traces
from tools.setup import toolchain
from tools.setup.toolchain import Toolchain

_AT_ONCE = 4
_SHORTEST, _LONGEST = 10, 4000  # ms
_COMMANDS = ("true", "echo kept > /workspace/file", "sleep 0.3", "sleep 60", "exit 3")
_LEAVES, _KILL_EVERY = 0.3, (0.5, 3.0)
_ANSWERS = {200, 502, 503, 504}  # done; killed at its start, or later; out of time
_PATIENCE, _QUIET = 120.0, 6.0  # seconds: until nothing is there, and for how long there must be nothing
_SERVER = b"/container-server/sandbox"
_COUNTS = "ended/"  # entries in KV that say what was ended; they expire


@dataclass(frozen=True)
class Run:
    """One request, and when its client leaves; None for one that stays."""

    path: str
    body: dict[str, Any]
    leaves: float | None


@dataclass
class Result:
    """What happened."""

    answers: Counter[str] = field(default_factory=Counter)
    killed: int = 0
    ended: dict[str, int] = field(default_factory=dict)
    left: dict[str, list[str]] = field(default_factory=dict)
    seconds: float = 0.0

    def faults(self) -> list[str]:
        """Say what must not be."""
        expected = {"left", *map(str, _ANSWERS)}
        odd = [f"answered {count} times: {answer}" for answer, count in self.answers.items() if answer not in expected]
        return odd + [f"left behind, {what}: {', '.join(found[:5])}" for what, found in self.left.items() if found]


def choose(chance: random.Random) -> Run:
    """Any run."""
    limit = round(_SHORTEST * (_LONGEST / _SHORTEST) ** chance.random())
    leaves = chance.uniform(0, 1.5) if chance.random() < _LEAVES else None
    task = {"command": chance.choice(_COMMANDS), "timeout_ms": limit}
    path = chance.choice(("/v1/run", "/v1/run", "/v1/run/stream", "/v1/run/code", "/v1/parallel"))
    if path == "/v1/run/code":
        code = {"code": "console.log(1)", "language": "javascript", "timeout_ms": limit}
        return Run(path, code, leaves)
    if path == "/v1/parallel":
        tasks = {"tasks": [task, task], "isolation": chance.choice(("sessions", "sandboxes"))}
        return Run(path, tasks, leaves)
    return Run(path, task, leaves)


def run(tools: Toolchain, folder: Path, runs: int, seed: int, transport: str = "") -> Result:
    """Make the runs on an emulator of their own."""
    variables = {"SANDBOX_TRANSPORT": transport} if transport else {}
    state = folder / "state"
    with deployed(tools, state, instance_type="standard-1", max_instances=100, variables=variables) as stage:
        before = traces.of(state, stage.pid)
        began = time.monotonic()
        result = asyncio.run(_storm(stage, runs, random.Random(seed)))  # noqa: S311 - to be repeated, not to be secret
        result.seconds = time.monotonic() - began
        result.left = _wait(stage, state, before)
        answer = stage.api.get(f"{stage.origin}/v1/status", headers=stage.headers)
        result.ended = answer.json()["ended"]
    return result


async def _storm(stage: Stage, runs: int, chance: random.Random) -> Result:
    result = Result()
    waiting = iter([choose(chance) for _ in range(runs)])

    async def client() -> None:
        for each in waiting:
            result.answers[await _make(stage, each)] += 1

    killer = asyncio.create_task(_kill_now_and_then(stage.pid, chance, result))
    await asyncio.gather(*(client() for _ in range(_AT_ONCE)))
    killer.cancel()
    return result


async def _make(stage: Stage, each: Run) -> str:
    """The status of the answer, or that the client left."""
    place = urlsplit(stage.origin)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    body = json.dumps(each.body).encode()
    headers = {**stage.headers, "content-type": "application/json", "connection": "close"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"POST {each.path} HTTP/1.1\r\n{lines}content-length: {len(body)}\r\n\r\n".encode() + body)
    try:
        answer = await asyncio.wait_for(reader.read(), each.leaves)
    except TimeoutError:
        return "left"
    finally:
        writer.close()
    head, _, content = answer.partition(b"\r\n\r\n")
    status = head.split()[1].decode()
    return status if int(status) in _ANSWERS else f"{status} {content[:200].decode()}"


async def _kill_now_and_then(emulator: int, chance: random.Random, result: Result) -> None:
    """End some sandbox's first process, as a machine that is out of memory would."""
    while True:
        await asyncio.sleep(chance.uniform(*_KILL_EVERY))
        servers = [pid for pid in traces.of(Path(), emulator).processes if _is_server(pid)]
        if servers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(sorted(servers)), signal.SIGKILL)
                result.killed += 1


def _is_server(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0] == _SERVER
    except OSError:
        return False


def _wait(stage: Stage, state: Path, before: traces.Traces) -> dict[str, list[str]]:
    """What is left when all has had its time; a sandbox that comes back later must be seen, too."""
    end = time.monotonic() + _PATIENCE
    clear_since = None
    while time.monotonic() < end:
        left = _left(stage, state, before)
        if any(left.values()):
            clear_since = None
        elif clear_since is None:
            clear_since = time.monotonic()
        elif time.monotonic() - clear_since > _QUIET:
            break
        time.sleep(0.5)
    return left


def _left(stage: Stage, state: Path, before: traces.Traces) -> dict[str, list[str]]:
    base = f"/accounts/{stage.account}"
    path = f"{base}/containers/applications/{stage.application}/instances"
    instances = stage.api.get(path, params={"state": "active"}).json()["result"]["instances"]
    keys = stage.api.get(f"{base}/storage/kv/namespaces/{stage.store}/keys").json()["result"]
    now = traces.of(state, stage.pid)
    return {
        "sandboxes": [each["id"] for each in instances],
        "entries in KV": [each["name"] for each in keys if not each["name"].startswith(_COUNTS)],
        "files": sorted(now.disks - before.disks),
        "mounts": sorted(now.mounts - before.mounts),
        "groups": sorted(now.groups - before.groups),
    }


def main() -> int:
    """Print a table and what must not be; 1 when anything was left."""
    parser = argparse.ArgumentParser(prog="python -m bench.sandboxes.ephemeral", description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    parser.add_argument("--transport", choices=("rpc", "http", "websocket"), default="")
    options = parser.parse_args()
    print(f"{options.runs} runs, --seed {options.seed}")
    with tempfile.TemporaryDirectory(prefix="ephemeral-") as folder:
        result = run(toolchain.load(), Path(folder), options.runs, options.seed, options.transport)
    print(f"{result.seconds:.0f} s, {result.killed} sandboxes killed from outside")
    for title, counts in (("answers", result.answers), ("ended by themselves", result.ended)):
        print(f"{title}: " + ", ".join(f"{count} {name}" for name, count in sorted(counts.items())))
    print("left behind: " + ", ".join(f"{len(found)} {what}" for what, found in result.left.items()))
    return verdict(result.faults())


if __name__ == "__main__":
    loopback.enforce()
    sys.exit(main())
