"""Taking a local stack down: what is deleted, and what never is."""

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from components.testing import Stack
from components.testing import stack as of_tests
from tools.errors import SetupError
from tools.local import commands, deploy, emulator, engine, inputs, projects
from tools.local.engine import Engine
from tools.local.stack import CHECKOUT, LocalStack
from tools.setup import install

FILES = {"type": "cloudflare:index/r2Bucket:R2Bucket", "outputs": {"name": "files", "jurisdiction": "default"}}
BACKUPS = {"type": "cloudflare:index/r2Bucket:R2Bucket", "outputs": {"name": "backups", "jurisdiction": "eu"}}
EMPTY = {"type": "cloudflare:index/r2Bucket:R2Bucket", "outputs": {"name": "empty"}}
UNFINISHED = {"type": "cloudflare:index/r2Bucket:R2Bucket"}
OTHER = {"type": "cloudflare:index/queue:Queue", "outputs": {"name": "files-queue"}}


class Cloud:
    def __init__(self) -> None:
        self.emptied: list[tuple[str, str]] = []

    def empty(self, bucket: str, jurisdiction: str) -> int:
        self.emptied.append((bucket, jurisdiction))
        return {"files": 1, "backups": 12, "empty": 0}[bucket]


def emptied(monkeypatch: pytest.MonkeyPatch, *resources: dict[str, Any]) -> list[tuple[str, str]]:
    exported = json.dumps({"version": 3, "deployment": {"resources": resources} if resources else None})
    monkeypatch.setattr(Engine, "run", lambda *_, **__: CompletedProcess([], 0, exported, ""))
    cloud: Any = Cloud()
    deploy._empty_buckets(CHECKOUT, Engine.__new__(Engine), cloud, sys.stdout)
    return cloud.emptied


def test_every_bucket_of_the_stack_is_emptied_and_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert emptied(monkeypatch, FILES, OTHER, BACKUPS, UNFINISHED, EMPTY) == [
        ("files", "default"),
        ("backups", "eu"),
        ("empty", "default"),
    ]
    assert capsys.readouterr().out == (
        "Deleted 1 object in the bucket files.\nDeleted 12 objects in the bucket backups.\n"
    )


def test_nothing_is_deleted_where_anything_is_protected(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(SetupError) as caught:
        emptied(monkeypatch, FILES, {**OTHER, "protect": True}, BACKUPS)
    assert str(caught.value) == (
        "the local stack was not destroyed: it is a lasting one: 1 of its resources are protected. "
        "Set environment to throw-away in Pulumi.local.yaml, run `make up`, then `make down`"
    )


def test_a_worker_of_ones_own_has_no_smoke_test():
    assert inputs.has_own_worker({"worker": {"entry": "a.ts"}})
    assert not inputs.has_own_worker({"name": "x"})
    assert not inputs.has_own_worker({})


def test_a_stack_that_never_came_up_has_no_buckets(monkeypatch: pytest.MonkeyPatch):
    assert emptied(monkeypatch) == []


class Machine:
    """Stands for engine and emulator: states go when they are removed, and what is stopped is noted."""

    def __init__(self, stack: LocalStack) -> None:
        self.stack = stack
        self.stopped = 0

    def run(self, *arguments: str, **_: Any) -> CompletedProcess[str]:
        if arguments[:2] == ("stack", "rm"):
            state(replace(self.stack, name=arguments[-1])).unlink()
        return CompletedProcess([], 0, "{}", "")

    def show(self, *_: str, **__: Any) -> int:
        return 0

    def stop(self, *_: Any) -> None:
        self.stopped += 1


def state(stack: LocalStack) -> Path:
    return stack.backend / "stacks" / stack.project_name / f"{stack.name}.json"


def stack_that_is_up(stack: LocalStack) -> LocalStack:
    for path in (state(stack), stack.settings_copy, stack.taken, stack.report, stack.record):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    return stack


@pytest.fixture
def two(tmp_path: Path) -> tuple[LocalStack, LocalStack]:
    (tmp_path / "Pulumi.yaml").write_text("name: demo\nruntime: python\n")
    one = projects.stack_of(tmp_path, name="one")
    projects.make_folder(one)
    return stack_that_is_up(one), stack_that_is_up(replace(one, name="two"))


@pytest.fixture
def machine(two: tuple[LocalStack, LocalStack], monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(two[0])
    monkeypatch.setattr(install, "ensure", lambda: None)
    monkeypatch.setattr(engine, "isolated", lambda *_, **__: made)
    monkeypatch.setattr(emulator, "start", lambda *_: emulator.Emulated("", "", ""))
    monkeypatch.setattr(emulator, "stop", made.stop)
    return made


def test_a_stack_goes_alone_and_the_emulator_with_the_last(two: tuple[LocalStack, LocalStack], machine: Machine):
    one, other = two
    out = io.StringIO()
    assert deploy.down(one, out)
    assert (one.known(), machine.stopped) == (["demo/two"], 0)
    assert out.getvalue() == "The emulator goes on for demo/two, with its state in .sandbox-local/state.\n"
    assert [path.exists() for path in (one.settings_copy, one.taken, one.report)] == [False] * 3
    assert [path.exists() for path in (other.settings_copy, other.taken, other.report)] == [True] * 3
    assert deploy.down(other, out)
    assert machine.stopped == 1


def test_a_stack_that_is_not_up_takes_nothing_of_the_others_along(two: tuple[LocalStack, LocalStack], machine: Machine):
    argv = ["down", "--project", str(two[0].project), "--stack", "typo", "--format", "json"]
    assert commands.main(argv) == 0
    assert (machine.stopped, two[0].report.exists(), two[1].report.exists()) == (0, True, True)


def test_the_same_stack_of_another_project_has_settings_of_its_own(two: tuple[LocalStack, LocalStack]):
    theirs = replace(two[0], name="other")
    assert {theirs.settings_copy, theirs.taken, theirs.report}.isdisjoint(
        {two[0].settings_copy, two[0].taken, two[0].report}
    )


def test_the_emulator_of_a_session_of_tests_outlives_its_stacks(
    two: tuple[LocalStack, LocalStack], machine: Machine, monkeypatch: pytest.MonkeyPatch
):
    def program(action: str, folder: Path, project: Path, *options: str) -> CompletedProcess[str]:
        argv = [action, f"--project={project}", f"--folder={folder}", "--format=json", *options]
        return CompletedProcess(argv, commands.main(argv), "", "")

    monkeypatch.setattr(of_tests, "program", program)
    stand_in: Any = type("Emulator", (), {"folder": two[0].folder})
    for stack in two:
        Stack(stand_in, stack.project, stack.name).down()
    assert (two[0].known(), machine.stopped, two[0].folder.exists()) == ([], 0, True)


def test_the_log_of_one_of_several_workers_is_asked_for_as_the_command_takes_it(
    two: tuple[LocalStack, LocalStack], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(emulator, "running", lambda _: emulator.Emulated("", "", ""))
    monkeypatch.setattr(emulator.Emulated, "control", lambda *_: [])
    two[0].report.write_text('{"workers": {"a": "", "b": ""}}')
    assert commands.main(["logs", "--project", str(two[0].project), "--stack", "one"]) == 2
    told = capsys.readouterr().err
    assert "there are a, b. Name a Worker: " in told
    assert told.endswith(" local logs --worker NAME\n")
