"""What a run changed, and what the comment says of it."""

import json
from datetime import UTC, datetime
from typing import Any

from components.pull_requests.comment import Told, body, gone, marker
from components.pull_requests.plan import Change, Plan, read_plan
from components.rules import Finding

JOB = "https://github.com/o/r/actions/runs/1"
GOES = "Goes when the request is closed, at the latest on 2027-01-31 12:00 UTC."
MOMENT = datetime(2027, 1, 31, 12, 0, tzinfo=UTC)


def event(op: str, name: str, *, kind: str = "resOutputsEvent", custom: bool = True, **more: Any) -> str:
    type_ = more.pop("type", "cloudflare-sandbox:index:WorkerScript")
    step = {"op": op, "type": type_, "urn": f"urn:pulumi:pr-7::p::{type_}::{name}", "new": {"custom": custom}, **more}
    return json.dumps({"sequence": 1, kind: {"metadata": step}})


def test_only_what_was_changed_is_read_and_no_value():
    log = [
        event("create", "made", new={"custom": True, "inputs": {"text": "a value"}}),
        event("update", "changed", diffs=["image", "bindings"]),
        event("same", "kept"),
        event("create", "component", custom=False),
        event("create", "default", type="pulumi:providers:cloudflare"),
        event("create-replacement", "replaced"),
        event("replace", "replaced", diffs=["name"]),
        event("delete-replaced", "replaced"),
        event("create", "broken", kind="resOpFailedEvent"),
        json.dumps({"summaryEvent": {}}),
        '{"cut o',
        "[]",
    ]
    plan = read_plan(log)
    assert plan == Plan(
        (
            Change("created", "WorkerScript", "made"),
            Change("updated", "WorkerScript", "changed", ("bindings", "image")),
            Change("replaced", "WorkerScript", "replaced", ("name",)),
        ),
        (Change("created", "WorkerScript", "broken"),),
    )
    assert plan.counts == {"created": 1, "updated": 1, "replaced": 1}
    assert "a value" not in repr(plan)


def test_a_comment_says_where_what_and_how_much():
    told = Told(
        "pr-7",
        "up",
        outputs={"api_url": "https://api-pr-7.example.com", "worker_name": "box-pr-7", "service_tokens": "[secret]"},
        plan=Plan((Change("created", "WorkerScript", "worker"),)),
        cost="| a table |",
        findings=(Finding("a/rule", "advisory", "Pulumi.pr-7.yaml:3", "it is @so", "why", "do `this`", "l", "2025"),),
        notes=("`worker.routes` are left out",),
        expires=MOMENT,
        run=JOB,
    )
    assert body("my box", told).splitlines() == [
        "<!-- sandbox-stack pr: mybox -->",
        "### Sandbox stack `pr-7`: up",
        "",
        "| | |",
        "|---|---|",
        "| API | <https://api-pr-7.example.com> |",
        "| Worker | `box-pr-7` |",
        "",
        "**What changed:** 1 created",
        "",
        "- created WorkerScript `worker`",
        "",
        "**Rules:** 0 mandatory, 1 advisory",
        "",
        "- advisory `a/rule` at `Pulumi.pr-7.yaml:3`: it is \\@so. do \\`this\\`",
        "",
        "| a table |",
        "",
        "**Different from the other stack:**",
        "",
        "- `worker.routes` are left out",
        "",
        f"<sub>{GOES} [The job]({JOB}) has the whole log.</sub>",
    ]


def test_a_huge_run_fits_a_comment_and_names_break_nothing():
    changes = tuple(Change("created", "R2Bucket", f"a`|{'x' * 500}{number}") for number in range(5000))
    text = body("p", Told("pr-7", "up", plan=Plan(changes)))
    assert len(text) < 65_536
    assert "and 4980 more" in text
    assert "a`|" not in text


def test_a_goodbye_has_the_marker_of_the_comment_it_takes_the_place_of():
    text = gone("p", "pr-7", "the request is closed", MOMENT)
    assert text.splitlines()[0] == marker("p")
    assert "Taken away completely on 2027-01-31 12:00 UTC: the request is closed." in text
