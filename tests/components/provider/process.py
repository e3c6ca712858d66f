"""The plugin as a process of its own, as the engine starts it."""

import subprocess
import threading
import time
from pathlib import Path

import grpc

from testbed.plugin.account import Cloud
from testbed.plugin.driver import Plugin
from tools.paths import ROOT

EXECUTABLE = ROOT / "components/provider/bin/pulumi-resource-cloudflare-sandbox"


class Process:
    """A started plugin."""

    def __init__(self, cloud: Cloud, executable: Path = EXECUTABLE, cwd: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [executable, "127.0.0.1:1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd
        )
        assert self.process.stdout
        self.port = self.process.stdout.readline().strip()
        self.plugin = Plugin(f"127.0.0.1:{self.port}", {"apiToken": cloud.token, "baseUrl": cloud.url}).configured()

    def kill(self) -> str:
        """End it with SIGKILL, if it still runs; return what it wrote."""
        self.process.kill()
        self.plugin.channel.close()
        written, complaints = self.process.communicate(timeout=10)
        return written + complaints

    def memory(self) -> float:
        """Largest resident memory so far, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def kill_at(cloud: Cloud, process: Process, nth: int, *, after: bool) -> threading.Thread:
    """Kill the plugin while its n-th request is under way, before or after the work is done."""
    cloud.fault(nth=nth, times=1, delay_ms=400, after=after)
    rule = cloud.emulator.state.faults.all()[-1]

    def watch() -> None:
        until = time.monotonic() + 30
        while not rule.acted and time.monotonic() < until:
            time.sleep(0.002)
        if after:
            time.sleep(0.03)  # the rule counts when the request comes in; the work follows at once
        process.process.kill()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def was_killed(error: grpc.RpcError) -> bool:
    """Whether a call ended because the plugin is gone."""
    return error.code() == grpc.StatusCode.UNAVAILABLE
