"""The fault sweep on the real engine: `make sweep`. Every request of every phase, every fault; then writes the table.

Each point begins with an empty account and a new stack, disturbs one phase from one request on, and lets the next run
repair it. Several points run side by side, each against an emulator of its own.
"""

import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.faults.sweep import FAULTS, TAKEN_BACK, created_twice, made_by_hand
from bench.faults.table import FILE, KILLED, table
from emulator.testing import running
from testbed import loopback
from testbed.plugin.account import Cloud, Worker
from testbed.plugin.deployment import SECRET, Deployment, plugin_processes, write_project
from testbed.project import Project
from tools.local import engine
from tools.setup import toolchain

WORKERS = 3
PHASES = ("up", "update", "destroy", "replace", "adopt", "revert")
QUICK = {"retry-after-ms": "1"}


@dataclass
class Bench:
    """An account, an engine and a project of their own."""

    cloud: Cloud
    deployment: Deployment
    folder: Path

    def renew(self) -> None:
        self.cloud.emptied()
        self.deployment = fresh_deployment(self.folder, self.cloud)


def fresh_deployment(folder: Path, cloud: Cloud) -> Deployment:
    scratch = Path(tempfile.mkdtemp(dir=folder))
    write_project(scratch / "small")
    project = Project(scratch / "small", engine.isolated(toolchain.load(), scratch / "engine"))
    project.succeed("stack", "init", "test")
    return Deployment(project, cloud)


@contextmanager
def bench() -> Iterator[Bench]:
    folder = Path(tempfile.mkdtemp(prefix="sweep-"))
    try:
        with running(folder / "cloud") as emulator:
            cloud = Cloud(emulator).emptied()
            yield Bench(cloud, fresh_deployment(folder, cloud), folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def before(place: Bench, phase: str) -> None:
    """Deploy what the phase begins with, and write what it brings."""
    it = place.deployment
    if phase == "adopt":
        made_by_hand(Worker(it.project.folder, place.cloud))
        it.adopting()
        return
    if phase == "revert":
        it.pair()
    if phase != "up":
        it.project.up()
    if phase in ("update", "destroy"):
        it.second()
    if phase == "destroy":
        it.project.up()
    if phase == "replace":
        it.replaced()
    if phase == "revert":
        it.pair("changed", 1)
        it.fail_rollout("revert")


def act(place: Bench, phase: str) -> tuple[bool, str]:
    command = "destroy" if phase == "destroy" else "up"
    done = place.deployment.project.run(command, "--yes", "--skip-preview", timeout=300)
    return done.returncode == 0, done.stdout + done.stderr


def repair(place: Bench, phase: str) -> tuple[bool, str]:
    """Run the same again, with an image that starts."""
    if phase == "revert":
        place.deployment.fail_rollout(None)
    return act(place, phase)


def clean(place: Bench, phase: str) -> tuple[list[str], Any]:
    """Requests of an undisturbed run, and what exists in the end."""
    before(place, phase)
    place.cloud.clear()
    good, text = act(place, phase)
    assert good is (phase != "revert"), text
    calls = place.cloud.calls()
    if phase == "revert":
        assert TAKEN_BACK in text, text
        good, text = repair(place, phase)
        assert good, text
    return calls, place.cloud.picture()


def disturb(place: Bench, fault: str, nth: int) -> threading.Thread | None:
    if fault != KILLED:
        rule = next(each.rule for each in FAULTS if each.name == fault)
        headers = {} if "drop" in rule else {"headers": QUICK}
        place.cloud.fault(**{**headers, **rule}, nth=nth, times=0)
        return None
    place.cloud.fault(nth=nth, times=1, delay_ms=1000)
    rule_in_force = place.cloud.emulator.state.faults.all()[-1]

    def watch() -> None:
        until = time.monotonic() + 60
        while not rule_in_force.acted and time.monotonic() < until:
            time.sleep(0.005)
        for pid in plugin_processes(place.cloud):
            os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def point(place: Bench, phase: str, fault: str, nth: int, wanted: Any) -> str:
    """Disturb one request; give what came of it, or fail."""
    place.renew()
    before(place, phase)
    place.cloud.clear()
    watcher = disturb(place, fault, nth)
    good, text = act(place, phase)
    if watcher:
        watcher.join()
    place.cloud.clear_faults()
    if good:
        return "WENT WELL ALTHOUGH DISTURBED"
    repaired, later = repair(place, phase)
    problems = [] if repaired else [f"the next run failed: {later[-1500:]}"]
    problems += leaks(place.cloud.token, {"first run": text, "next run": later, "state": place.deployment.state()})
    if repaired and place.cloud.picture() != wanted:
        problems.append(f"differs: {place.cloud.picture()}")
    if repaired:
        problems += created_twice(place.cloud)
    return "; ".join(problems) or "repaired"


def leaks(token: str, texts: Mapping[str, str]) -> list[str]:
    """Say which texts have the token or the value of the secret binding in them."""
    hidden = {"token": token, "secret": SECRET}
    return [f"the {what} is in the {name}" for name, text in texts.items() for what in hidden if hidden[what] in text]


def main() -> int:
    """Run all points, or those of the phases that are named, and write their rows of the table."""
    faults = [fault.name.removesuffix(", and on") for fault in FAULTS if fault.lasting] + [KILLED]
    local = threading.local()
    with bench() as place:
        phases = {}
        for phase in sys.argv[1:] or PHASES:
            phases[phase] = clean(place, phase)
            place.renew()
    jobs = [(p, f, n) for p, (calls, _) in phases.items() for n in range(1, len(calls) + 1) for f in faults]
    results: dict[tuple[str, str, int], str] = {}
    benches: list[Any] = []

    def run(job: tuple[str, str, int]) -> None:
        if not hasattr(local, "bench"):
            opened = bench()
            local.bench = opened.__enter__()
            benches.append(opened)
        phase, fault, nth = job
        results[job] = point(local.bench, phase, fault, nth, phases[phase][1])
        mark = "" if results[job] == "repaired" else f"  <-- {results[job]}"
        print(f"{len(results):4} of {len(jobs)}  {phase}, request {nth}, {fault}{mark}", flush=True)

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(run, jobs))
    for opened in benches:
        opened.__exit__(None, None, None)
    wrong = {job: result for job, result in results.items() if result != "repaired"}
    if not wrong:
        made = {phase: calls for phase, (calls, _) in phases.items()}
        FILE.write_text(table(made, results, faults, FILE.read_text(), PHASES))
    print(f"{len(results)} points, {len(wrong)} not repaired")
    return 1 if wrong else 0


if __name__ == "__main__":
    loopback.enforce()
    sys.exit(main())
