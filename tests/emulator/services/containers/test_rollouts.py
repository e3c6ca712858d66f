"""Rollouts by the emulator's clock: steps, hands, failures, successors."""

from typing import Any

import pytest
from cloudflare import Cloudflare

from emulator.testing import Running
from testbed.emulator.containers_stage import Stage


@pytest.fixture
def stage(raw: Any, emulator: Running) -> Stage:
    return Stage(raw, emulator)


def with_instances(stage: Stage) -> Any:
    """An application of which four instances run."""
    made = stage.create()
    for _ in range(4):
        stage.run_instance(made)
    return made


def steps_of(rollout: Any) -> list[tuple[int, str]]:
    return [(step["step_size"]["percentage"], step["status"]) for step in rollout["steps"]]


def test_a_rollout_goes_in_steps(client: Cloudflare, stage: Stage):
    made = with_instances(stage)
    begun = client.containers.applications.rollouts.create(
        made["id"],
        account_id=stage.account,
        description="new image",
        strategy="rolling",
        target_configuration={"image": stage.newer, "instance_type": "standard-1"},
        steps=[
            {"step_size": {"percentage": 50}, "description": "half"},
            {"step_size": {"percentage": 100}, "description": "all"},
        ],
    )
    assert (begun.status, begun.kind, begun.current_version, begun.target_version) == ("pending", "full_auto", 1, 2)
    assert begun.started_at is None
    rollout = {"id": begun.id}
    seen = []
    for _ in range(4):
        now, application = stage.read_rollout(made, rollout), stage.get(made)
        progress = now["progress"]
        seen.append((now["status"], progress["current_step"], progress["updated_instances"], application["version"]))
        stage.raw.advance(2)
    assert seen == [("pending", 0, 0, 1), ("progressing", 1, 0, 1), ("progressing", 2, 2, 1), ("completed", 2, 4, 2)]
    done = stage.get(made)
    assert "active_rollout_id" not in done
    assert (done["configuration"]["image"], done["configuration"]["instance_type"]) == (stage.newer, "standard-1")
    versions = client.containers.applications.versions.list(made["id"], account_id=stage.account).result
    assert [(each.version, each.percentage) for each in versions] == [(2, 100), (1, 0)]
    instances = client.containers.applications.instances.list(made["id"], account_id=stage.account)
    assert {each.image for each in instances} == {stage.newer}


def test_while_it_goes_the_application_and_its_versions_show_it(stage: Stage):
    made = stage.create()
    rollout = stage.rollout(made, step_percentage=25)
    stage.raw.advance(4)
    application = stage.get(made)
    assert application["active_rollout_id"] == rollout["id"]
    assert application["scheduling_hint"]["target"]["version"] == 2
    assert application["configuration"]["image"] == stage.image
    now = stage.read_rollout(made, rollout)
    assert steps_of(now) == [(25, "completed"), (50, "progressing"), (75, "pending"), (100, "pending")]
    assert now["progress"]["version_distribution"]["target_version_percentage"] == 50
    versions = stage.raw.api("GET", f"{stage.base}/applications/{made['id']}/versions").json()["result"]
    assert [(each["version"], each["percentage"]) for each in versions] == [(2, 50), (1, 50)]


def test_few_instances_round_the_steps_up(stage: Stage):
    made = stage.create()
    for _ in range(2):
        stage.run_instance(made)
    sizes = [{"step_size": {"percentage": size}, "description": "x"} for size in (10, 100)]
    assert [size for size, _ in steps_of(stage.rollout(made, steps=sizes))] == [50, 100]


def test_a_manual_rollout_waits_for_hands(stage: Stage):
    made = stage.create()
    rollout = stage.rollout(made, kind="full_manual", step_percentage=50)
    path = f"{stage.base}/applications/{made['id']}/rollouts/{rollout['id']}"

    def act(action: str) -> Any:
        return stage.raw.api("POST", path, json={"action": action}).json()["result"]

    stage.raw.advance(3600)
    assert stage.read_rollout(made, rollout)["status"] == "pending"
    assert steps_of(act("next")) == [(50, "progressing"), (100, "pending")]
    stage.raw.advance(3600)
    assert steps_of(stage.read_rollout(made, rollout)) == [(50, "completed"), (100, "pending")]
    assert steps_of(act("next")) == [(50, "completed"), (100, "progressing")]
    assert steps_of(act("previous")) == [(50, "completed"), (100, "reverted")]
    assert steps_of(act("next")) == [(50, "completed"), (100, "progressing")]
    stage.raw.advance(2)
    assert stage.read_rollout(made, rollout)["status"] == "completed"
    refused = stage.refuse("POST", f"/applications/{made['id']}/rollouts/{rollout['id']}", {"action": "revert"})
    assert refused == (400, 1000, {"error": "VALIDATE_INPUT", "details": {"action": "the rollout is completed"}})


def test_a_revert_brings_everything_back(stage: Stage):
    made = stage.create()
    instance = stage.run_instance(made)
    stage.raw.api("PATCH", f"{stage.base}/applications/{made['id']}", json={"configuration": {"image": stage.newer}})
    rollout = stage.rollout(made, step_percentage=50)
    stage.raw.advance(5)
    path = f"{stage.base}/applications/{made['id']}/rollouts/{rollout['id']}"
    reverting = stage.raw.api("POST", path, json={"action": "revert"}).json()["result"]
    assert steps_of(reverting) == [(100, "reverting"), (100, "reverting")]
    assert stage.raw.refusal("DELETE", path)[2] == '{"error":"ROLLOUT_IN_USE"}'
    stage.raw.advance(2)
    assert stage.read_rollout(made, rollout)["status"] == "reverted"
    application = stage.get(made)
    assert (application["version"], application["configuration"]["image"]) == (1, stage.image)
    one = stage.raw.api("GET", f"{stage.base}/applications/{made['id']}/instances/{instance['id']}").json()["result"]
    assert one["image"] == stage.image
    assert stage.raw.api("DELETE", path).status_code == 200
    assert stage.raw.refusal("GET", path)[2] == '{"error":"ROLLOUT_NOT_FOUND"}'
    assert stage.rollout(made)["target_version"] == 3


@pytest.mark.parametrize("action", ["complete", "revert"])
@pytest.mark.parametrize("size", [{}, {"instance_type": "standard-1"}])
def test_what_was_changed_during_a_rollout_stays(stage: Stage, action: str, size: dict[str, str]):
    made = stage.create()
    rollout = stage.rollout(made, target_configuration={"image": stage.newer, **size})
    stage.raw.advance(2)
    change = {"command": ["serve"], "wrangler_ssh": {"enabled": False}, "memory_mib": 4096, "vcpu": 1}
    changed = stage.raw.api("PATCH", f"{stage.base}/applications/{made['id']}", json={"configuration": change})
    assert changed.status_code == 200, changed.text
    if action == "revert":
        path = f"{stage.base}/applications/{made['id']}/rollouts/{rollout['id']}"
        stage.raw.api("POST", path, json={"action": "revert"})
    stage.raw.advance(60)
    configuration = stage.get(made)["configuration"]
    assert (configuration["command"], configuration["wrangler_ssh"]) == (["serve"], {"enabled": False})
    assert configuration["image"] == (stage.image if action == "revert" else stage.newer)
    # The size is the rollout's own matter only where the rollout names one.
    expected = ((0.25 if action == "revert" else 0.5), 4000 if action == "revert" else 8000) if size else (1, 4000)
    assert (configuration["vcpu"], configuration["disk"]["size_mb"]) == expected


@pytest.mark.parametrize(("then", "status"), [("revert", "reverted"), ("stay", "progressing")])
def test_a_rollout_fails_on_demand(stage: Stage, then: str, status: str):
    made = stage.create()
    failure = {"step": 2, "event": "ImagePullError", "message": "no such layer", "then": then}
    path = f"/containers/{stage.account}/applications/{made['id']}/rollout-failure"
    stage.raw.control("PUT", path, json=failure)
    rollout = stage.rollout(made, step_percentage=50)
    stage.raw.advance(600)
    failed = stage.read_rollout(made, rollout)
    assert failed["status"] == status
    (error,) = failed["health"]["errors"]
    assert (error["event"]["name"], error["event"]["message"]) == ("ImagePullError", "no such layer")
    application = stage.get(made)
    assert application["version"] == 1
    assert ("active_rollout_id" in application) == (then == "stay")
    assert bool(application["health"]["errors"]) == (then == "stay")
    again = stage.rollout(made)
    stage.raw.advance(600)
    assert stage.read_rollout(made, again)["status"] == "completed"
    assert stage.get(made)["version"] == 3
    if then == "stay":
        assert stage.read_rollout(made, rollout)["status"] == "replaced"


def test_the_rollout_under_way_can_be_made_to_fail_and_not_to(stage: Stage):
    made = stage.create()
    rollout = stage.rollout(made)
    path = f"/containers/{stage.account}/applications/{made['id']}/rollout-failure"
    stage.raw.control("PUT", path, json={})
    stage.raw.control("PUT", path, json=None)
    stage.raw.advance(2)
    stage.raw.control("PUT", path, json={})
    stage.raw.advance(60)
    assert stage.read_rollout(made, rollout)["status"] == "reverted"


def test_new_instances(client: Cloudflare, stage: Stage):
    made = with_instances(stage)
    begun = client.containers.applications.rollouts.create(
        made["id"],
        account_id=stage.account,
        description="x",
        strategy="new_instances",
        target_configuration={"image": stage.newer},
    )
    assert (begun.percentage, begun.steps, begun.progress, begun.health.summary) == (0, None, None, "pending")
    seen = []
    for _ in range(6):
        stage.raw.advance(2)
        now = stage.read_rollout(made, {"id": begun.id})
        seen.append((now["percentage"], now["status"], now["health"]["summary"]))
    assert seen == [
        (25, "progressing", "pending"),
        (50, "progressing", "degraded"),
        (75, "progressing", "degraded"),
        (100, "progressing", "degraded"),
        (100, "completed", "healthy"),
        (100, "completed", "healthy"),
    ]


@pytest.mark.parametrize(
    ("change", "details"),
    [
        ({"step_percentage": 30}, {"step_percentage": "expected one of 5|10|20|25|50|100"}),
        (
            {"steps": [{"step_size": {"percentage": 5}, "description": ""}]},
            {"steps[0].step_size.percentage": "expected number to be >=10"},
        ),
        (
            {"steps": [{"step_size": {"percentage": 50}, "description": ""}]},
            {"steps": "percentages must rise and end with 100"},
        ),
        ({"steps": [], "step_percentage": 50}, {"steps": "expected array to have 1 to 100 items"}),
        ({"strategy": "blue_green"}, {"strategy": 'expected one of "rolling"|"new_instances"'}),
        (
            {"strategy": "new_instances", "step_percentage": 50},
            {"step_percentage": "is only valid for the rolling strategy"},
        ),
        (
            {"strategy": "new_instances", "kind": "full_manual"},
            {"percentage": "is required for a manual rollout of new instances"},
        ),
        ({"target_configuration": {"surprise": 1}}, {"target_configuration": 'unrecognized key: "surprise"'}),
        (
            {"target_configuration": {"image": "x"}},
            {"configuration.image": "must be host/repository with a tag or a digest"},
        ),
    ],
)
def test_bad_rollouts(stage: Stage, change: dict[str, Any], details: dict[str, str]):
    made = stage.create()
    body = {"description": "x", "strategy": "rolling", "target_configuration": {"image": stage.newer}, **change}
    refused = stage.refuse("POST", f"/applications/{made['id']}/rollouts", body)
    assert refused == (400, 1000, {"error": "VALIDATE_INPUT", "details": details})


def test_more_rules(stage: Stage):
    made = stage.create(max_instances=2)
    steps = [{"step_size": {"percentage": size}, "description": "x"} for size in (10, 50, 100)]
    body = {"description": "x", "strategy": "rolling", "target_configuration": {}, "steps": steps}
    assert stage.refuse("POST", f"/applications/{made['id']}/rollouts", body)[2]["details"] == {
        "steps": "there cannot be more steps than max_instances"
    }
    both = {**body, "step_percentage": 50}
    assert stage.refuse("POST", f"/applications/{made['id']}/rollouts", both)[2]["details"] == {
        "steps": "cannot be combined with step_percentage"
    }
    other = stage.make_namespace("other", "Sandbox")
    managed = {"name": "m", "scheduling_policy": "durable_object", "durable_objects": {"namespace_id": other}}
    assert stage.raw.api("POST", f"{stage.base}/applications", json=managed).status_code == 201
    assert stage.refuse("POST", f"/applications/{other}/rollouts", {**body, "steps": steps[2:]})[2]["details"] == {
        "scheduling_policy": "rollouts do not apply to durable_object applications"
    }


def test_rollouts_are_listed_newest_first(stage: Stage):
    made = stage.create()
    ids = [stage.rollout(made)["id"] for _ in range(5)]
    path = f"{stage.base}/applications/{made['id']}/rollouts"
    listed = stage.raw.api("GET", path).json()["result"]
    assert [each["id"] for each in listed] == ids[::-1]
    assert [each["status"] for each in listed] == ["pending", *["replaced"] * 4]
    part = stage.raw.api("GET", path, params={"limit": 2, "last": ids[3]}).json()["result"]
    assert [each["id"] for each in part] == [ids[2], ids[1]]


def test_the_durations_can_be_set(stage: Stage):
    assert stage.raw.control("GET", "/containers/durations") == {"deletion": 3.0, "step": 2.0, "preparation": 1.0}
    stage.raw.control("PUT", "/containers/durations", json={"deletion": 0, "step": 0})
    made = stage.create()
    rollout = stage.rollout(made, step_percentage=5)
    assert stage.read_rollout(made, rollout)["status"] == "completed"
    stage.raw.api("DELETE", f"{stage.base}/applications/{made['id']}")
    assert stage.raw.api("GET", f"{stage.base}/applications/{made['id']}").status_code == 404
