"""The scripts that complete the command, as the shells themselves read them."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from components.cli import COMMANDS, main, parser
from components.completion.script import described, fish, quoted, script
from components.completion.words import commands

PROPOSE = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_sandbox_stack
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    for shell in ("bash", "zsh", "fish"):
        (tmp_path / shell).write_text(script(shell, parser(*COMMANDS)))
    return tmp_path


def proposed(scripts: Path, *words: str) -> list[str]:
    argv = ["bash", "--norc", "-c", PROPOSE, "bash", str(scripts / "bash"), *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_bash_proposes_what_can_be_typed(scripts: Path):
    assert proposed(scripts, "sandbox-stack", "") == [*COMMANDS, "--help", "--version"]
    assert proposed(scripts, "sandbox-stack", "in") == ["init"]
    assert proposed(scripts, "sandbox-stack", "check", "--f") == ["--format", "--fix"]
    assert proposed(scripts, "sandbox-stack", "check", "--format", "") == ["text", "json", "github", "sarif"]
    assert proposed(scripts, "sandbox-stack", "check", "--format", "=", "s") == ["sarif"]
    assert proposed(scripts, "sandbox-stack", "check", "--format", "=") == ["text", "json", "github", "sarif"]
    assert proposed(scripts, "sandbox-stack", "completion", "") == ["bash", "zsh", "fish"]
    # Nothing of ours: bash goes on to files.
    assert proposed(scripts, "sandbox-stack", "check", "--exceptions", "") == []
    assert proposed(scripts, "sandbox-stack", "check", "") == []


def test_every_option_of_every_command_is_proposed(scripts: Path):
    for command in commands(parser(*COMMANDS)):
        assert proposed(scripts, "sandbox-stack", command.name, "--") == [each.name for each in command.options]
        assert "--format" in [each.name for each in command.options]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_theirs(shell: str, scripts: Path):
    if not shutil.which(shell):
        pytest.skip(f"there is no {shell} here")
    done = subprocess.run([shell, "-n", str(scripts / shell)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("fish"), reason="there is no fish here")
def test_fish_proposes_what_can_be_typed(scripts: Path):
    ask = f"source {scripts / 'fish'}; complete -C 'sandbox-stack check --format '"
    done = subprocess.run(["fish", "--no-config", "-c", ask], capture_output=True, text=True, check=True)
    assert {line.split("\t")[0] for line in done.stdout.splitlines()} == {"text", "json", "github", "sarif"}


def test_what_shells_would_act_on_is_quoted():
    assert (quoted("it's $x"), fish("it's \\ $x")) == ("'it'\\''s $x'", "'it\\'s \\\\ $x'")
    assert described("a: [b] \\") == "a\\: \\[b\\] \\\\"


def test_the_command_prints_it(scripts: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["completion", "zsh"]) == 0
    assert capsys.readouterr().out == (scripts / "zsh").read_text()
    assert main(["completion", "fish", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"shell": "fish", "script": (scripts / "fish").read_text()}
