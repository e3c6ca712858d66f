"""The Worker's capabilities and patterns hold on real sandboxes: the SDK's class, the engine, the server.

The suite itself is in `worker_src/test/real/`; what it runs on is made by `tests/worker_src/stage.py`. Some of it moves
64 MiB at a time, which takes minutes on a busy machine.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from bench.sandboxes import ephemeral
from testbed.worker_sources import WorkerSources
from tests.worker_src import stage
from tools.setup.toolchain import Toolchain

pytestmark = [pytest.mark.workerd, pytest.mark.timeout(700)]


def _passed(worker: WorkerSources, deployed: stage.Stage, *only: str, local_buckets: bool = False) -> int:
    arguments = ("node_modules/vitest/vitest.mjs", "run", "--config", "vitest.real.config.ts", *only)
    env = {**deployed.environment(), "SANDBOX_TEST_LOCAL_BUCKETS": str(local_buckets).lower()}
    done = worker.run(*arguments, env=env, ok=False)
    passed = re.search(r"Tests +(\d+) passed(?: \| (\d+) skipped)? \((\d+)\)", done.stdout)
    assert passed, f"{done.stdout}\n{done.stderr}"
    # Some hold where R2 is reached, others where files are copied through bindings.
    assert int(passed[1]) + int(passed[2] or 0) == int(passed[3])
    return int(passed[1])


@pytest.mark.long
def test_suite(worker_sources: WorkerSources, tools_provided: Toolchain, tmp_path: Path) -> None:
    with stage.deployed(tools_provided, tmp_path) as deployed:
        assert _passed(worker_sources, deployed) > 60


@pytest.mark.long
@pytest.mark.parametrize("transport", ["websocket", "rpc"])
def test_sandboxes_sleep_and_copy_files_over_the_other_transports_too(
    worker_sources: WorkerSources, tools_provided: Toolchain, tmp_path: Path, transport: str
) -> None:
    variables = {"SANDBOX_TRANSPORT": transport, "LOCAL_BUCKETS": "true"}
    with stage.deployed(tools_provided, tmp_path, variables) as deployed:
        only = ("sleep.test.ts", "storage.test.ts") if transport == "rpc" else ("sleep.test.ts",)
        assert _passed(worker_sources, deployed, *only, local_buckets=True) > 5


@pytest.mark.long
@pytest.mark.parametrize("transport", ["rpc", "http"])
def test_one_shot_runs_leave_nothing_behind(tools_provided: Toolchain, tmp_path: Path, transport: str) -> None:
    """The short form of `make ephemeral`."""
    result = ephemeral.run(tools_provided, tmp_path, runs=15, seed=7, transport=transport)
    assert result.faults() == []
    assert sum(result.answers.values()) == 15


def test_one_shot_runs_that_leave_something_say_so() -> None:
    result = ephemeral.Result(Counter({"200": 1, "left": 1, "500 oops": 2}), left={"sandboxes": ["a"], "files": []})
    assert result.faults() == ["answered 2 times: 500 oops", "left behind, sandboxes: a"]
