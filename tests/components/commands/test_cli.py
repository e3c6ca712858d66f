"""`sandbox-stack` as a whole: what shows the way, what all commands have, and how they end."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from components import cli
from components.commands import terminal
from components.commands.exits import MEANINGS, Exit
from components.version import VERSION
from tests.components.check.test_command import DRIFTED
from tests.components.check.test_corpus import write
from tools.paths import ROOT, VENV

PROGRAM = [sys.executable, "-m", "components"]


def options(name: str) -> dict[str, list[str] | None]:
    """Return the options of a command with their choices."""
    (commands,) = (each for each in cli.parser(name)._actions if each.dest == "command")
    own = commands.choices[name]  # type: ignore[index]  # it is a mapping of parsers
    return {option: each.choices for each in own._actions for option in each.option_strings}


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_speaks_to_people_and_to_programs(name: str):
    formats = options(name)["--format"]
    assert formats is not None
    assert formats[:2] == ["text", "json"]


def test_help_names_every_command_and_loads_none(capsys: pytest.CaptureFixture[str]):
    probe = "import sys; from components.cli import parser; print(parser().format_help()); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    shown, _, modules = done.stdout.rstrip().rpartition("\n")
    assert [name for name, command in cli.COMMANDS.items() if command.summary not in shown] == []
    loaded = {name for name in modules.split() if name.startswith("components.")}
    own = {"cli", "commands", "commands.exits", "errors", "version"}
    assert loaded == {f"components.{name}" for name in own}
    assert cli.main([]) == Exit.REFUSED
    assert capsys.readouterr().err.rstrip() == shown.rstrip()


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_only_the_command_that_is_asked_for_is_loaded(name: str):
    probe = f"import sys; from components.cli import parser; parser({name!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    others = {f"components{command.module}" for other, command in cli.COMMANDS.items() if other != name}
    assert not others & set(done.stdout.split())


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert (ended.value.code, capsys.readouterr().out) == (0, f"sandbox-stack {VERSION}\n")


def test_set_up_provides_the_command_in_a_checkout():
    done = subprocess.run([VENV / "bin" / "sandbox-stack", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"sandbox-stack {VERSION}\n")


def test_every_exit_code_has_a_meaning():
    assert list(MEANINGS) == list(Exit)


def test_a_key_for_programs_is_one_document(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["key", "--tenant", "team", "--scopes", "exec", "--format", "json"]) == Exit.DONE
    out = capsys.readouterr()
    found = json.loads(out.out)
    (kept,) = found["settings"]["access"]["api_keys"].values()
    assert (out.err, kept["tenant"], found["key"][:4]) == ("", "team", "sbx_")
    assert found["key"] not in json.dumps(found["settings"])


def test_a_reader_that_leaves_is_no_accident():
    theirs, ours = os.pipe()
    os.close(theirs)
    argv = [*PROGRAM, "key", "--tenant", "a", "--scopes", "*"]
    with os.fdopen(ours, "w") as unread:
        done = subprocess.run(argv, cwd=ROOT, stdout=unread, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (Exit.UNREAD, False)


@pytest.fixture
def at_a_terminal(tmp_path: Path) -> Callable[..., str]:
    """Run the check of a project with a mandatory finding where a person sits."""
    write(tmp_path, DRIFTED)

    def run(**environment: str) -> str:
        ours, theirs = pty.openpty()
        argv = [*PROGRAM, "check", "--today", "2026-11-16", str(tmp_path)]
        plain = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        env = {**plain, "TERM": "xterm", **environment}
        with subprocess.Popen(argv, cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
            os.close(theirs)
            shown = b""
            with os.fdopen(ours, "rb", buffering=0) as screen:
                try:
                    while part := screen.read(65536):
                        shown += part
                except OSError:  # how Linux says that nobody holds the other end
                    pass
            assert process.wait() == 1
        return shown.decode()

    return run


def test_colours_are_for_terminals_that_want_them(at_a_terminal: Callable[..., str]):
    assert at_a_terminal().startswith("\x1b[31mmandatory\x1b[0m: ")
    assert at_a_terminal(NO_COLOR="1").startswith("mandatory: ")
    assert at_a_terminal(TERM="dumb").startswith("mandatory: ")


def test_progress_is_for_terminals(capsys: pytest.CaptureFixture[str]):
    terminal.progress("1 of 2", sys.stderr)
    assert capsys.readouterr().err == ""


def test_help_begins_with_the_way_without_an_account():
    assert "sandbox-stack local up " in cli.parser().format_help().partition("start:")[0]
