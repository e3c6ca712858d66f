"""`sandbox-stack pr`: what it refuses before anything is asked, and what it says; tests/engine runs the rest."""

import json
import os
from pathlib import Path

import pytest

from components import cli
from components.commands import pull_requests as command
from components.commands.exits import Exit
from components.pull_requests.sweep import Fate, Report, Row

STRANGERS = ("GITHUB_", "CI_", "GITLAB_", "CLOUDFLARE_")


@pytest.fixture(autouse=True)
def no_job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith(STRANGERS)]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Pulumi.yaml").write_text("name: box\nruntime: python\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("sweep", "--number", "7"), "--number is for up and down, not sweep"),
        (("down", "--number", "7", "--from", "dev"), "--from is for up, not down"),
        (("up", "--number", "7", "--dry-run"), "--dry-run is for sweep, not up"),
        (("up", "--from", "dev"), "up needs --number"),
        (("up", "--number", "7"), "up needs --from"),
        (("down",), "down needs --number"),
        (("up", "--number", "7", "--from", "dev", "--expires-in", "soon"), "--expires-in soon: is no time"),
        (("up", "--number", "7", "--from", "dev"), "CLOUDFLARE_ACCOUNT_ID: is not set"),
        (("up", "--number", "7", "--from", "dev", "--comment"), "--comment needs a repository to ask"),
        (("sweep",), "a sweep needs a repository to ask"),
    ],
)
def test_what_cannot_be_done_is_told_at_once(
    arguments: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["pr", *arguments]) == Exit.REFUSED
    said = capsys.readouterr().err
    assert said.startswith(told)
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("option", "value"),
    [("--number", "0"), ("--number", "x"), ("--number", "1" * 400), ("--budget", "-1"), ("--parallel", "99")],
)
def test_values_that_are_none_are_refused(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["pr", "up", option, value])
    assert ended.value.code == Exit.REFUSED
    assert "is not" in capsys.readouterr().err


def test_a_fork_gets_no_stack_and_one_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sides = {"head": {"repo": {"full_name": "stranger/r"}}, "base": {"repo": {"full_name": "o/r"}}}
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": sides}))
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    assert cli.main(["pr", "up", "--number", "7", "--from", "dev", "--comment"]) == Exit.DONE
    said = capsys.readouterr().out
    assert said == (
        "request 7: it comes from a fork, whose code must not run with the account's token, so it gets no stack\n"
    )


def test_the_table_says_what_became_of_each() -> None:
    report = Report(
        (
            Row(7, "pr-7", Fate.STAYS, "open, until tomorrow"),
            Row(12, "pr-12", Fate.GONE, "the request is closed", ("Worker script a", "image b")),
            Row(13, "pr-13", Fate.FAILED, "the request is closed; pulumi destroy: one\ntwo"),
        ),
        ("queues cannot be read",),
    )
    assert report.failed
    assert command._table(report).splitlines() == [
        "pr-7   stays   open, until tomorrow",
        "pr-12  gone    the request is closed",
        "               not in its state: Worker script a, image b",
        "pr-13  failed  the request is closed; pulumi destroy: one",
        "               two",
        "not looked for: queues cannot be read",
        "1 stays, 1 gone, 1 failed",
    ]
    assert command._table(Report(())) == "No request has a stack.\n"
