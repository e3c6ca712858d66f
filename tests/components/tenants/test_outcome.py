"""What became of each tenant, for people and for programs, and why."""

import json

from components.tenants.outcome import Outcome, Outcomes, Status
from components.tenants.reasons import Complaint, is_cancelled, reason

FOUND = Outcomes(
    (
        Outcome("acme", Status.CHANGED, 12.34, {"created": 5, "deleted": 0}, {"api_url": "https://a"}),
        Outcome("globex", Status.FAILED, 3.0, why="image: gone"),
        Outcome("initech", Status.NOT_BEGUN, why="interrupted before its turn"),
    )
)


def test_the_table_says_which_and_why():
    assert FOUND.table().splitlines() == [
        "TENANT   STATUS     SECONDS  CHANGES AND WHY",
        "acme     changed       12.3  5 created",
        "globex   failed         3.0  image: gone",
        "initech  not begun           interrupted before its turn",
        "1 changed, 1 failed, 1 not begun",
    ]
    assert Outcomes(()).table().endswith("no tenants")


def test_programs_get_a_document():
    document = json.loads(json.dumps(FOUND.document()))
    assert document["good"] is False
    assert document["tenants"][0] == {
        "tenant": "acme",
        "status": "changed",
        "seconds": 12.34,
        "changes": {"created": 5, "deleted": 0},
        "outputs": {"api_url": "https://a"},
        "why": "",
    }
    assert [each.tenant for each in FOUND.failed] == ["globex", "initech"]
    assert FOUND["acme"].good


STACK = "urn:pulumi:acme::customers::pulumi:pulumi:Stack::customers-acme"
WORKER = "urn:pulumi:acme::customers::cloudflare-sandbox:index:WorkerScript::acme-worker"


def test_the_cause_is_the_first_complaint_that_is_none_of_the_engines_summaries():
    said = [
        Complaint(STACK, "update failed"),
        Complaint(WORKER, "<{%fg 1%}>error: <{%reset%}>PUT: refused\n  because"),
        Complaint(STACK, "something later"),
    ]
    assert reason(said, "", []) == "acme-worker: PUT: refused because"
    assert reason(said[2:], "", []) == "something later"
    assert reason(said[:1], "", []) == "update failed"


def test_an_engine_that_sends_no_events_is_read():
    assert reason([], "code: 255\nstderr: error: no passphrase\nmore", []) == "no passphrase"
    assert reason([], "", []) == "the engine did not say why"


def test_no_secret_and_no_traceback_is_told():
    text = 'boom s3cret\nTraceback (most recent call last):\n  File "x"\nValueError: s3cret'
    assert reason([Complaint("", text)], "", ["s3cret", ""]) == "boom [secret]"
    bare = 'Traceback (most recent call last):\n  File "x"\nValueError: wrong'
    assert reason([Complaint("", bare)], "", []) == "ValueError: wrong"
    assert len(reason([Complaint("", "x" * 5000)], "", [])) == 400


def test_a_run_that_was_stopped_is_known():
    assert is_cancelled([Complaint("", "<{%reset%}>update canceled")], "")
    assert not is_cancelled([Complaint("", "update failed")], "code: 255")


def test_a_secret_of_several_lines_is_hidden_too():
    key = "-----BEGIN KEY-----\nMIGH\n-----END KEY-----\n"
    assert reason([Complaint("", f"cannot use:\n{key}")], "", [key, "\n"]) == "cannot use: [secret]"
