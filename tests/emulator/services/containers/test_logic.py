"""Properties of the pure parts: rollouts, sizes, image references."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.errors import ApiError
from emulator.schema import either, fields, number, text
from emulator.services.containers import durations, errors, rollouts, sizes
from emulator.services.registry.names import parse_reference
from emulator.store import Store

FIXED = {"id": "r", "current_version": 1, "target_version": 2}
targets = st.lists(st.integers(1, 99), max_size=6, unique=True).map(lambda found: [*sorted(found), 100])
failures = st.none() | st.fixed_dictionaries(
    {
        "step": st.integers(1, 9),
        "event": st.just("VMFailed"),
        "message": st.just("why"),
        "then": st.sampled_from(["revert", "stay"]),
    }
)
moments = st.floats(0, 500, allow_nan=False)


@st.composite
def new_rollouts(draw: Any) -> rollouts.Rollout:
    kind = draw(st.sampled_from([rollouts.AUTO, rollouts.MANUAL]))
    strategy = draw(st.sampled_from([rollouts.ROLLING, rollouts.NEW_INSTANCES]))
    fixed = {**FIXED, "kind": kind, "strategy": strategy, "failure": draw(failures)}
    return rollouts.start(fixed, draw(targets), now=0.0, step_seconds=draw(st.sampled_from([0.0, 1.0, 7.5])))


def check(rollout: rollouts.Rollout) -> None:
    """What must hold of every rollout at every moment."""
    steps = [step["status"] for step in rollout["steps"]]
    assert 0 <= rollout["position"] <= len(steps)
    assert 0 <= rollouts.percentage(rollout) <= rollouts.aim(rollout) <= 100
    assert all(status == rollouts.COMPLETED for status in steps[: rollout["position"]]) or rollout["reverting"]
    assert (rollout["status"] == rollouts.COMPLETED) == (rollout["position"] == len(steps))
    assert not rollout["moving"] or steps[rollout["position"]] == rollouts.PROGRESSING
    if not rollouts.is_active(rollout):
        assert rollout["tick_at"] is None
        assert not rollout["moving"]
    if rollout["status"] == rollouts.REVERTED:
        assert rollouts.percentage(rollout) == 0
        assert rollouts.PROGRESSING not in steps


@given(new_rollouts(), moments, moments)
def test_time_does_the_same_in_one_leap_and_in_two(rollout: rollouts.Rollout, first: float, second: float):
    early, late = sorted((first, second))
    leap = rollouts.advance(rollout, late)
    assert rollouts.advance(rollouts.advance(rollout, early), late) == leap
    check(leap)


@given(new_rollouts(), st.lists(moments, min_size=1).map(sorted))
def test_without_failures_and_hands_the_share_only_grows(rollout: rollouts.Rollout, times: list[float]):
    rollout = {**rollout, "failure": None}
    shares = []
    for now in times:
        rollout = rollouts.advance(rollout, now)
        check(rollout)
        shares.append(rollouts.percentage(rollout))
    assert shares == sorted(shares)


@given(new_rollouts())
def test_an_automatic_rollout_ends(rollout: rollouts.Rollout):
    end = rollouts.advance(rollout, 7.5 * (len(rollout["steps"]) + 3))
    failure = rollout["failure"]
    if rollout["kind"] == rollouts.MANUAL:
        assert end == rollout
    elif failure is None:
        assert end["status"] == rollouts.COMPLETED
    else:
        assert end["status"] == (rollouts.REVERTED if failure["then"] == "revert" else rollouts.PROGRESSING)
        assert len(end["errors"]) == 1


@given(new_rollouts(), st.lists(st.tuples(st.sampled_from(["next", "previous", "revert", "wait"]), moments)))
def test_hands_never_break_it(rollout: rollouts.Rollout, script: list[tuple[str, float]]):
    now = 0.0
    for action, seconds in script:
        now += seconds
        before = rollout
        try:
            rollout = rollouts.advance(rollout, now) if action == "wait" else rollouts.act(rollout, action, now)
        except rollouts.NotPossibleError:
            rollout = rollouts.advance(before, now)
        check(rollout)
        if not rollouts.is_active(before):
            assert rollout == before


@given(new_rollouts(), moments, st.integers(0, 1000))
def test_updated_instances_are_within_the_total(rollout: rollouts.Rollout, now: float, total: int):
    at = rollouts.advance(rollout, now)
    assert 0 <= rollouts.updated_of(at, total) <= total
    assert not rollouts.is_active(rollouts.supersede(at, now))


@given(st.sampled_from([5, 10, 20, 25, 50, 100]), st.integers(0, 50))
def test_step_percentages_lead_to_all_instances(size: int, live: int):
    planned, problems = rollouts.targets_of({"strategy": "rolling", "step_percentage": size}, live, 1)
    assert not problems
    assert (len(planned), planned[-1]) == (100 // size, 100)
    assert planned == sorted(planned)


configurations = st.one_of(
    st.fixed_dictionaries({"instance_type": st.sampled_from([*sizes.TYPES, *sizes.ALIASES])}),
    st.fixed_dictionaries(
        {},
        optional={
            "vcpu": st.floats(0.0625, 8),
            "memory_mib": st.integers(1, 30000),
            "disk": st.fixed_dictionaries({"size_mb": st.integers(1, 40000)}),
        },
    ),
)


@given(configurations, configurations)
def test_what_is_shown_can_be_sent_again(first: dict[str, Any], second: dict[str, Any]):
    stored = sizes.merged(sizes.normalise({"image": "i", **first})[0], sizes.normalise(second)[0])
    shown = sizes.expanded(stored)
    assert {"vcpu", "memory_mib", "disk"} <= shown.keys()
    assert shown.get("instance_type") == sizes.type_of(sizes.size_of(stored))
    again = {name: value for name, value in shown.items() if name != "instance_type"}
    assert sizes.expanded(sizes.normalise(again)[0]) == shown


def test_named_types_are_exempt_from_the_rules_of_custom_sizes():
    assert not any(sizes.custom_problems(size) for size in sizes.TYPES.values())


@given(st.text(max_size=80))
def test_any_text_is_a_reference_or_not(text: str):
    found = parse_reference(text)
    assert found is None or found.manifest


def test_references():
    full = parse_reference("127.0.0.1:8787/a/b-c:v1@sha256:" + "0" * 64)
    assert full is not None
    assert (full.host, full.repository, full.tag, full.manifest[:7]) == ("127.0.0.1:8787", "a/b-c", "v1", "sha256:")
    for wrong in ("a/b:v1", "host.example/a", "host.example/A:v1", "host.example/a:v1@sha256:0", "host.example/a:"):
        assert parse_reference(wrong) is None


def test_durations_that_an_older_state_has_set_still_hold(tmp_path: Path):
    store = Store(tmp_path)
    store.set_setting("containers.pace", json.dumps({"deletion": 9.0, "step": 0.5, "preparation": 0.0}))
    assert durations.read(store) == durations.Durations(9.0, 0.5, 0.0)
    durations.write(store, durations.Durations(step=1.0))
    assert durations.read(store) == durations.Durations(3.0, 1.0, 1.0)


def test_a_body_that_is_none_of_several_is_refused_by_path():
    check = fields({"size": either(text(choices=["lite"]), fields({"vcpu": number()}))})
    errors.INVALID.unless(check, {"size": "lite"})
    errors.INVALID.unless(check, {"size": {"vcpu": 1}})
    with pytest.raises(ApiError) as caught:
        errors.INVALID.unless(check, {"size": {"vcpu": "1", "disk": 2}})
    details = json.loads(caught.value.errors[0]["message"])["details"]
    assert details == {"size.vcpu": "expected number, received string", "size": 'unrecognized key: "disk"'}
