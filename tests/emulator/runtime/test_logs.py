"""The command `logs` against the emulator: what a Worker logs and throws, until it is interrupted."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from testbed.emulator.runtime_stage import Stage
from tests.emulator.runtime.test_tails import deploy
from tools.paths import ROOT

pytestmark = pytest.mark.workerd


def environment(stage: Stage) -> dict[str, str]:
    return {
        **os.environ,
        "CLOUDFLARE_ACCOUNT_ID": stage.account,
        "CLOUDFLARE_API_TOKEN": stage.emulator.token,
        "CLOUDFLARE_BASE_URL": stage.emulator.url,
    }


@contextmanager
def following(stage: Stage, *options: str, end: signal.Signals | None = signal.SIGINT) -> Iterator[Iterator[str]]:
    """Run the command until the block ends; give the lines it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", "components", "logs", "app", *options],
        cwd=ROOT,
        env=environment(stage),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        assert process.stderr
        assert process.stderr.readline() == "Listening to app; Ctrl-C ends it.\n"
        yield process.stdout
        if end:
            process.send_signal(end)
        assert (process.wait(60), process.stderr.read()) == (0, "")
    finally:
        process.kill()
        process.wait()
    assert not stage.emulator.state.runtime.tails.wanted((stage.account, "app"))
    assert stage.raw.refusal("GET", f"{stage.uploads.base}/scripts/app/tails")[0] == 404, "the tail was left"


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_lines_for_people(end: signal.Signals, stage: Stage):
    deploy(stage, "one")
    with following(stage, end=end) as printed:
        stage.ask("/first", headers={"authorization": "Bearer hidden"})
        assert re.fullmatch(r"\d{4}-\S+Z ok GET http://\S+/first 200\n", next(printed))
        assert next(printed) == '  log: one {"path": "/first"}\n'
        stage.ask("/broken")
        assert re.fullmatch(r"\S+ exception GET http://\S+/broken( 500)?\n", next(printed))
        assert next(printed) == '  log: one {"path": "/broken"}\n'
        assert next(printed) == "  TypeError: it broke\n"


def test_one_event_on_each_line_across_a_deployment(stage: Stage):
    deploy(stage, "one")
    with following(stage, "--format", "json") as printed:
        stage.ask("/before")
        assert json.loads(next(printed))["logs"][0]["message"] == ["one", {"path": "/before"}]
        deploy(stage, "two")
        stage.ask("/after")
        assert json.loads(next(printed))["logs"][0]["message"] == ["two", {"path": "/after"}]


def test_a_reader_that_goes_away_ends_it(stage: Stage):
    deploy(stage, "one")
    with following(stage, "--format", "json", end=None) as printed:
        stage.ask("/first")
        next(printed)
        printed.close()  # type: ignore[attr-defined]
        stage.ask("/second")
