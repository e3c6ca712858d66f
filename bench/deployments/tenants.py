"""One stack per tenant, many of them: all come up, one that is wrong and one whose upload is refused stop nobody.

`make tenants` deploys 100 through the library's helper, runs it again (which changes nothing), destroys them,
and prints how long that took and how much memory. The short form is in `tests/engine/test_tenants.py`.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.deployments.processes import Memory, Session
from bench.deployments.stage import Stage, served
from components.platform.sdk import SDK_VERSION
from testbed import loopback
from tools.local import engine
from tools.paths import ROOT
from tools.setup import toolchain
from tools.setup.toolchain import Toolchain

PROJECT = f"""\
name: customers
runtime: python
plugins:
  providers:
    - {{name: cloudflare-sandbox, path: {ROOT / "components/provider/bin"}}}
"""
WORKER = """\
export class Sandbox { async fetch() { return new Response("tenant"); } }
export default { async fetch(request, env) { return new Response("tenant"); } };
"""
PROGRAM = '''\
"""Brings the customers' stacks up or takes them down."""

import json
import os
import sys
from pathlib import Path

from components import Tenants

given = json.loads(sys.argv[2])
tenants = Tenants(
    given["base"],
    given["overrides"],
    folder=Path(__file__).parent,
    secrets=json.loads(os.environ.get("SECRETS", "{}")),
    parallel=given["parallel"],
    progress=lambda line: print(line, file=sys.stderr, flush=True),
)
outcomes = tenants.up(*given["names"]) if sys.argv[1] == "up" else tenants.destroy(*given["names"])
print(json.dumps({**outcomes.document(), "table": outcomes.table()}))
'''


@dataclass(frozen=True)
class Called:
    """What one call of the helper came to."""

    document: Mapping[str, Any]
    seconds: float
    peak_bytes: int

    @property
    def statuses(self) -> dict[str, str]:
        """How it went, by tenant."""
        return {each["tenant"]: each["status"] for each in self.document["tenants"]}

    def why(self, tenant: str) -> str:
        """Why a tenant is not as it should be."""
        return next(str(each["why"]) for each in self.document["tenants"] if each["tenant"] == tenant)


class Customers:
    """A platform's program for its customers, in a project and with an engine of its own."""

    def __init__(self, folder: Path, tools: Toolchain, stage: Stage, *, parallel: int = 4) -> None:
        self.folder, self.stage, self.parallel = folder / "customers", stage, parallel
        self.folder.mkdir(parents=True)
        (self.folder / "Pulumi.yaml").write_text(PROJECT)
        (self.folder / "worker.js").write_text(WORKER)
        (self.folder / "customers.py").write_text(PROGRAM)
        self.env = dict(engine.isolated(tools, folder / "engine", extra=stage.cloud.env).env)
        self.env["PYTHONPATH"] = str(ROOT)
        self.base = {
            "name": "customer",
            "environment": "throw-away",
            "sdk": {"version": SDK_VERSION},
            "image": {"reference": stage.images[0]},
            "storage": {role: {"enabled": False} for role in ("files", "backups", "artifacts", "conversations")},
            "worker": {"bundle": "worker.js", "schedules": [], "rate_limit": None},
            "container": {"max_instances": 2},
        }

    def start(self, command: str, overrides: Mapping[str, Any], *names: str) -> "subprocess.Popen[str]":
        """Start the program."""
        given = {"base": self.base, "overrides": overrides, "parallel": self.parallel, "names": names}
        argv = [sys.executable, str(self.folder / "customers.py"), command, json.dumps(given)]
        # Not in the project's folder: the program must not depend on where it is called.
        return subprocess.Popen(
            argv,
            cwd=self.folder.parent,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=(self.folder / "progress").open("w"),
            text=True,
            start_new_session=True,
        )

    @property
    def progress(self) -> str:
        """What the program has said about how it goes."""
        return (self.folder / "progress").read_text()

    def call(self, command: str, overrides: Mapping[str, Any], *names: str) -> Called:
        """Run the program to its end."""
        began, memory = time.monotonic(), Memory()
        with self.start(command, overrides, *names) as process:
            seen, printed = Session(process.pid), ""
            while not printed:
                memory.look(seen.living())
                with contextlib.suppress(subprocess.TimeoutExpired):
                    printed, _ = process.communicate(timeout=memory.every_seconds)
                if process.returncode:
                    raise RuntimeError(self.progress)
        return Called(json.loads(printed), time.monotonic() - began, memory.peak_bytes)


def refuse_upload(stage: Stage, tenant: str) -> None:
    """Let Cloudflare refuse the Worker of a tenant."""
    path = f"*/workers/scripts/customer-{tenant}"
    stage.cloud.fault(path=path, method="PUT", status=400, code=10021, message="the script is too large", times=0)


def proven(place: Customers, count: int) -> list[str]:
    """Deploy, change nothing, destroy; print what was measured and return what did not hold."""
    names = [f"t{number:03}" for number in range(1, count + 1)]
    wrong, refused = names[count // 3], names[count // 2]
    overrides: dict[str, Any] = {name: {} for name in names} | {wrong: {"container": {"max_instances": 0}}}
    refuse_upload(place.stage, refused)
    problems = []

    def expect(what: str, found: Any, wanted: Any) -> None:
        if found != wanted:
            problems.append(f"{what}: {found} instead of {wanted}")

    def say(what: str, called: Called) -> None:
        counts = ", ".join(f"{number} {status}" for status, number in Counter(called.statuses.values()).items())
        peak = called.peak_bytes / 2**20
        print(f"{what}: {called.seconds:.0f} s, {place.parallel} at a time, peak {peak:.0f} MiB: {counts}", flush=True)

    first = place.call("up", overrides)
    say("up", first)
    print(first.document["table"])
    expect("up", Counter(first.statuses.values()), {"changed": count - 2, "failed": 2})
    expect("why", first.why(wrong), "container.max_instances: should be greater than or equal to 1")
    expect("why", "the script is too large" in first.why(refused), True)
    again = place.call("up", overrides)
    say("up again", again)
    expect("up again", Counter(again.statuses.values()), {"unchanged": count - 2, "failed": 2})
    place.stage.cloud.control("DELETE", "/faults")
    mended = place.call("up", {**overrides, wrong: {}}, wrong, refused)
    say("the two that had failed", mended)
    expect("the two that had failed", Counter(mended.statuses.values()), {"changed": 2})
    expect("scripts", place.stage.cloud.deployed()["worker"], count)
    gone = place.call("destroy", overrides)
    say("destroy", gone)
    expect("destroy", Counter(gone.statuses.values()), {"gone": count})
    left = {kind: number for kind, number in place.stage.cloud.deployed().items() if not kind.startswith("image")}
    expect("left", left, {})
    return problems


def main() -> int:
    """Prove it with as many tenants as are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tenants", type=int, default=100)
    parser.add_argument("--parallel", type=int, default=4)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tenants-") as scratch, served(Path(scratch, "cloud")) as stage:
        stage.clear(0)
        problems = proven(Customers(Path(scratch), toolchain.load(), stage, parallel=given.parallel), given.tenants)
    print("\n".join(problems) or "held")
    return 1 if problems else 0


if __name__ == "__main__":
    loopback.enforce()
    sys.exit(main())
