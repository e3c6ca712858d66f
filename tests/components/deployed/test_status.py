"""What makes a stack unhealthy, by name."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from components.deployed.history import Update
from components.deployed.live import LiveKind, LiveWorker
from components.deployed.stack import Kind, Worker
from components.deployed.status import Found, document, is_moving, notes, problems, text

NOW = datetime(2026, 11, 18, tzinfo=UTC)
KIND = Kind("main", "Sandbox", "app", "r/a/s@sha256:1", managed=False, urn="urn:app")
WORKER = Worker("a" * 32, "w", "v1", "0.12.10", "urn:pulumi:dev::p::t::w", (KIND,))
APPLICATION = {"health": {"instances": {"active": 2, "failed": 0}, "errors": []}}
LIVE_KIND = LiveKind(APPLICATION, None, KIND.image, image_found=True, sdk_version="0.12.10")
SERVING = {"versions": [{"version_id": "v1", "percentage": 100}], "created_on": "2026-11-18T00:00:00Z"}
ERROR = {"event": {"name": "ImagePullError", "message": "no layer"}}


def update(result: str = "succeeded", **key: str) -> Update:
    settings = {"access": {"api_keys": {"team": {"tenant": "t", **key}}}}
    return Update("update", result, "then", "later", "by\x1b[31m hand\nmore", "c" * 40, settings)


def found(kind: LiveKind = LIVE_KIND, *updates: Update, serving: Any = SERVING, interrupted: tuple[str, ...] = ()):
    live = LiveWorker(serving, {"number": 3, "annotations": {"workers/tag": "r3"}}, {"main": kind})
    return Found("dev", [(WORKER, live)], interrupted, updates or (update(),), NOW)


def test_a_healthy_stack():
    whole = found()
    assert (problems(whole), notes(whole), is_moving(whole)) == ([], [], False)
    shown = text(whole)
    assert shown.splitlines()[-1] == "healthy"
    assert "2 active" in shown
    assert "\x1b" not in shown
    assert "more" not in shown


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        (LiveKind(), "w/main: its container application is gone"),
        (replace(LIVE_KIND, image="r/a/s@sha256:2"), "w/main: image r/a/s@sha256:2 is deployed"),
        (replace(LIVE_KIND, image_found=False), "w/main: the registry does not have its image"),
        (replace(LIVE_KIND, sdk_version="0.12.9"), "w/main: its image is of SDK 0.12.9, and the Worker of 0.12.10"),
        (replace(LIVE_KIND, application={"health": {"errors": [ERROR]}}), "complain: ImagePullError: no layer"),
        (replace(LIVE_KIND, application={"health": {"summary": "degraded"}}), "complain: degraded"),
        (
            replace(LIVE_KIND, rollout={"status": "progressing", "health": {"errors": [ERROR]}}),
            "w/main: its rollout cannot complete: progressing; ImagePullError: no layer",
        ),
    ],
)
def test_what_is_wrong_with_a_kind_is_named(kind: LiveKind, problem: str):
    (told,) = problems(found(kind))
    assert problem in told
    assert not document(found(kind))["healthy"]


def test_what_is_wrong_elsewhere_is_named():
    nothing: Any = None
    assert "the account has no such Worker" in problems(found(serving=nothing))[0]
    other = {"versions": [{"version_id": "v2", "percentage": 60}, {"version_id": "v1", "percentage": 40}]}
    assert problems(found(serving=other))[0].startswith("w: version v2 serves, and the state says v1")
    assert document(found(serving=other))["workers"][0]["sdk_version"] is None
    assert problems(found(interrupted=("x",))) == ["x: an operation was cut off; run `pulumi up` to finish it"]
    assert problems(found(LIVE_KIND, update("failed"))) == [
        "the last deployment, of then, failed; run `pulumi up` again"
    ]


def test_a_rollout_that_goes_well_is_no_problem():
    seen = replace(LIVE_KIND, image="r/a/s@sha256:2", rollout={"status": "progressing"})
    assert (problems(found(seen)), is_moving(found(seen))) == ([], True)
    assert "rollout   progressing" in text(found(seen))


def test_keys_that_are_old_or_have_ended_are_noted():
    assert notes(found(LIVE_KIND, update(created="2025-11-18"))) == []
    assert notes(found(LIVE_KIND, update(created="2025-11-17"))) == [
        "key team is 366 days old; replace it: sandbox-stack key rotate --id team"
    ]
    ended = found(LIVE_KIND, update(not_after="2026-11-18T00:00:00Z"))
    assert notes(ended) == ["key team has ended; take it out: delete it from access.api_keys"]
    replaced = {"access": {"api_keys": {"team.until-2026-11-17": {"not_after": "2026-11-17T00:00:00Z"}}}}
    assert notes(found(LIVE_KIND, replace(update(), settings=replaced))) == [
        "key team.until-2026-11-17 has ended; take it out: sandbox-stack key rotate --id team --finish"
    ]
    assert document(ended)["keys"][0]["ended"] is True
    assert document(found(LIVE_KIND, update("failed", created="2020-01-01"), update()))["keys"][0]["days"] is None
