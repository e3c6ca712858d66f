"""What it costs that new code waits for its images: first deploys of the stack with an image built, both ways in turn.

`python -m bench.deployments.order` prints the seconds of five rounds after one that warms the builder's cache.
"""

import statistics
import tempfile
import time
from pathlib import Path

from emulator.testing import running
from testbed import loopback
from testbed.cloud import Cloud, Program, copy_of_the_program
from testbed.project import Project
from tools.local import bases, builder, engine
from tools.local.emulator import Emulated
from tools.setup import toolchain

ROUNDS = 5
SMALL = {"environment": "throw-away", "container": {"instance_type": "standard-1", "max_instances": 5}}


def first_deploys(folder: Path) -> dict[bool, list[float]]:
    """Seconds of each first deploy, by whether the Worker waits; one of each before them is not counted."""
    tools = toolchain.load()
    with running(folder / "emulator") as served:
        cloud = Cloud(served)
        base = bases.chosen(tools, Emulated(served.url, served.account_id, served.token))
        copy_of_the_program(folder / "checkout")
        pulumi = engine.isolated(tools, folder / "engine", extra=cloud.env)
        project = Project(folder / "checkout", pulumi)
        project.succeed("stack", "init", "test")
        host = served.origin.removeprefix("http://")
        with builder.serving(tools, host, Path(pulumi.env["DOCKER_CONFIG"]), mirror=base.mirror) as serving:
            program = Program(project, cloud, serving.name)
            seen: dict[bool, list[float]] = {True: [], False: []}
            for _ in range(ROUNDS + 1):
                for waits, seconds in seen.items():
                    seconds.append(_deployed(program, waits=waits))
    return {waits: seconds[1:] for waits, seconds in seen.items()}


def _deployed(program: Program, *, waits: bool) -> float:
    program.settings({**SMALL, "worker": {"waits_for_images": waits}})
    begun = time.monotonic()
    program.up()
    seconds = time.monotonic() - begun
    program.destroy()
    return seconds


def main() -> None:
    """Print what was seen."""
    with tempfile.TemporaryDirectory() as folder:
        seen = first_deploys(Path(folder))
    for waits, seconds in seen.items():
        name = "waits for its image" if waits else "is uploaded meanwhile"
        spread = f"({min(seconds):.2f} to {max(seconds):.2f})"
        print(f"the Worker {name}: {statistics.median(seconds):.2f} s {spread}")
    print(f"{statistics.median(seen[True]) / statistics.median(seen[False]):.2f} times as long")


if __name__ == "__main__":
    loopback.enforce()
    main()
