"""How Workers start: ahead of their first request, again after what can pass, and never in an endless loop."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from emulator.runtime.workerd import groups, process
from emulator.testing import running
from testbed.emulator.control import Control
from testbed.emulator.runtime_stage import PACKAGES, Stage
from testbed.loopback import registries
from tools.paths import ROOT
from tools.setup import toolchain

pytestmark = pytest.mark.workerd

PLAIN = "export default { fetch() { return new Response('well') } };"
NO_NPM = "#!/bin/sh\necho 'npm error network is unreachable' >&2\nexit 1\n"


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_deployment_starts_its_process_before_anybody_asks(stage: Stage):
    stage.deploy()
    until(lambda: stage.status()["state"] == "running")
    pid = stage.status()["pid"]
    assert stage.ask("/count/a").text == "1"
    assert stage.status()["pid"] == pid


def test_without_npm_nothing_starts_by_itself(tmp_path: Path):
    with running(tmp_path / "state", packages=PACKAGES) as emulator:
        stage = Stage(Control(emulator))
        stage.uploads.put("app", PLAIN)
        assert stage.status()["state"] == "idle"


def test_what_cannot_be_configured_fails_once_and_says_so(stage: Stage, capfd: pytest.CaptureFixture[str]):
    """This key is no base64: putting it into the configuration raises."""
    wrong = {"type": "secret_key", "name": "KEY", "format": "pkcs8", "usages": ["sign"], "key_base64": "hunter2hunter"}
    stage.uploads.put("app", PLAIN, bindings=[{**wrong, "algorithm": {"name": "RSA-PSS"}}])
    answer = stage.ask("/", timeout=5)
    reason = "the emulator cannot run it (Error); its own log says where"
    expected = f"error code: 1101\n\nThe Worker app does not start: {reason}\n"
    assert (answer.status_code, answer.text) == (500, expected)
    shown = capfd.readouterr().err
    assert shown.count("Traceback") == 1
    assert "hunter2" not in shown
    stage.uploads.put("app", PLAIN, bindings=[{"type": "plain_text", "name": "KEY", "text": "none"}])
    assert stage.ask("/").text == "well"


def test_a_fetch_that_failed_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(groups, "_AGAIN", 0.5)
    node = tmp_path / "node"
    node.mkdir()
    (node / "npm").write_text(NO_NPM)
    (node / "npm").chmod(0o755)
    with registries(), running(tmp_path / "state", packages=tmp_path / "packages", node=node) as emulator:
        stage = Stage(Control(emulator))
        stage.uploads.put("app", PLAIN, compatibility_date="2026-10-01")
        answer = stage.ask("/")
        assert answer.status_code == 503
        assert answer.text.endswith(": npm error network is unreachable\n")
        real = toolchain.load().node
        (node / "npm").write_text(f'#!/bin/sh\nPATH="{real}:$PATH" exec "{real}/npm" "$@"\n')
        until(lambda: stage.ask("/").status_code == 200)
        assert stage.status()["restarts"] == 0


def test_a_start_that_took_too_long_is_tried_again(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(groups, "_AGAIN", 0.5)
    monkeypatch.setattr(process, "_PATIENCE", 0.001)
    stage.uploads.put("app", PLAIN, compatibility_date="2026-10-01")
    answer = stage.ask("/")
    expected = "error code: 1101\n\nThe Worker app does not start: workerd does not listen after 0.001 seconds\n"
    assert (answer.status_code, answer.text) == (500, expected)
    monkeypatch.undo()
    until(lambda: stage.ask("/").status_code == 200)


def _fetch(folder: Path, node: Path) -> "subprocess.CompletedProcess[str]":
    argv = [sys.executable, "-m", "emulator", "fetch", "--packages", str(folder), "--node", str(node)]
    return subprocess.run(
        argv, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "HOME": str(folder.parent)}
    )


def test_the_end_of_the_emulator_is_that_of_a_fetch(tmp_path: Path):
    node = tmp_path / "node"
    node.mkdir()
    (node / "npm").write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nsleep 60 & wait\n")
    (node / "npm").chmod(0o755)
    with running(tmp_path / "state", packages=tmp_path / "packages", node=node) as emulator:
        Stage(Control(emulator)).uploads.put("app", PLAIN)
        until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "")
        before = time.monotonic()
    assert time.monotonic() - before < 30
    pid = (tmp_path / "pid").read_text().strip()
    until(lambda: not Path(f"/proc/{pid}").exists())


def test_fetching_is_said_once_and_done_once(tmp_path: Path):
    node = tmp_path / "node"
    node.mkdir()
    made = "node_modules/@cloudflare/workerd-linux-64/bin"
    # Like npm, it fills the cache it is given, or that in the home.
    cache = 'for last; do :; done; [ "$last" = --no-fund ] && last=$HOME/.npm; mkdir -p "$last/_cacache"'
    (node / "npm").write_text(f"#!/bin/sh\n{cache}\nmkdir -p {made} && touch {made}/workerd\n")
    (node / "npm").chmod(0o755)
    first, second = _fetch(tmp_path / "packages", node), _fetch(tmp_path / "packages", node)
    line = "Fetching workerd, which runs Workers on this machine (npm, once).\n"
    assert (first.returncode, first.stdout, first.stderr) == (0, "", line)
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    assert list((tmp_path / "packages").rglob("_cacache")) == list(tmp_path.glob(".npm")) == []
    (node / "npm").write_text(NO_NPM)
    failed = _fetch(tmp_path / "others", node)
    assert failed.returncode == 1
    assert failed.stderr.startswith(f"{line}Cannot install the runtime that serves Workers: npm failed in ")
    assert failed.stderr.endswith(": npm error network is unreachable\n")
