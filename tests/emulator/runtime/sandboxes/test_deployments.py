"""What deployments, limits and this machine's abilities do to the containers of objects."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emulator.engine import programs
from emulator.runtime.sandboxes import gateway
from testbed.emulator.boxes import BINDING, MIGRATION, SLEEP, Boxes, Object, ObjectError, make
from testbed.emulator.machine import parts

pytestmark = [pytest.mark.workerd, pytest.mark.containers]

FULL = (
    "Maximum number of running container instances exceeded. Try again later, or try configuring a higher value for "
    "max_instances"
)
NO_APPLICATION = "There is no container application assigned to this Durable Object class."


def problem(box: Object, options: dict[str, Any] | None = None) -> str:
    """What the monitor of a start is rejected with."""
    return str(box("runOnce", {**SLEEP, **(options or {})})["error"]["message"])


def test_running_is_right_after_workerd_was_killed(boxes: Boxes, box: Object):
    box.begin()
    box("exec", ["sh", "-c", "echo kept > /kept"])
    os.kill(boxes.stage.status("boxes")["pid"], signal.SIGKILL)
    facts = _patiently(box, "facts")
    assert facts["atConstruction"] is True
    assert box("exec", ["cat", "/kept"])["stdout"] == "kept\n"
    box("watch")
    box.call("signal", 9)
    assert box.end().exit_code == 137


def _patiently(box: Object, method: str) -> Any:
    """The first answer of a new process: one that comes before the end of the old was noticed is a 502."""
    for _ in range(600):
        try:
            return box(method)
        except (AssertionError, ObjectError):
            time.sleep(0.1)
    raise AssertionError("it did not come back")


def test_instances_beyond_the_limit_and_without_an_application(fresh: Boxes):
    one, two = fresh.object("one"), fresh.object("two")
    assert problem(one) == NO_APPLICATION
    fresh.apply(fresh.take_base_image(parts()[1]), max_instances=1)
    one.begin()
    one("exec", ["true"])
    assert problem(two) == FULL
    assert two.running is False
    one.call("destroy")
    assert two.begin()("exec", ["echo", "well"])["stdout"] == "well\n"


def test_deleting_the_application_ends_its_containers(fresh: Boxes):
    fresh.apply(fresh.take_base_image(parts()[1]))
    box = fresh.object("one").begin()
    box("exec", ["true"])
    path = f"/accounts/{fresh.stage.account}/containers/applications/{fresh.application['id']}"
    assert fresh.stage.raw.api("DELETE", path).status_code == 200
    fresh.stage.raw.advance(3600)
    assert box.end().exit_code == 137
    assert problem(box) == NO_APPLICATION


def test_objects_that_choose_their_image_and_size(fresh: Boxes):
    """A class of generation 1.x: policy `durable_object`, with images named by the upload."""
    image = fresh.take_base_image(parts()[1])
    entry = {"name": "box", "class_name": "Box", "images": {"main": image}}
    fresh.upload(containers=[entry])
    namespace = fresh.stage.uploads.classes("boxes")["Box"]["id"]
    body = {
        "name": "boxes",
        "scheduling_policy": "durable_object",
        "configuration": {},
        "durable_objects": {"namespace_id": namespace},
    }
    made = fresh.stage.raw.api("POST", f"/accounts/{fresh.stage.account}/containers/applications", json=body)
    assert made.status_code == 201, made.text
    box = fresh.object("one")
    assert box.call("images") == {"main": image}
    with pytest.raises(ObjectError, match=r"^Container.start\(\) requires an image or container snapshot\.$"):
        box.call("start", SLEEP)
    box.begin({"image": image, "instance": {"vcpu": 1, "memoryMib": 3072, "diskMb": 60}})
    assert box.call("inspect") == {"labels": {}, "image": image}
    blocks = box("exec", ["stat", "-f", "-c", "%S %b", "/"])["stdout"].split()
    if os.geteuid() == 0:
        assert int(blocks[0]) * int(blocks[1]) < 60_000_000
    box.call("destroy")
    box.begin({"image": image, "instance": "basic"})
    assert box("exec", ["echo", "well"])["stdout"] == "well\n"


THIEF = """import { DurableObject } from "cloudflare:workers";
export class Box extends DurableObject {
  /** What the emulator's own module does for the object of another Worker, asked by uploaded code. */
  async take(account, namespace, object) {
    const { contained, tell } = await import("./__emulator__/container.js");
    tell({ started: [[`${namespace}/${object}`, "1"]] });
    const ctx = { id: object };
    new (contained(class {}, { account, namespace, secret: "guessed", images: {}, hasDefault: true }))(ctx, {});
    const told = (work) => work.then(() => "done", (error) => error.message);
    return [await told(ctx.container.inspect()), await told(ctx.container.exec(["true"]))];
  }
}
export default { async fetch(request, env) {
  return Response.json(await env.BOX.getByName("thief").take(...await request.json()));
} };"""


def test_a_worker_reaches_no_containers_of_another(boxes: Boxes, box: Object):
    box.begin()
    victim = box("exec", ["printenv", "CLOUDFLARE_DURABLE_OBJECT_ID"])["stdout"].strip()
    boxes.stage.uploads.put(
        "thief",
        THIEF,
        compatibility_date="2026-10-01",
        bindings=[BINDING],
        containers=[{"class_name": "Box"}],
        migrations=MIGRATION,
    )
    namespace = boxes.stage.uploads.classes("boxes")["Box"]["id"]
    said = boxes.stage.ask("/", "thief.localhost", "POST", json=[boxes.stage.account, namespace, victim]).json()
    assert said == [gateway.NOT_OWNED, "Container exited before the process did."]


# What this machine lacks


@pytest.fixture
def without_runc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Boxes]:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setattr(programs, "_SYSTEM", ())
    monkeypatch.setenv("PATH", str(empty))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    yield from make(tmp_path / "state", empty)


def test_without_runc_the_reason_is_told(without_runc: Boxes):
    reason = (
        "Sandboxes cannot start on this machine: there is no runc; `make setup` provides it, or install the package "
        "runc."
    )
    _cannot(without_runc, reason)


def _cannot(boxes: Boxes, reason: str) -> None:
    """The runtime's status and whoever asks for the container say the same sentence."""
    told = boxes.stage.raw.control("GET", "/runtime")["containers"]
    assert (told["available"], told["reason"]) == (False, reason)
    boxes.apply(boxes.take_base_image(parts()[1]))
    with pytest.raises(ObjectError) as refused:
        boxes.object("one")("facts")
    expected = f"Containers have not been enabled for this Durable Object class on this machine: {reason}"
    assert str(refused.value) == expected


@pytest.fixture
def without_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Boxes]:
    # What a kernel without user namespaces answers to the same probe.
    monkeypatch.setattr(programs, "_PROBE", "raise SystemExit(1)")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    yield from make(tmp_path / "state", parts()[0])


def test_without_user_namespaces_the_reason_is_told(without_users: Boxes):
    _cannot(without_users, f"Sandboxes cannot start on this machine: {programs.NO_USERS}.")


def test_without_writable_groups_sandboxes_run_and_it_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    from emulator.engine import cgroups  # noqa: PLC0415 - its input is replaced here

    monkeypatch.setattr(cgroups, "_MOUNT", tmp_path / "no-groups")
    for fresh in make(tmp_path / "state", parts()[0]):
        fresh.apply(fresh.take_base_image(parts()[1]))
        for name in ("one", "two"):
            assert fresh.object(name).begin()("exec", ["echo", "well"])["stdout"] == "well\n"
        assert fresh.stage.raw.control("GET", "/runtime")["containers"]["available"] is True
    said = (
        "Memory and processor of sandboxes are not limited: there are no control groups for memory, cpu and pids here."
    )
    assert capfd.readouterr().err.count(said) == 1
