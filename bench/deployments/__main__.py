"""`make bench`: pulumi and wrangler side by side on one emulator, for some minutes.

Afterwards docs/bench.json has what was measured, and the tables and pictures of docs/performance.md are made from it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.deployments import many, page, rounds, stage, traced, waterfall
from bench.deployments.cases import Case, Name
from bench.deployments.sides import LIKE, WHOLE, Pulumi, Side, WranglerProject
from bench.deployments.stage import Stage
from testbed import loopback
from testbed.wrangler.cli import Wrangler, install
from tools import interrupt
from tools.local import bridged
from tools.paths import ROOT
from tools.setup import toolchain
from tools.setup.toolchain import Toolchain

_LATENCY_MS = 20
_TRACES = 3
_ROUNDS_OF_FEW = 3
_FEW = 10


def main() -> int:
    """Measure, write and print."""
    arguments = _arguments()
    if not sys.platform.startswith("linux"):
        return _refuse("processes are watched as Linux shows them; run `make bench` on Linux")
    interrupt.treat_termination_as_interrupt()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bench-") as name, stage.served(Path(name) / "emulator") as on:
        found = _measured(Path(name), on, arguments)
    found["about"]["minutes"] = round((time.monotonic() - began) / 60, 1)
    page.FIGURES.write_text(json.dumps(found, indent=1) + "\n")
    for path, text in page.wanted().items():
        path.write_text(text)
    print(page.text(found))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.deployments", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often every case is timed")
    parser.add_argument("--sandboxes", type=int, nargs="*", default=[1, 10, 50], help="how many in one program")
    return parser.parse_args()


def _refuse(why: str) -> int:
    print(why, file=sys.stderr)
    return 1


def _measured(folder: Path, on: Stage, arguments: argparse.Namespace) -> dict[str, Any]:
    tools = toolchain.load()
    home = folder / "home"
    home.mkdir()
    program = install(tools.node) / "node_modules" / "wrangler"
    about = _about(arguments, program, tools)
    wrangler = Wrangler(tools.node, program / "bin" / "wrangler.js", on.served, home)
    ours: dict[str, Pulumi] = {
        Name.LIKE: Pulumi(folder / "like", tools, on, LIKE),
        Name.WHOLE: Pulumi(folder / "whole", tools, on, WHOLE),
    }
    sides: dict[str, Side] = {**ours, Name.WRANGLER: WranglerProject(folder / "wrangler", wrangler, on, "bench")}
    on.clear(_LATENCY_MS)
    rounds.warm_up(sides)
    cases = rounds.timed(on, sides, arguments.rounds, f"{_LATENCY_MS} ms")
    looked_into = {name: _looked_into(on, side, folder) for name, side in ours.items()}
    on.clear(0)
    without = rounds.timed(on, sides, 1, "0 ms", watched=True)
    counts = {
        str(count): many.timed(
            folder / f"many-{count}",
            tools,
            wrangler,
            on,
            count,
            rounds=min(arguments.rounds, _ROUNDS_OF_FEW) if count < _FEW else 1,
            latency_ms=_LATENCY_MS,
        )
        for count in arguments.sandboxes
    }
    most = max(arguments.sandboxes)
    unsaved = many.unsaved(folder / "unsaved", tools, on, most, latency_ms=_LATENCY_MS)
    return {
        "about": about,
        "cases": cases,
        "cases_without_latency": without,
        "sandboxes": counts,
        "unsaved": {"sandboxes": most, "seconds": unsaved},
        "looked_into": looked_into,
    }


def _looked_into(on: Stage, side: Pulumi, folder: Path) -> dict[str, Any]:
    """Deploy, look into some no-ops and one change of code, destroy."""
    rounds.one(on, side, Case.FIRST, 0)
    runs = [traced.up(on, side, Case.NOTHING, number, folder) for number in range(_TRACES)]
    changed = traced.up(on, side, Case.CODE, 1, folder)
    resources = _resources(side)
    rounds.one(on, side, Case.DESTROY, 0)
    return {
        "resources": resources,
        "program_start": [round(each.program_start, 3) for each in runs],
        "plugins": {
            name: [round(each.plugins[name], 3) for each in runs]
            for name in (traced.PLUGIN, traced.BRIDGED)
            if name in runs[0].plugins
        },
        "waterfalls": {
            Case.NOTHING: waterfall.document(traced.middle(runs).bars),
            Case.CODE: waterfall.document(changed.bars),
        },
    }


def _resources(side: Pulumi) -> int:
    """Count what the stack has in the account; components and providers are not there."""
    state = json.loads(side.project.succeed("stack", "export"))
    listed = state["deployment"]["resources"]
    return sum(each["custom"] and not each["type"].startswith("pulumi:providers:") for each in listed)


def _about(arguments: argparse.Namespace, wrangler: Path, tools: Toolchain) -> dict[str, Any]:
    git = ["git", "-C", str(ROOT)]
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD"], check=False).returncode
    plugin = "the stand-in" if bridged.is_stand_in(bridged.plugin(Path.home())) else bridged.version()
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _said(*git, "rev-parse", "--short=10", "HEAD") + (" with changes" if changed else ""),
        "cores": os.cpu_count(),
        "latency_ms": _LATENCY_MS,
        "rounds": arguments.rounds,
        "versions": {
            "pulumi": _said(tools.engine / "pulumi", "version").removeprefix("v"),
            "wrangler": json.loads((wrangler / "package.json").read_text())["version"],
            "Python": ".".join(map(str, sys.version_info[:3])),
            "Node": _said(tools.node / "node", "--version").removeprefix("v"),
            "plugin for Cloudflare": plugin,
        },
    }


def _said(*argv: str | Path) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    loopback.enforce()
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
