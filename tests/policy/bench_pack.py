"""What the policy pack adds to a preview: `python -m tests.policy.bench_pack [resources] [runs]` prints a table.

A program of that many resources, all of types that rules look at, is previewed on the real engine and the emulator with
and without the pack, in turn. The pack's process is watched for the CPU it used; its memory is the largest seen.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from emulator.testing import running
from tools import engine, toolchain
from tools.paths import ROOT, VENV

PACK = ROOT / "policy"
PROGRAM = """
import sys
sys.path.insert(0, {root!r})
from components import bridged
for index in range({count} // 2):
    bucket = bridged.R2Bucket(f"bucket-{{index}}", account_id={account!r}, name=f"bucket-{{index}}")
    bridged.R2ManagedDomain(f"closed-{{index}}", account_id={account!r}, bucket_name=bucket.name, enabled=False)
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


def _preview(pulumi: engine.Engine, folder: Path, *options: str) -> tuple[float, Usage]:
    watch = Watch()
    watch.start()
    started = time.monotonic()
    done = pulumi.run("preview", *options, cwd=folder)
    wall = time.monotonic() - started
    watch.over.set()
    watch.join()
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return wall, watch.usage


def main(count: int, runs: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as scratch, running(Path(scratch) / "cloud") as emulator:
        folder = Path(scratch) / "project"
        folder.mkdir()
        account = {"CLOUDFLARE_API_TOKEN": emulator.token, "CLOUDFLARE_BASE_URL": emulator.url}
        pulumi = engine.isolated(toolchain.load(), Path(scratch) / "world", extra=account)
        program = PROGRAM.format(root=str(ROOT), count=count, account=emulator.account_id)
        (folder / "__main__.py").write_text(program)
        (folder / "Pulumi.yaml").write_text(f"name: many\nruntime: {{name: python, options: {{virtualenv: {VENV}}}}}\n")
        if pulumi.run("stack", "init", "test", cwd=folder).returncode:
            raise SystemExit("there is no stack to measure")
        _preview(pulumi, folder)  # fills caches of files
        without, with_pack, used = [], [], []
        for _ in range(runs):
            without.append(_preview(pulumi, folder)[0])
            wall, usage = _preview(pulumi, folder, "--policy-pack", str(PACK))
            with_pack.append(wall)
            used.append(usage)
    added = statistics.median(with_pack) - statistics.median(without)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    print(f"{count} resources, median of {runs} runs each, commit {commit.stdout.strip()}")
    print(f"| preview without the pack | {statistics.median(without):.2f} s ({min(without):.2f}-{max(without):.2f}) |")
    print(
        f"| preview with the pack | {statistics.median(with_pack):.2f} s ({min(with_pack):.2f}-{max(with_pack):.2f}) |"
    )
    print(f"| the pack adds | {added:.2f} s |")
    print(f"| CPU of the pack's process | {statistics.median(each.cpu_seconds for each in used):.2f} s |")
    print(f"| memory of the pack's process | {max(each.memory_mib for each in used):.0f} MiB |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500, int(sys.argv[2]) if len(sys.argv) > 2 else 5)
