"""Moves much through one sandbox and prints who needed how much memory for it: `python -m bench.sandboxes.large`.

A file up, the same file down, and as much of a command's output, first little and then 1 GiB of each: memory that does
not grow from one to the other is flat; garbage that is not collected yet comes and goes. What arrives is compared with
what was sent.
"""

import hashlib
import http.client
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from bench.sandboxes.stage import Stage, deployed
from testbed import loopback
from tools.paths import sdk_version
from tools.setup import toolchain

_TYPE = "standard-4"
_MIB = 1024 * 1024
_SIZES = (64 * _MIB, 1024 * _MIB)
_PATIENCE = 900  # seconds
_SANDBOX, _FILE = "/v1/sandboxes/large", "/files/content?path=/workspace/large.bin"
_LINE = b"0123456789abcdef" * 4 + b"\n"
_NAMES = {"python": "emulator", "workerd": "workerd", "sandbox": "server in the sandbox"}
"""Processes by the last part of what they run, and what they are called in the table."""


def main() -> int:
    """Run everything."""
    tools = toolchain.load()
    if tools.base_image is None or tools.containers is None:
        print("There is no base image or no engine of containers here; `make setup` says why.", file=sys.stderr)
        return 1
    rows = [("", "size", "speed", *(f"{name}: peak, after" for name in _NAMES.values()))]
    with (
        tempfile.TemporaryDirectory() as folder,
        deployed(tools, Path(folder), instance_type=_TYPE, max_instances=1) as stage,
    ):
        _asked(stage, "POST", f"{_SANDBOX}/exec", json.dumps({"command": "true"})).read()
        for size in _SIZES:
            rows += [_measured(stage, title, size, move) for title, move in _WAYS.items()]
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, instance type {_TYPE}, SDK {sdk_version()}\n")
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


def _measured(stage: Stage, title: str, size: int, move: Callable[[Stage, int], None]) -> tuple[str, ...]:
    processes = dict(_processes(stage.pid))
    for pid in processes.values():
        Path(f"/proc/{pid}/clear_refs").write_text("5")  # forget the peak so far
    began = time.monotonic()
    move(stage, size)
    speed = size / _MIB / (time.monotonic() - began)
    needed = (_needed(processes[name]) for name in _NAMES)
    return (title, f"{size // _MIB} MiB", f"{speed:.0f} MiB/s", *needed)


def _upload(stage: Stage, size: int) -> None:
    headers = {"content-length": str(size)}
    told = json.loads(_asked(stage, "PUT", f"{_SANDBOX}{_FILE}", _content(size), headers).read())
    _agree(told["size"], size)
    body = json.dumps({"command": "sha256sum < /workspace/large.bin", "timeout_ms": 300_000})
    shown = json.loads(_asked(stage, "POST", f"{_SANDBOX}/exec", body).read())
    _agree(shown["stdout"].split()[0], _digest(_content(size)))


def _download(stage: Stage, size: int) -> None:
    answer = _asked(stage, "GET", f"{_SANDBOX}{_FILE}")
    _agree(_digest(iter(lambda: answer.read(_MIB), b"")), _digest(_content(size)))


def _output(stage: Stage, size: int) -> None:
    lines = size // len(_LINE)
    body = json.dumps({"command": f"yes {_LINE.decode().strip()} | head -n {lines}", "timeout_ms": 600_000})
    answer = _asked(stage, "POST", f"{_SANDBOX}/exec/stream", body)
    _agree(_digest(_said(answer)), _digest(_LINE for _ in range(lines)))


_WAYS = {"file up": _upload, "file down": _download, "output of a command": _output}


def _said(answer: http.client.HTTPResponse) -> Iterator[bytes]:
    for line in answer:
        if line.startswith(b"data: "):
            yield json.loads(line[6:]).get("data", "").encode()


def _content(size: int) -> Iterator[bytes]:
    """Bytes that no part of the way can take for text, or for others of them."""
    for number in range(size // _MIB):
        yield hashlib.shake_128(number.to_bytes(8)).digest(_MIB)


def _digest(pieces: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def _agree(seen: object, expected: object) -> None:
    if seen != expected:
        raise SystemExit(f"{seen} arrived where {expected} was sent")


def _asked(
    stage: Stage, method: str, path: str, body: str | Iterator[bytes] | None = None, more: dict[str, str] | None = None
) -> http.client.HTTPResponse:
    place = urlsplit(stage.origin)
    connection = http.client.HTTPConnection(place.hostname or "", place.port or 0, timeout=_PATIENCE)
    kind = {"content-type": "application/json"} if isinstance(body, str) else {}
    connection.request(method, path, body, stage.headers | kind | (more or {}))
    answer = connection.getresponse()
    if answer.status != http.HTTPStatus.OK:
        raise SystemExit(f"{method} {path}: {answer.status} {answer.read().decode()}")
    return answer


def _processes(pid: int) -> Iterator[tuple[str, int]]:
    """The processes that are measured among this one and its offspring, by name."""
    program = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode().rpartition("/")[2]
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        yield from _processes(int(child))
    if program in _NAMES:
        yield program, pid


def _needed(pid: int) -> str:
    told = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    peak, after = (int(told[name].split()[0]) // 1024 for name in ("VmHWM", "VmRSS"))
    return f"{peak}, {after} MiB"


if __name__ == "__main__":
    loopback.enforce()
    sys.exit(main())
