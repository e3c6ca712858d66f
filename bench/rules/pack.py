"""What the policy pack adds to a preview: `python -m bench.rules.pack [resources] [runs]` prints a table.

A program of that many resources, all of types that rules look at, is previewed on the real engine and the emulator with
and without the pack, in turn. In a further run the pack's process is watched for the CPU and memory it used: watching
costs time of its own.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from emulator.testing import running
from testbed import loopback
from tools.local import engine
from tools.paths import ROOT, VENV
from tools.setup import toolchain

PACK = ROOT / "policy"
PROGRAM = """
import sys
sys.path.insert(0, {root!r})
from components import cloudflare
for index in range({count} // 2):
    bucket = cloudflare.R2Bucket(f"bucket-{{index}}", {{"account_id": {account!r}, "name": f"bucket-{{index}}"}})
    closed = {{"account_id": {account!r}, "bucket_name": bucket.name, "enabled": False}}
    cloudflare.R2ManagedDomain(f"closed-{{index}}", closed)
"""
_TICKS = os.sysconf("SC_CLK_TCK")


class Usage(NamedTuple):
    """What a process has used."""

    cpu_seconds: float
    memory_mib: float


class Watch(threading.Thread):
    """Follows the pack's process, which the engine starts and ends."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.over = threading.Event()
        self.usage = Usage(0.0, 0.0)

    def run(self) -> None:
        while not self.over.wait(0.02):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    if str(PACK).encode() in (process / "cmdline").read_bytes().split(b"\0")[1:3]:
                        self._look(process)
                except OSError:
                    continue  # it has ended

    def _look(self, process: Path) -> None:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
        cpu = (int(fields[11]) + int(fields[12])) / _TICKS
        memory = int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 2**20
        self.usage = Usage(max(cpu, self.usage.cpu_seconds), max(memory, self.usage.memory_mib))


class Run(NamedTuple):
    """One preview."""

    wall: float
    cpu: float
    """Of the engine, the program and all plugins together."""


def _watched(pulumi: engine.Engine, folder: Path) -> Usage:
    watch = Watch()
    watch.start()
    _preview(pulumi, folder, "--policy-pack", str(PACK))
    watch.over.set()
    watch.join()
    return watch.usage


def _preview(pulumi: engine.Engine, folder: Path, *options: str) -> Run:
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = pulumi.run("preview", *options, cwd=folder)
    wall = time.monotonic() - started
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(wall, cpu)


def main(count: int, runs: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as scratch, running(Path(scratch) / "cloud") as emulator:
        folder = Path(scratch) / "project"
        folder.mkdir()
        account = {"CLOUDFLARE_API_TOKEN": emulator.token, "CLOUDFLARE_BASE_URL": emulator.url}
        pulumi = engine.isolated(toolchain.load(), Path(scratch) / "engine", extra=account)
        program = PROGRAM.format(root=str(ROOT), count=count, account=emulator.account_id)
        (folder / "__main__.py").write_text(program)
        (folder / "Pulumi.yaml").write_text(f"name: many\nruntime: {{name: python, options: {{virtualenv: {VENV}}}}}\n")
        if pulumi.run("stack", "init", "test", cwd=folder).returncode:
            raise SystemExit("there is no stack to measure")
        _preview(pulumi, folder)  # fills caches of files
        without, with_pack = [], []
        for _ in range(runs):
            without.append(_preview(pulumi, folder))
            with_pack.append(_preview(pulumi, folder, "--policy-pack", str(PACK)))
        usage = _watched(pulumi, folder)
    _print(count, without, with_pack, usage)


def _print(count: int, without: list[Run], with_pack: list[Run], usage: Usage) -> None:
    head = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    print(
        f"{count} resources, median of {len(without)} runs each, {os.cpu_count()} cores, commit {head.stdout.strip()},"
    )
    print(f"load of the machine in the last minute {os.getloadavg()[0]:.1f}\n")
    walls = [[each.wall for each in runs] for runs in (without, with_pack)]
    for name, found in zip(("without", "with"), walls, strict=True):
        print(f"| preview {name} the pack | {statistics.median(found):.2f} s ({min(found):.2f} to {max(found):.2f}) |")
    print(f"| the pack adds | {statistics.median(walls[1]) - statistics.median(walls[0]):.2f} s |")
    cpus = [statistics.median(each.cpu for each in runs) for runs in (without, with_pack)]
    print(f"| CPU of all processes without and with it | {cpus[0]:.2f} s, {cpus[1]:.2f} s |")
    print(f"| CPU of the pack's process | {usage.cpu_seconds:.2f} s |")
    print(f"| memory of the pack's process | {usage.memory_mib:.0f} MiB |")


if __name__ == "__main__":
    loopback.enforce()
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500, int(sys.argv[2]) if len(sys.argv) > 2 else 5)
