"""Which releases the account's lists tell of, and which one a rollback means."""

from typing import Any

import pytest

from components.deployed.timeline import MARK, Release, Timeline, timeline

IMAGES = {1: "r/a/s@sha256:1", 2: "r/a/s@sha256:2", 3: "r/a/s@sha256:3"}


def at(minute: float) -> str:
    return f"2026-11-18T{int(minute // 60):02}:{int(minute % 60):02}:{int(minute * 60 % 60):02}.5Z"


def deployment(minute: float, version: str, message: str = "") -> dict[str, Any]:
    annotations = {"workers/message": message} if message else {}
    shares = [{"version_id": version, "percentage": 90}, {"version_id": "other", "percentage": 10}]
    return {"created_on": at(minute), "versions": shares, "annotations": annotations}


def rollout(minute: float, before: int, after: int, status: str = "completed", text: str = "") -> dict[str, Any]:
    return {
        "created_at": at(minute),
        "status": status,
        "description": text,
        "current_configuration": {"image": IMAGES[before]},
        "target_configuration": {"image": IMAGES[after]},
    }


def of(deployments: list[dict[str, Any]], rollouts: list[dict[str, Any]], live: int = 1) -> Timeline:
    return timeline(deployments, {"main": rollouts}, {"main": IMAGES[live]})


def told(found: Timeline) -> list[tuple[str, str]]:
    return [(each.version_id, each.images["main"][-1]) for each in found.releases]


def test_what_begins_together_is_one_release():
    found = of([deployment(60, "v2"), deployment(0, "v1")], [rollout(60.1, 1, 2)], live=2)
    assert told(found) == [("v2", "2"), ("v1", "1")]
    assert found.before() == found.releases[1]


def test_an_image_alone_is_a_release_too():
    found = of([deployment(0, "v1")], [rollout(60, 2, 3), rollout(30, 1, 2)], live=3)
    assert told(found) == [("v1", "3"), ("v1", "2"), ("v1", "1")]
    assert len({each.name for each in found.releases}) == 3
    assert len(found.named("v1")) == 0  # too short to mean something
    assert found.named(found.releases[1].name) == [found.releases[1]]


def test_the_worker_alone_is_a_release_too_and_needs_no_rollout():
    found = of([deployment(1, "v2"), deployment(0, "v1")], [])
    assert told(found) == [("v2", "1"), ("v1", "1")]


def test_a_release_whose_rollout_was_taken_back_is_not_gone_back_to():
    """At once, so that nothing new has run, and after a long time, so that new code has run with the old image."""
    soon = of([deployment(60.2, "v1"), deployment(60, "v2"), deployment(0, "v1")], [rollout(60.1, 1, 2, "reverted")])
    assert told(soon) == [("v1", "1")]
    assert soon.before() is None
    late = of([deployment(80, "v1"), deployment(60, "v2"), deployment(0, "v1")], [rollout(60.1, 1, 2, "reverted")])
    assert (told(late)[1], late.releases[1].failed, late.before()) == (("v2", "1"), True, None)


def test_after_a_rollback_the_one_before_is_older_still():
    mark = f"{MARK}x"
    found = of(
        [deployment(90, "v2", mark), deployment(60, "v3"), deployment(30, "v2"), deployment(0, "v1")],
        [rollout(90.1, 3, 2, text=mark), rollout(60.1, 2, 3), rollout(30.1, 1, 2)],
        live=2,
    )
    assert told(found) == [("v2", "2"), ("v3", "3"), ("v2", "2"), ("v1", "1")]
    before = found.before()
    assert before
    assert (before.version_id, found.going_back) == ("v1", "x")


@pytest.mark.parametrize(("replaced", "seen"), [("replaced", "1"), ("progressing", "1"), ("completed", "2")])
def test_only_a_rollout_that_completed_changes_the_image(replaced: str, seen: str):
    assert told(of([deployment(0, "v1")], [rollout(30, 1, 2, replaced)]))[0] == ("v1", seen)


def test_a_worker_without_a_deployment_has_no_releases():
    assert of([], []).releases == ()


def test_the_same_is_the_same_whenever_it_began():
    one, two = (of([deployment(minute, "v1")], []).live for minute in (0, 30))
    assert one != two
    assert one.is_same(two)
    assert one.name == two.name
    assert Release("v1", {}, one.since).name == "v1"
