"""Asking: what applies, what is proposed, and what is asked again."""

import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from components.init.answers import Answers
from components.init.asking import asked
from components.init.questions import QUESTIONS, missing, name_from, settled, shown
from tools.paths import ROOT


def conversation(replies: dict[str, list[str]], folder: str = "demo", **given: Any) -> tuple[Answers, list[str], str]:
    """Ask, and reply by the beginnings of questions, with nothing to all others; give the questions that were asked."""
    left = {question: [*answers] for question, answers in replies.items()}
    heard: list[str] = []

    def listen() -> str:
        question = heard[-1]
        found = next((each for each in left if question.startswith(each)), "")
        return left[found].pop(0) if found and left[found] else ""

    answers = asked(given, folder, listen, heard.append)
    assert not any(left.values()), f"never asked: {left}"
    return answers, [each for each in heard if each.endswith("]: ")], "".join(heard)


def test_nothing_said_is_what_is_usual():
    answers, questions, _ = conversation({})
    assert answers == settled({}, "demo") == Answers(name="demo")
    assert questions[0] == "Name of the project, with which the names of all that is made begin [demo]: "
    # Without previews there is no zone, with the default image no pip, and without Access nobody to pass.
    untold = {"pip", "zone", "api_hostname", "team", "people"}
    assert len(questions) == len(QUESTIONS) - len(untold)


def test_an_answer_brings_further_questions():
    answers, _, _ = conversation(
        {
            "Image": ["python"],
            "Python packages": ["polars==1.31.0, uvicorn[standard,extra]==0.30.0"],
            "Host below": ["previews.example.com"],
            "Zone": ["example.com"],
            "Who may call": ["access"],
            "Domain of the Access team": ["", "team.cloudflareaccess.com"],
            "Who may pass": ["none", "ada@example.com example.org"],
            "What to keep": ["none"],
            "Most sandboxes": ["3"],
            "Write a dev": ["y"],
        }
    )
    assert answers == Answers(
        name="demo",
        variant="python",
        pip=("polars==1.31.0", "uvicorn[standard,extra]==0.30.0"),
        hostname="previews.example.com",
        zone="example.com",
        api_hostname="api.previews.example.com",
        callers="access",
        team="team.cloudflareaccess.com",
        people=("ada@example.com", "example.org"),
        storage=(),
        max_instances=3,
        devcontainer=True,
    )


@pytest.mark.parametrize(
    ("question", "replies", "message"),
    [
        ("Name of the project", ["../etc", "fine"], "name: use 1 to 32 lower-case letters, digits and hyphens"),
        ("Image", ["plan9", "musl"], "choose one of default, python, opencode, musl"),
        ("Most", ["many", "0", "2"], "give a whole number\n"),
        ("Host below", ["x.workers.dev", "none"], "domain.hostname: previews need a wildcard, which workers.dev"),
        ("Write a dev", ["maybe", "no"], "answer yes or no"),
        ("Who may call", ["access", "keys"], "access.zero_trust: there are no hosts to stand before"),
    ],
)
def test_an_answer_that_cannot_be_used_is_asked_for_again(question: str, replies: list[str], message: str):
    _, questions, told = conversation({question: replies})
    assert message in told
    assert sum(each.startswith(question) for each in questions) == len(replies)


def test_what_was_given_is_not_asked():
    answers, questions, _ = conversation({}, name="given", worker="own", storage=("files",))
    assert (answers.name, answers.worker, answers.storage) == ("given", "own", ("files",))
    assert not [each for each in questions if each.startswith(("Name of the project", "The Worker", "What to keep"))]


def test_what_is_shown_as_usual_can_be_answered():
    for question in QUESTIONS:
        usual = getattr(Answers(name="demo"), question.field)
        assert question.read(shown(usual)) == usual


def test_only_what_applies_can_be_missing():
    assert [each.option for each in missing(settled({}, "/"))] == ["--name"]
    assert [each.option for each in missing(settled({"callers": "access"}, "demo"))] == ["--team", "--people"]


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("demo", "demo"),
        ("My Project_2", "my-project-2"),
        ("2024-plans", "plans"),
        ("..", ""),
        ("", ""),
        ("日本", ""),
        ("a" * 50, "a" * 32),
        ("--x--", "x"),
    ],
)
def test_a_folder_gives_a_name_if_it_can(folder: str, name: str):
    assert name_from(folder) == name


@contextmanager
def person(folder: Path, *options: str) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """Start the command where a person sits, and give it with the person's end of the terminal."""
    ours, theirs = pty.openpty()
    argv = [sys.executable, "-m", "components", "init", str(folder), *options]
    with subprocess.Popen(
        argv, cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        yield process, ours
        os.close(ours)


def until(terminal: int, wanted: str) -> str:
    """Read the screen until a text is there, or the command has ended."""
    seen = ""
    while wanted not in seen:
        try:
            seen += os.read(terminal, 65536).decode()
        except OSError:  # how Linux says that nobody holds the other end
            break
    return seen.replace("\r\n", "\n")


def answer(terminal: int, replies: Iterable[str]) -> None:
    for reply in replies:
        until(terminal, "]: ")
        os.write(terminal, f"{reply}\n".encode())


def test_a_person_at_a_terminal_is_asked(tmp_path: Path):
    with person(tmp_path / "demo", "--worker", "ours") as (process, terminal):
        answer(terminal, ["Bad Name", "mine", *[""] * (len(QUESTIONS) - 7)])
        shown_last = until(terminal, "nothing of the kind")
        assert process.wait() == 0, shown_last
    assert "name: mine\n" in (tmp_path / "demo" / "Pulumi.yaml").read_text()
    assert re.search(r"Next:\n  cd \S+demo && .+\n  pulumi stack init dev && pulumi up\n", shown_last)


@pytest.mark.parametrize(
    ("ends", "code", "line"),
    [
        ("\x04", 2, "The answers ended; nothing was written.\n"),
        (signal.SIGINT, 130, "Interrupted; nothing was written.\n"),
        (signal.SIGTERM, 130, "Interrupted; nothing was written.\n"),
    ],
    ids=["end of input", "Ctrl-C", "SIGTERM"],
)
def test_who_leaves_while_being_asked_leaves_nothing(ends: Any, code: int, line: str, tmp_path: Path):
    with person(tmp_path / "demo") as (process, terminal):
        answer(terminal, ["mine"])
        until(terminal, "]: ")
        if isinstance(ends, str):
            os.write(terminal, ends.encode())
        else:
            process.send_signal(ends)
        shown_last = until(terminal, "nothing of the kind")
        assert (process.wait(), shown_last.lstrip("\n").endswith(line)) == (code, True), shown_last
    assert "Traceback" not in shown_last
    assert [*tmp_path.iterdir()] == []
