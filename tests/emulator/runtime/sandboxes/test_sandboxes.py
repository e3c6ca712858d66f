"""How sandboxes end that the emulator itself fails, and what is kept of those that have ended; without an engine."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from emulator.engine.container import Container
from emulator.engine.images import Image
from emulator.runtime.egress.authority import Authority
from emulator.runtime.egress.endpoint import Endpoint
from emulator.runtime.sandboxes.sandbox import Key, Sandbox
from emulator.runtime.sandboxes.sandboxes import BROKEN, Sandboxes
from emulator.runtime.sandboxes.specification import FULL
from emulator.services.containers import instances
from testbed.emulator.containers_stage import Stage
from testbed.emulator.control import Control

pytestmark = pytest.mark.workerd


@pytest.fixture
def stage(raw: Control) -> Stage:
    return Stage(raw, raw.emulator)


def _sandboxes(stage: Stage) -> Sandboxes:
    endpoint = Endpoint(Path(), cast("Any", None))
    return Sandboxes(stage.raw.emulator.state, Authority(), endpoint, lambda _: None, lambda _, __: None)


def _key(stage: Stage) -> Key:
    return Key(stage.account, stage.namespace, "0" * 64)


def test_a_start_that_fails_in_the_emulator_itself_ends_the_sandbox(stage: Stage):
    stage.create()

    async def outcome() -> Any:
        sandboxes = _sandboxes(stage)
        sandboxes.start(_key(stage), {"run": "1", "instance": {"vcpu": 1}})  # half a size, which no object can send
        sandbox = sandboxes.find(_key(stage))
        assert sandbox
        return await asyncio.wait_for(sandbox.wait(), 5)

    assert asyncio.run(outcome()) == {"problem": BROKEN.format(error="KeyError")}


def test_a_sandbox_for_which_there_is_no_room_any_more_ends(stage: Stage):
    app = stage.create(max_instances=1)
    stage.run_instance(app, id="1" * 64, state="running")

    async def outcome() -> Any:
        sandboxes = _sandboxes(stage)
        sandbox = Sandbox(_key(stage), "1")
        sandbox.application = stage.raw.emulator.state.store.get("container_application", stage.account, app["id"])
        sandbox.container = Container("box", Image("box", "sha256:0", {}, ()), None, internet=False)
        sandbox.container.started.set_result(None)
        following = asyncio.ensure_future(sandboxes._follow(sandbox, sandbox.container))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert sandbox.running  # not before its container is gone
        sandbox.container.gone.set()
        await asyncio.wait_for(following, 5)
        return await sandbox.wait()

    assert asyncio.run(outcome()) == {"problem": FULL}


def test_the_watch_goes_on_after_an_error_and_says_it_once(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    judged: list[str] = []

    def settle() -> None:
        raise RuntimeError("settling broke")

    def judge(sandbox: Sandbox) -> None:
        judged.append(sandbox.run)
        if sandbox.run == "1":
            raise RuntimeError("judging broke")

    async def watch() -> None:
        sandboxes = _sandboxes(stage)
        monkeypatch.setattr("emulator.runtime.sandboxes.sandboxes._WATCH", 0.0)
        monkeypatch.setattr(stage.raw.emulator.state, "settle", settle)
        monkeypatch.setattr(sandboxes, "_judge", judge)
        for run in ("1", "2"):
            key = Key(stage.account, stage.namespace, run * 64)
            sandboxes._live[key] = Sandbox(key, run)
        watcher = asyncio.ensure_future(sandboxes._watch())
        while len(judged) < 6:
            assert not watcher.done()
            await asyncio.sleep(0)
        watcher.cancel()

    asyncio.run(watch())
    assert judged[:6] == ["1", "2"] * 3
    said = capsys.readouterr().err
    assert (said.count("RuntimeError: settling broke"), said.count("RuntimeError: judging broke")) == (1, 1)


class _Silent(Container):
    """One whose supervisor does not answer."""

    async def log(self) -> str:
        await asyncio.Event().wait()
        raise AssertionError


def test_a_sandbox_that_does_not_answer_is_not_waited_for(stage: Stage):
    async def look() -> str:
        silent = Sandbox(_key(stage), "1")
        silent.container = _Silent("box", Image("box", "sha256:0", {}, ()), None, internet=False)
        silent.output = "said before"
        await asyncio.wait_for(silent.look(), 10)
        assert silent.looked_at == 0
        return silent.output

    assert asyncio.run(look()) == "said before"


def test_of_those_that_have_ended_the_newest_are_remembered(stage: Stage):
    app = stage.create(max_instances=200)
    store = stage.raw.emulator.state.store
    stage.run_instance(app, id="f" * 64, state="running")
    for number in range(130):
        with store.transaction():
            for state in ("running", "failed" if number % 2 else "stopped"):
                instances.record(store, float(number), {**app, "account_id": stage.account}, _report(number, state))
    known = [each["id"] for each in instances.all_of(store, {**app, "account_id": stage.account})]
    assert sorted(known) == sorted(["f" * 64, *(_report(number, "")["id"] for number in range(30, 130))])


def _report(number: int, state: str) -> dict[str, Any]:
    return {"id": f"{number:064d}", "state": state}
