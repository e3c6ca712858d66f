"""What runs of the program cost, in counts that are the same on every machine; seconds are for `make bench`.

A change that makes one of these grow makes every deployment slower: say why in the commit that writes them anew.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.deployments import spans
from bench.deployments.cases import Case
from bench.deployments.commands import run
from bench.deployments.sides import LIKE, WHOLE, Pulumi
from bench.deployments.stage import Stage, count, served
from tools.setup.toolchain import Toolchain

CALLS = {
    "like": {"first deploy": (2, 3), "no-op": (0, 0), "one line of code": (2, 1), "image by reference": (4, 1)},
    "whole": {"first deploy": (5, 18), "no-op": (3, 0), "one line of code": (5, 1), "image by reference": (7, 1)},
}
"""Reads and writes of the API."""
PLUGINS = {"like": ["cloudflare-sandbox"], "whole": ["cloudflare", "cloudflare-sandbox"]}
REGISTERED = {"like": 6, "whole": 23}


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with served(tmp_path / "cloud") as staged:
        staged.clear(0)
        yield staged


@pytest.mark.parametrize(("name", "settings"), [("like", LIKE), ("whole", WHOLE)])
def test_calls_plugins_and_processes(
    name: str, settings: dict[str, object], stage: Stage, tools_provided: Toolchain, tmp_path: Path
):
    side = Pulumi(tmp_path / name, tools_provided, stage, settings)
    found = {}
    for case in (Case.FIRST, Case.NOTHING, Case.CODE, Case.IMAGE):
        side.prepare(case, 1)
        stage.cloud.clear_journal()
        for command in side.commands(case):
            run(command)
        calls = count(stage.journal())
        found[str(case)] = (calls.reads, calls.writes)
    assert found == CALLS[name]

    stage.cloud.clear_journal()
    run(side.command("preview", "--expect-no-changes"))
    assert count(stage.journal()).writes == 0

    trace = tmp_path / "trace.json"
    run(side.command("up", "--yes", "--skip-preview", "--expect-no-changes", "--otel-traces", trace.as_uri()))
    seen = spans.read(trace)
    started = Counter(each.labels["prefix"] for each in seen if each.name == "newPlugin")
    hosts = {prefix: number for prefix, number in started.items() if not prefix.endswith("(resource)")}
    assert sum(hosts.values()) == 2  # one tells the engine about Python, one runs the program
    assert {prefix: number for prefix, number in started.items() if prefix not in hosts} == {
        f"{plugin} (resource)": 1 for plugin in PLUGINS[name]
    }
    registered = [each for each in seen if each.name == "pulumirpc.ResourceMonitor/RegisterResource"]
    assert len(registered) == REGISTERED[name]
    side.project.succeed("destroy", "--yes", "--skip-preview")
