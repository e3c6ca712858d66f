"""Rollouts on containers that really run: what the API says of them is what runs."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from testbed.emulator.boxes import Boxes, Object
from testbed.emulator.machine import parts

pytestmark = pytest.mark.workerd

STUBBORN = {"entrypoint": ["bash", "-c", "trap '' TERM; while :; do sleep 0.05; done"]}
OBEDIENT = {"entrypoint": ["bash", "-c", "trap 'exit 0' TERM; while :; do sleep 0.05; done"]}
STEP = 600  # seconds of the emulator's clock: real ones make no difference
LARGER = {"vcpu": 1, "memory_mib": 4096, "disk": {"size_mb": 2000}}
PATIENCE = 60


class Application:
    """The application of one emulator, its rollout and its instances."""

    def __init__(self, boxes: Boxes, **changes: Any) -> None:
        self.boxes, self.raw = boxes, boxes.stage.raw
        self.raw.control("PUT", "/containers/durations", json={"step": STEP})
        self.image = boxes.take_base_image(parts()[1])
        boxes.apply(self.image, **changes)
        self.path = f"/accounts/{boxes.stage.account}/containers/applications/{boxes.application['id']}"
        self.rollout = ""

    def begin(self, name: str, options: dict[str, Any]) -> Object:
        """An object whose container hears signals as it means to."""
        box = self.boxes.object(name).begin(options)
        box("exec", ["sh", "-c", "until grep -q 'Sig[CI].*:.*[4-7]...$' /proc/1/status; do sleep 0.02; done"])
        return box

    def roll(self, target: dict[str, Any], **options: Any) -> None:
        """Begin a rollout, and its first step."""
        body = {"description": "x", "strategy": "rolling", "target_configuration": target, **options}
        made = self.raw.api("POST", f"{self.path}/rollouts", json=body)
        assert made.status_code == 201, made.text
        self.rollout = made.json()["result"]["id"]
        self.raw.advance(STEP)

    def told(self) -> tuple[str, int, int]:
        """The rollout's state, how many instances it is about, and how many it has replaced."""
        said = self.raw.api("GET", f"{self.path}/rollouts/{self.rollout}").json()["result"]
        return said["status"], said["progress"]["total_instances"], said["progress"]["updated_instances"]

    def instances(self) -> list[tuple[str, int]]:
        """State and memory of each, oldest first."""
        listed = self.raw.api("GET", f"{self.path}/instances-v2").json()["result"]
        found = sorted(listed, key=lambda each: each["started_at"])
        return [(each["status"]["state"], each["configuration"]["memory"]) for each in found]

    def version(self) -> int:
        return int(self.raw.api("GET", self.path).json()["result"]["version"])


def eventually(found: Callable[[], Any], expected: Any) -> None:
    until = time.monotonic() + PATIENCE
    while (seen := found()) != expected:
        assert time.monotonic() < until, seen
        time.sleep(0.1)


def test_one_that_ignores_the_signal_is_what_it_is_until_it_is_killed(fresh: Boxes):
    app = Application(fresh)
    box = app.begin("one", STUBBORN)
    app.roll(LARGER)
    eventually(app.instances, [("stopping", 3072)])
    app.raw.advance(14 * 60)
    for _ in range(10):  # the watcher looks twice a second
        assert (app.told(), app.version()) == (("progressing", 1, 0), 1)
        assert app.instances() == [("stopping", 3072)]
        time.sleep(0.1)
    assert box("exec", ["echo", "still here"])["stdout"] == "still here\n"
    app.raw.advance(2 * 60)
    assert box.end().exit_code == 137
    eventually(app.told, ("completed", 1, 1))
    assert app.version() == 2
    app.begin("one", OBEDIENT)
    assert app.instances() == [("running", 4096)]
    assert app.told() == ("completed", 1, 1)


def test_steps_replace_the_oldest_first_and_wait_for_each_other(fresh: Boxes):
    app = Application(fresh)
    one, two = app.begin("one", OBEDIENT), app.begin("two", STUBBORN)
    app.roll(LARGER, step_percentage=50)
    assert one.end() is None
    eventually(app.told, ("progressing", 2, 1))
    assert app.instances()[1] == ("running", 3072)
    app.raw.advance(STEP)  # the second step begins
    eventually(app.instances, [("stopped", 3072), ("stopping", 3072)])
    app.raw.advance(STEP)
    assert (app.told(), app.version()) == (("progressing", 2, 1), 1)
    app.begin("one", OBEDIENT)  # a new instance is of the new version already
    assert sorted(app.instances()) == [("running", 4096), ("stopping", 3072)]
    app.raw.advance(STEP)
    assert two.end().exit_code == 137
    eventually(app.told, ("completed", 2, 2))
    assert one.running


def test_the_grace_period_is_of_the_emulators_clock(fresh: Boxes):
    app = Application(fresh, rollout_active_grace_period=10_000)
    box = app.begin("one", OBEDIENT)
    app.roll(LARGER)
    app.raw.advance(STEP)
    for _ in range(15):
        assert (app.instances(), app.told()) == ([("running", 3072)], ("progressing", 1, 0))
        time.sleep(0.1)
    app.raw.advance(10_000)
    assert box.end() is None
    eventually(app.told, ("completed", 1, 1))


def test_a_new_image_and_one_that_ends_at_once(fresh: Boxes):
    app = Application(fresh)
    box = app.begin("one", OBEDIENT)
    layout = {"repository": "cloudflare/sandbox", "folder": str(parts()[1])}
    tag = next(iter(app.raw.control("POST", "/registry/layouts", json=layout)["tags"]))
    newer = f"docker.io/cloudflare/sandbox:{tag}"
    app.roll({"image": newer})
    assert box.end() is None
    assert box.running is False
    app.raw.advance(STEP)
    eventually(app.told, ("completed", 1, 1))
    app.begin("one", OBEDIENT)
    assert box.call("inspect")["image"] == newer


def test_a_revert_spares_what_has_not_been_told_yet_and_takes_back_what_is_new(fresh: Boxes):
    app = Application(fresh, rollout_active_grace_period=3600)
    old = app.begin("old", OBEDIENT)
    app.roll(LARGER)
    new = app.begin("new", OBEDIENT)
    assert app.instances() == [("running", 3072), ("running", 4096)]
    reverted = app.raw.api("POST", f"{app.path}/rollouts/{app.rollout}", json={"action": "revert"})
    assert reverted.status_code == 200, reverted.text
    app.raw.advance(STEP)
    assert app.told()[0] == "progressing"
    app.raw.advance(3600)
    assert new.end() is None
    eventually(lambda: app.told()[0], "reverted")
    assert old.running
    assert app.instances()[0] == ("running", 3072)


@pytest.mark.parametrize("options", [OBEDIENT, STUBBORN])
def test_a_lower_limit_stops_the_youngest_and_says_so(fresh: Boxes, options: dict[str, Any]):
    app = Application(fresh)
    one, two = app.begin("one", options), app.begin("two", options)
    assert app.raw.api("PATCH", app.path, json={"max_instances": 1}).status_code == 200
    if options is STUBBORN:
        eventually(app.instances, [("running", 3072), ("stopping", 3072)])
        app.raw.advance(16 * 60)
        assert two.end().exit_code == 137
    else:
        assert two.end() is None
    assert one.running
