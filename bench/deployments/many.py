"""Many sandboxes: one program that makes them all in one `pulumi up`, against as many wrangler deploys in a row."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.deployments.cases import Case
from bench.deployments.commands import run
from bench.deployments.rounds import commands_of, say
from bench.deployments.sides import LIKE, Pulumi, WranglerProject
from bench.deployments.stage import Stage
from testbed.wrangler.cli import Wrangler
from tools.setup.toolchain import Toolchain

CASES = (Case.FIRST, Case.NOTHING)
UNSAVED = "PULUMI_SKIP_CHECKPOINTS"
_PROGRAM = '''"""Deploys as many sandbox stacks as the configuration says."""

import os

import pulumi

import components

components.fast_start()

config = pulumi.Config()
document = {**config.require_object("settings"), "account_id": os.environ["CLOUDFLARE_ACCOUNT_ID"]}
for number in range(1, config.require_int("sandboxes") + 1):
    settings = components.SandboxSettings.parse({**document, "name": f"box{number}"})
    components.SandboxStack(settings.name, settings)
'''


class ManyStacks(Pulumi):
    """One program with many stacks."""

    def __init__(self, folder: Path, tools: Toolchain, stage: Stage, count: int) -> None:
        super().__init__(folder, tools, stage, LIKE)
        (folder / "__main__.py").write_text(_PROGRAM)
        self._count = count

    def configure(self, image: str, **config: Any) -> None:
        super().configure(image, sandboxes=self._count, **config)

    def forget(self) -> None:
        """Begin anew, in an account that has been cleared."""
        self.project.succeed("stack", "rm", "--yes", "--force", "--preserve-config")
        self.project.succeed("stack", "init", "test")


def unsaved(folder: Path, tools: Toolchain, stage: Stage, count: int, *, latency_ms: int) -> float:
    """Time a first deploy in which the engine saves its state only at the end."""
    ours = ManyStacks(folder, tools, stage, count)
    stage.clear(latency_ms)
    ours.prepare(Case.FIRST, 1)
    command = ours.command("up", "--yes", "--skip-preview")
    seconds = run(replace(command, env={**command.env, UNSAVED: "true"})).seconds
    say(f"{count} sandboxes, first deploy, pulumi, {UNSAVED}", seconds)
    return round(seconds, 3)


def timed(  # noqa: PLR0913 - what both sides are made of
    folder: Path, tools: Toolchain, wrangler: Wrangler, stage: Stage, count: int, *, rounds: int, latency_ms: int
) -> dict[str, dict[str, list[float]]]:
    """Time first deploy and no-op of so many sandboxes on both sides."""
    ours = ManyStacks(folder / "pulumi", tools, stage, count)
    theirs = [
        WranglerProject(folder / f"wrangler-{number}", wrangler, stage, f"box{number}") for number in range(count)
    ]
    found: dict[str, dict[str, list[float]]] = {case: {"pulumi": [], "wrangler": []} for case in CASES}
    for number in range(1, rounds + 1):
        stage.clear(latency_ms)
        ours.forget()
        for case in CASES:
            for name, sides in (("pulumi", [ours]), ("wrangler", theirs)):
                for side in sides:
                    side.prepare(case, number)
                seconds = commands_of(sides, case)
                found[case][name].append(round(seconds, 3))
                say(f"{count} sandboxes, round {number} of {rounds}, {case}, {name}", seconds)
    return found
