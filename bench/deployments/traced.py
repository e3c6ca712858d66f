"""Runs of our program that are looked into: the trace of the engine, the calls of the API and the processes of each."""

from dataclasses import dataclass
from pathlib import Path

from bench.deployments import spans, waterfall
from bench.deployments.cases import Case
from bench.deployments.commands import run
from bench.deployments.processes import Lives
from bench.deployments.rounds import say
from bench.deployments.sides import Pulumi
from bench.deployments.stage import Stage
from bench.deployments.waterfall import Bar

PLUGIN, BRIDGED = "cloudflare-sandbox", "cloudflare"


@dataclass(frozen=True)
class Traced:
    """One run, looked into."""

    seconds: float
    program_start: float
    plugins: dict[str, float]
    """Seconds until each plugin served."""
    bars: list[Bar]


def up(stage: Stage, side: Pulumi, case: Case, number: int, folder: Path) -> Traced:
    """Run a case of `pulumi up` and look into it."""
    side.prepare(case, number)
    stage.cloud.clear_journal()
    trace, lives = folder / f"trace-{case}-{number}.json".replace(" ", "-"), Lives()
    command = side.command("up", "--yes", "--skip-preview", "--otel-traces", trace.as_uri())
    done = run(command, lives)
    found = spans.read(trace)
    bars = waterfall.bars(found, stage.journal(), lives.of("esbuild"), done.began, done.ended)
    plugins = {name: waterfall.plugin_start(found, name) for name in (PLUGIN, BRIDGED)}
    say(f"trace, {case}", done.seconds)
    return Traced(
        done.seconds,
        waterfall.program_start(found),
        {name: seconds for name, seconds in plugins.items() if seconds is not None},
        bars,
    )


def middle(runs: list[Traced]) -> Traced:
    """Return the run that took as long as the median; of an even number the quicker one."""
    return sorted(runs, key=lambda each: each.seconds)[(len(runs) - 1) // 2]
