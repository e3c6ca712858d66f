"""Runs of our program that are looked into: the trace of the engine, the calls of the API and the processes of each."""

from dataclasses import dataclass
from pathlib import Path

from tests.bench import spans, waterfall
from tests.bench.cases import Case
from tests.bench.commands import run
from tests.bench.processes import Lives
from tests.bench.rounds import say
from tests.bench.sides import Pulumi
from tests.bench.stage import Stage
from tests.bench.waterfall import Bar

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
    stage.forget_calls()
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
    """Give the run that took as long as the median; of an even number the quicker one."""
    return sorted(runs, key=lambda each: each.seconds)[(len(runs) - 1) // 2]
