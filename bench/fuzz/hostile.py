"""Has sandboxes answer the Worker with whatever a seed says, and prints what came of it.

`make hostile` provokes 20,000 such answers; the suite has a short form. The Worker runs in workerd with the SDK's own
class, and the ports of its containers are sockets of this machine, on which every answer is made up: its content, its
framing, its size, its pace (`worker_src/test/hostile`). The Worker's time passes faster, so that its limits can be
waited for. A seed repeats the same choices.
"""

import argparse
import json
import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.verdict import verdict
from testbed import loopback
from testbed.worker_sources import WorkerSources, install
from tools.setup import toolchain

_SHARES = (("http", 0.9), ("websocket", 0.05), ("rpc", 0.05))
_MOST_MEMORY = 3 * 2**29  # bytes that workerd may have, with twelve calls under way
_PATIENCE = 120  # seconds beyond the given ones for calls that are under way


@dataclass(frozen=True)
class Result:
    """What one run over one transport has shown."""

    transport: str
    wanted: int
    told: dict[str, Any]

    def faults(self) -> list[str]:
        """Say what must not be."""
        found = [f"{self.transport}: {fault}" for fault in self.told["faults"]]
        if self.told["answers"] < self.wanted:
            found.append(f"{self.transport}: only {self.told['answers']} of {self.wanted} answers in time")
        if self.told["others"] < 2:
            found.append(f"{self.transport}: another tenant's sandbox was hardly asked")
        if self.told["memory"]["most"] > _MOST_MEMORY:
            found.append(f"{self.transport}: workerd had {_mib(self.told['memory']['most'])}")
        return found


def run(worker: WorkerSources, answers: int, seed: int, transport: str, seconds: int) -> Result:
    """Provoke so many hostile answers over a transport, in so many seconds at most."""
    options = {"answers": answers, "seed": seed, "transport": transport, "seconds": seconds}
    given = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    done = worker.run("test/hostile/main.ts", *given, patience=seconds + _PATIENCE)
    return Result(transport, answers, json.loads(done.stdout))


def _mib(size: int) -> str:
    return f"{size / 2**20:.0f} MiB"


def _print(result: Result) -> None:
    told = result.told
    memory = told["memory"]
    print(f"{result.transport}: {told['answers']} hostile answers to {told['calls']} calls in {told['seconds']:.0f} s")
    print(f"  slowest call: {told['slowest']}; another tenant's sandbox was asked {told['others']} times")
    print(f"  memory of workerd: {_mib(memory['first'])}, at most {_mib(memory['most'])}")
    for title in ("kinds", "statuses"):
        print(f"  {title}: " + ", ".join(f"{count} {name}" for name, count in told[title].items()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what happened and what must not; 1 when anything did."""
    parser = argparse.ArgumentParser(prog="python -m bench.fuzz.hostile", description=__doc__)
    parser.add_argument("--answers", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    parser.add_argument("--seconds", type=int, default=1800, help="most that each transport may take")
    options = parser.parse_args(arguments)
    print(f"{options.answers} answers, --seed {options.seed}")
    worker = install(toolchain.load().node)
    faults = []
    for transport, share in _SHARES:
        result = run(worker, int(options.answers * share), options.seed, transport, options.seconds)
        _print(result)
        faults += result.faults()
    return verdict(faults)


if __name__ == "__main__":
    loopback.enforce()
    sys.exit(main())
