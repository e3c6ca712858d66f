"""Interrupts runs of the real engine at random and compares what `sandbox-stack orphans` finds with what there is.

`make orphans` interrupts 100 runs of `up` and `destroy`; the suite has a short form. Each is killed while it waits for
the answer to some request, which was or was not done. Now and then a stack is forgotten with all it has. What the
command finds is compared with what the emulator's store has and no checkpoint speaks of; what it deletes with that too,
and it is killed itself on the way. Things of others are there all the time and stay as they are. A seed repeats the
same choices.
"""

import argparse
import json
import random
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.verdict import verdict
from emulator.settings import Account
from emulator.testing import running
from testbed import loopback
from testbed.account import EmulatedAccount
from testbed.emulator.workers_upload import parts
from testbed.interrupted import ZONE, Stacks, orphaned, stored
from testbed.orphans import eventually, processes_with, seconds_until_gone
from tools.local import engine
from tools.paths import ROOT
from tools.setup import toolchain
from tools.setup.toolchain import Toolchain

_STACKS = ("one", "two")
_FORGETS, _COMPARES, _CLEANS, _CLEANING_KILLED = 0.08, 0.15, 0.12, 0.4
_LATEST_REQUEST = 80
"""Early ones are likelier: a run with little to do has few requests."""
_EARLY_REQUEST = 30
_HELD_MS = 400
_COMMAND = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); from components.cli import main; sys.exit(main(sys.argv[1:]))"
)


@dataclass
class Trial:
    """Stacks that are interrupted, in an account that others use too."""

    stacks: Stacks
    random: random.Random
    latest: int = _LATEST_REQUEST
    living: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.others = plant(self.cloud)
        for name in _STACKS:
            self.begin(name)

    @property
    def cloud(self) -> EmulatedAccount:
        return self.stacks.cloud

    def begin(self, stack: str) -> None:
        self.stacks.project.succeed("stack", "init", stack)
        self.living.append(stack)

    def interrupt(self) -> bool:
        """Begin a run and kill it at some request; whether it was still under way."""
        stack, action = self.random.choice(self.living), self.random.choice(("up", "up", "up", "destroy"))
        self.stacks.write(stack, f"v{self.random.randrange(4)}", **self._settings())
        nth, after = 1 + int(self.latest * self.random.random() ** 2), self.random.random() < 0.5
        self.cloud.clear_journal()
        self.cloud.fault(nth=nth, times=1, delay_ms=_HELD_MS, after=after)
        rule = self.cloud.emulator.state.faults.all()[-1]
        with self.stacks.project.started(action, "--yes", "--skip-preview", "--stack", stack) as process:
            while not rule.acted and process.poll() is None:
                time.sleep(0.005)
            killed = process.poll() is None
            process.kill()
        self.settle(killed=killed)
        if killed:
            self.counts["checkpoints mended"] += self.stacks.mend(stack)
            self.stacks.project.succeed("cancel", "--yes", "--stack", stack)
        self.counts[f"{action} {'interrupted' if killed else 'ended'}"] += 1
        if self.random.random() < _FORGETS:
            self.forget(stack)
        return killed

    def settle(self, *, killed: bool) -> None:
        """Wait until nothing of a killed run is left, and what was held is dealt with."""
        seconds_until_gone(lambda: processes_with(self.cloud.url))
        if killed:
            assert eventually(lambda: any(each["fault"] for each in self.cloud.journal()))
        self.cloud.control("DELETE", "/faults")

    def _settings(self) -> dict[str, Any]:
        choices: tuple[dict[str, Any], ...] = ({}, {}, {"domain": None, "access": {}}, {"access": {}}, {"storage": {}})
        return self.random.choice(choices)

    def forget(self, stack: str) -> None:
        """Let the backend know nothing of a stack any more; its file stays in the project."""
        self.stacks.project.succeed("stack", "rm", stack, "--force", "--yes", "--preserve-config")
        self.living.remove(stack)
        self.gone.append(stack)
        self.counts["stacks forgotten"] += 1
        self.begin(f"next{len(self.gone)}")

    def truth(self) -> set[str]:
        return orphaned(self.cloud, [self.stacks.checkpoint(each) for each in self.living]) - self.others.keys()

    def compare(self, what: str) -> set[str]:
        """Compare what is found with what there is."""
        found = {each["id"] for each in self.orphans()["found"]}
        truth = self.truth()
        self.counts["comparisons"] += 1
        self.counts["orphans seen"] += len(truth)
        if found != truth:
            more, less = sorted(found - truth), sorted(truth - found)
            self.faults.append(f"{what}: found though it is not orphaned: {more}; orphaned and not found: {less}")
        return truth

    def orphans(self, *arguments: str) -> dict[str, Any]:
        done = subprocess.run(
            self._command(*arguments), env=dict(self.stacks.pulumi.env), capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, 1), done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def _command(self, *arguments: str) -> list[str]:
        gone = [part for stack in self.gone for part in ("--gone", stack)]
        folder = str(self.stacks.folder)
        return [sys.executable, "-c", _COMMAND, "orphans", "--project", folder, *gone, "--format", "json", *arguments]

    def clean(self) -> None:
        """Delete what is orphaned, perhaps killed on the way; nothing else may change."""
        truth = self.compare("before deleting")
        if not truth:
            return
        before = {name: body for name, body in stored(self.cloud).items() if name not in truth}
        listed = self.stacks.folder.parent / "listed"
        listed.write_text("\n".join(sorted(truth)))
        arguments = ("--delete-listed", str(listed), "--yes", "--with-data")
        if self.random.random() < _CLEANING_KILLED:
            self._kill_at_work(arguments)
        answer = self.orphans(*arguments)
        self.counts["deleted"] += len(truth)
        if left := self.truth():
            self.faults.append(f"left after deleting: {sorted(left)}; {answer['kept']}")
        after = stored(self.cloud)
        if changed := sorted(name for name, body in before.items() if after.get(name) != body):
            self.faults.append(f"touched although living or of others: {changed}")

    def _kill_at_work(self, arguments: tuple[str, ...]) -> None:
        nth = self.random.randint(20, 200)
        self.cloud.clear_journal()
        self.cloud.fault(nth=nth, times=1, delay_ms=_HELD_MS, after=self.random.random() < 0.5)
        rule = self.cloud.emulator.state.faults.all()[-1]
        silent = subprocess.DEVNULL
        with subprocess.Popen(
            self._command(*arguments), env=dict(self.stacks.pulumi.env), stdout=silent, stderr=silent
        ) as process:
            while not rule.acted and process.poll() is None:
                time.sleep(0.005)
            killed = process.poll() is None
            process.kill()
        self.counts["deletions interrupted"] += killed
        self.settle(killed=killed)

    def end(self) -> None:
        """Clean, and see that what lives is whole: it deploys, knows of no change, and goes."""
        self.clean()
        for stack in self.living:
            self.stacks.write(stack, "end")
            done = self.stacks.project.run("up", "--yes", "--skip-preview", "--stack", stack)
            if done.returncode:
                self.faults.append(f"the living stack {stack} does not deploy any more: {done.stdout[-3000:]}")
            else:
                self.stacks.project.succeed("preview", "--expect-no-changes", "--stack", stack)
        self.clean()
        for stack in self.living:
            self.stacks.project.run("destroy", "--yes", "--skip-preview", "--stack", stack)
        self.clean()
        if left := stored(self.cloud).keys() - self.others.keys():
            self.faults.append(f"left in the end: {sorted(left)}")


def plant(cloud: EmulatedAccount) -> dict[str, dict[str, Any]]:
    """Make what others have: by hand, by another tool, and by a stack of a project that is not asked about."""
    (zone,) = cloud.call("GET", f"/zones?name={ZONE}")
    cloud.api("POST", "/r2/buckets", json={"name": "crates-one-photos"})
    cloud.api("POST", "/r2/buckets", json={"name": "other-dev-files"})
    cloud.api("POST", "/storage/kv/namespaces", json={"title": "crates-conversations"})
    bucket = {"name": "FILES", "type": "r2_bucket", "bucket_name": "other-dev-files"}
    tagged = parts({"bindings": [bucket], "tags": ["pulumi:stack:other/dev"]})
    cloud.api("PUT", "/workers/scripts/other-dev", files=tagged)
    cloud.api("PUT", "/workers/scripts/crates-one-by-hand", files=parts({}))
    records = f"/zones/{zone['id']}/dns_records"
    for host, comment in ((f"shop.{ZONE}", None), (f"other.{ZONE}", "Sandbox stack other-dev")):
        body = {"type": "AAAA", "name": host, "content": "100::", "proxied": True, "ttl": 1, "comment": comment}
        cloud.call("POST", records, json=body)
        route = {"pattern": f"{host}/*", "script": "other-dev" if comment else "crates-one-by-hand"}
        cloud.call("POST", f"/zones/{zone['id']}/workers/routes", json=route)
    cloud.call("POST", records, json={"type": "A", "name": f"www.{ZONE}", "content": "192.0.2.1", "ttl": 300})
    cloud.api("POST", "/access/service_tokens", json={"name": "crates-deploy-robot", "duration": "8760h"})
    return stored(cloud)


def trial(tools: Toolchain, folder: Path, seed: int, interruptions: int, *, short: bool = False) -> Trial:
    """Interrupt so many runs, early in the short form, which deploys nothing in the end; what came of it."""
    with running(folder / "cloud", accounts=(Account(zones=(ZONE,)),)) as emulator:
        cloud = EmulatedAccount(emulator)
        pulumi = engine.isolated(tools, folder / "engine", extra=cloud.env)
        latest = _EARLY_REQUEST if short else _LATEST_REQUEST
        made = Trial(Stacks(folder / "crates", pulumi, cloud), random.Random(seed), latest)  # noqa: S311 - choices to repeat
        done = told = 0
        while done < interruptions:
            done += made.interrupt()
            chance = made.random.random()
            if chance < _CLEANS:
                made.clean()
            elif chance < _CLEANS + _COMPARES:
                made.compare(f"after interruption {done}")
            for fault in made.faults[told:]:
                print(fault, file=sys.stderr, flush=True)
            told = len(made.faults)
            so_far = ", ".join(f"{count} {name}" for name, count in sorted(made.counts.items()))
            print(f"{done} of {interruptions}: {so_far}, {len(made.faults)} differences", file=sys.stderr, flush=True)
        if short:
            made.clean()
        else:
            made.end()
        cloud.http.close()
    return made


def main() -> int:
    """Run and print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interruptions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="orphans-") as folder:
        made = trial(toolchain.load(), Path(folder), arguments.seed, arguments.interruptions)
    for name, count in sorted(made.counts.items()):
        print(f"{name:24}{count:6}")
    print(f"{'seconds':24}{time.monotonic() - begun:6.0f}")
    print(f"{'differences':24}{len(made.faults):6}")
    return verdict(made.faults)


if __name__ == "__main__":
    loopback.enforce()
    sys.exit(main())
