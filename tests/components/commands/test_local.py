"""`sandbox-stack local`: what it refuses before anything is started. tests/engine/test_anywhere.py runs it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from components import cli
from components.commands.exits import Exit
from components.commands.local import _ACTIONS
from tools.local import commands
from tools.paths import ROOT


def local(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "components", "local", *arguments, "--project", str(folder)]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("status", "--zone", "a.example"), "--zone is for up, not status"),
        (("up", "--force"), "--force is for down, not up"),
        (("up", "file"), "FILE is for save and load, not up"),
        (("logs", "--port", "1"), "--port is for up, not logs"),
        (("save",), "save needs a FILE"),
    ],
)
def test_options_of_other_actions_are_refused(
    arguments: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
):
    assert cli.main(["local", *arguments]) == Exit.REFUSED
    assert capsys.readouterr().err == f"{told}\n"


def test_a_port_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        cli.main(["local", "up", "--port", "70000"])
    assert (ended.value.code, "is not a port" in capsys.readouterr().err) == (Exit.REFUSED, True)


def test_without_a_project_one_sentence_says_so(tmp_path: Path):
    done = local("up", folder=tmp_path)
    assert (done.returncode, done.stdout) == (Exit.REFUSED, "")
    assert done.stderr == (
        f"no Pulumi project in {tmp_path}: there is no Pulumi.yaml. "
        "Go to the folder of a project, or make one with `sandbox-stack init`\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_stack_that_is_not_up_is_a_no_and_leaves_nothing(tmp_path: Path):
    (tmp_path / "Pulumi.yaml").write_text("name: demo\nruntime: python\n")
    done = local("status", folder=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[0]) == (Exit.NO, "demo/local is down.")
    assert local("logs", folder=tmp_path).returncode == Exit.REFUSED
    assert [path.name for path in tmp_path.iterdir()] == ["Pulumi.yaml"]


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(commands, "_NEEDED", ("json", "no_such_server"))
    assert commands.main(["status", "--project", "."]) == Exit.REFUSED
    assert capsys.readouterr().err == (
        "the emulator cannot run: these packages are missing: no_such_server. "
        f"Install them with the package: {sys.executable} -m pip install "
        f"'pulumi-cloudflare-sandbox[local] @ {ROOT.as_uri()}'\n"
    )


def test_the_page_names_every_action_and_no_other():
    page = (ROOT / "docs" / "local.md").read_text()
    table = re.findall(r"^\| (`.+?) \|", page.partition("| Action |")[2].partition("\n\n")[0], re.MULTILINE)
    named = [name.split()[0] for cell in table for name in re.findall(r"`([^`]+)`", cell)]
    assert named == ["up", "status", "logs", "env", "down", "save", "load"]
    assert sorted(named) == sorted(_ACTIONS)
    shown = re.findall(r"sandbox-stack (local [a-z]+(?: FILE)?)", page)
    assert len(shown) > 3
    assert all(cli.parser("local").parse_args(words.split()) for words in shown)
