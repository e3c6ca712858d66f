"""Measures a preview of the local stack and where its time goes: the table of docs/performance.md.

Parts are measured by taking them away: the engine alone with a program that does nothing, the imports in a bare Python,
a plugin by the time it takes to say its port. They overlap when the engine runs them side by side.
"""

import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from emulator.testing import running
from testbed import loopback
from testbed.cloud import Cloud, copy_of_the_program
from testbed.project import Project
from tools.local import bases, bridged, engine
from tools.local.emulator import Emulated
from tools.paths import ROOT, venv_python
from tools.setup import toolchain

_RUNS = 5
_IMPORTS = {
    "Python itself": "pass",
    "`import pulumi`": "import pulumi",
    "… and the components": "import components.stack",
    "… and docker-build": "import components.stack, pulumi_docker_build",
    "all of `pulumi_cloudflare`, for comparison": "import pulumi, pulumi_cloudflare",
}


def main() -> None:
    """Print the tables."""
    tools = toolchain.load()
    with tempfile.TemporaryDirectory() as name, running(Path(name) / "emulator") as served:
        folder, cloud = Path(name), Cloud(served)
        reference = bases.seed_empty(Emulated(served.url, served.account_id, served.token))
        pulumi = engine.isolated(tools, folder / "engine", extra=cloud.env)
        whole, empty = _program(folder / "whole", pulumi, reference), _empty(folder / "empty", pulumi)
        whole.up()
        cloud.calls()
        preview = _seconds(lambda: whole.succeed("preview"))
        calls = len(cloud.calls()) / _RUNS
        rows = {
            f"`pulumi preview` of {_resources(whole)} resources, nothing changed": preview,
            "`pulumi preview` of an empty program": _seconds(lambda: empty.succeed("preview")),
            "our plugin, until it serves": _seconds(lambda: _start(ROOT / "components/provider/bin")),
            "the stand-in for the bridged plugin, until it serves": _seconds(lambda: _start(bridged.STAND_IN.parent)),
        }
    print("| | Median | Least | Most |\n|---|---|---|---|")
    for title, seconds in rows.items():
        print(f"| {title} | {_three(seconds)} |")
    for title, code in _IMPORTS.items():
        seconds = [_processor_seconds(code) for _ in range(_RUNS)]
        print(f"| {title} (processor) | {_three(seconds)} |")
    print(f"\nRequests to the API in one such preview: {calls:g}.")


def _resources(project: Project) -> int:
    listed = json.loads(project.succeed("stack", "export"))["deployment"]["resources"]
    return sum(not each["type"].startswith("pulumi:providers:") for each in listed)


def _three(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.2f} s | {min(seconds):.2f} s | {max(seconds):.2f} s"


def _processor_seconds(code: str) -> float:
    """Measure what a bare Python computes: what else the machine does must not count."""
    clock = f"{code}; import time; print(time.process_time())"
    done = subprocess.run([venv_python(), "-c", clock], cwd=ROOT, check=True, capture_output=True, text=True)
    return float(done.stdout)


def _seconds(run: Callable[[], object]) -> list[float]:
    found = []
    for _ in range(_RUNS):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return found


def _program(folder: Path, pulumi: engine.Engine, reference: str) -> Project:
    copy_of_the_program(folder)
    project = Project(folder, pulumi)
    project.succeed("stack", "init", "test")
    stack = folder / "Pulumi.test.yaml"
    settings = {
        "environment": "throw-away",
        "image": {"reference": reference},
        "domain": {"hostname": "sandbox.localhost"},
    }
    written = {**yaml.safe_load(stack.read_text()), "config": {"sandbox-stack:settings": settings}}
    stack.write_text(yaml.safe_dump(written))
    return project


def _empty(folder: Path, pulumi: engine.Engine) -> Project:
    folder.mkdir()
    (folder / "__main__.py").write_text("")
    runtime = f"runtime: {{name: python, options: {{virtualenv: {ROOT / '.venv'}}}}}"
    (folder / "Pulumi.yaml").write_text(f"name: empty\n{runtime}\n")
    project = Project(folder, pulumi)
    project.succeed("stack", "init", "test")
    return project


def _start(folder: Path) -> None:
    program = next(path for path in folder.iterdir() if path.name.startswith("pulumi-resource-"))
    process = subprocess.Popen([program], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.terminate()
    process.wait()


if __name__ == "__main__":
    loopback.enforce()
    main()
