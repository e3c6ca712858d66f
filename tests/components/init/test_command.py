"""`sandbox-stack init` as scripts call it: options, refusals, what it prints, and what it loads."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from components.cli import main
from components.init import origin
from components.platform.sdk import SDK_VERSION
from tests.components.init.answers import PACKAGE
from tests.components.init.test_plan import DEFAULT, EVERYTHING
from tests.components.init.test_writing import tree
from tools.paths import ROOT


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["init", *arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_it_writes_checks_and_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "my stack", "--package", PACKAGE)
    assert (code, err) == (0, "")
    assert out == (
        "Wrote in my stack:\n  .gitignore\n  Pulumi.dev.yaml\n  Pulumi.yaml\n  __main__.py\n  requirements.txt\n"
        "1 project: 0 mandatory, 0 advisory findings\n"
        "\n"
        "Next:\n"
        "  cd 'my stack' && python3 -m venv .venv && .venv/bin/pip install --quiet --requirement requirements.txt\n"
        "  pulumi stack init dev && pulumi up\n"
        "\n"
        "Account and token are taken from CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN.\n"
        "Without an account, on this machine: `sandbox-stack local up`.\n"
        "Nobody may call yet: `sandbox-stack key --tenant team --scopes '*'` makes a key and prints the lines for "
        "Pulumi.dev.yaml.\n"
    )
    assert sorted(tree(tmp_path / "my stack")) == DEFAULT
    assert PACKAGE in (tmp_path / "my stack" / "requirements.txt").read_text().splitlines()


def test_every_question_is_an_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    said = "--name demo --stack prod --environment lasting --worker own --variant python --dockerfile --devcontainer"
    said += " --instance-type standard-1 --max-instances 20 --hostname previews.example.com --zone example.com"
    said += " --api-hostname api.example.com --callers access --team team.cloudflareaccess.com --people a@example.com"
    said += " --storage files,events --pipeline github --format json"
    packages = ["--pip", "polars==1.31.0 numpy==2.2.0", "--pip", "httpx==0.28.1", "--apt", "jq=1.6-2.1ubuntu3"]
    code, out, _ = run(capsys, str(tmp_path / "new"), *said.split(), *packages)
    told = json.loads(out)
    assert code == 0
    assert told["files"] == [name.replace("Pulumi.dev", "Pulumi.prod") for name in EVERYTHING]
    assert told["findings"] == []
    assert told["next"][1] == "pulumi stack init prod && pulumi up"
    dockerfile = (tmp_path / "new" / "Dockerfile").read_text()
    assert all(each in dockerfile for each in (f"{SDK_VERSION}-python", "polars==1.31.0", "httpx==0.28.1", "jq=1.6"))


def test_what_is_there_stays_and_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "__main__.py").write_text("mine")
    (tmp_path / ".gitignore").write_text("mine")
    for options in ([], ["--dry-run"]):
        code, out, err = run(capsys, str(tmp_path), "--name", "demo", *options)
        assert (code, out) == (2, "")
        assert err == (
            "These are there already and stay as they are; nothing was written:\n"
            f"  {tmp_path}/.gitignore\n  {tmp_path}/__main__.py\n"
        )
    assert tree(tmp_path) == {"__main__.py": "mine", ".gitignore": "mine"}


def test_a_dry_run_shows_everything_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    where = [str(tmp_path / "demo"), "--package", PACKAGE, "--worker", "own"]
    code, text, _ = run(capsys, *where, "--dry-run")
    assert code == 0
    _, out, _ = run(capsys, *where, "--dry-run", "--format", "json")
    told = json.loads(out)
    assert [*tmp_path.iterdir()] == []
    run(capsys, *where)
    assert told["files"] == tree(tmp_path / "demo")
    assert all(f"==> {name}\n{content}\n" in text for name, content in told["files"].items())


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["--name", "../x"], ["name: use 1 to 32 lower-case letters, digits and hyphens, starting with a letter,"]),
        (["--stack", "../x"], ["stack: use 1 to 100 letters, digits, hyphens and underscores"]),
        (["--callers", "access", "--hostname", "p.example"], ["--team is needed: ", "--people is needed: "]),
        (["--zone", "example.com"], ["--zone: has no effect with the other answers"]),
        (
            ["--pip", "polars"],
            ["image.pip: 'polars' is no Python package with its version; pin it exactly", "image.pip"],
        ),
    ],
)
def test_what_cannot_be_made_is_one_message(
    arguments: list[str], lines: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    code, out, err = run(capsys, str(tmp_path / "demo"), "--yes", *arguments)
    head, *told = err.splitlines()
    assert (code, out) == (2, "")
    assert head == "The project cannot be made as asked; nothing was written:"
    assert [each.strip().startswith(line) for each, line in zip(told, lines, strict=True)] == [True] * len(lines)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    "arguments",
    [["--max-instances", "many"], ["--variant", "plan9"], ["--package", "a\nb"], ["--instance-type", "huge"]],
)
def test_options_of_another_kind_are_usage_errors(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stopped:
        run(capsys, *arguments)
    assert stopped.value.code == 2


def test_a_folder_without_a_usable_name_needs_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    _, _, err = run(capsys, str(tmp_path / "日本"), "--yes")
    assert "--name is needed: " in err
    assert run(capsys, str(tmp_path / "日本"), "--yes", "--name", "japan")[0] == 0


def test_nobody_is_asked_where_nobody_sits(tmp_path: Path):
    argv = [sys.executable, "-m", "components", "init", str(tmp_path / "demo"), "--format", "json"]
    done = subprocess.run(argv, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, json.loads(done.stdout)["written"]) == (0, "", True)


def test_its_options_load_nothing_heavy():
    probe = "import sys; from components.cli import parser; parser('init'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"pydantic", "jinja2", "yaml", "pulumi"} & set(done.stdout.split())


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ({"url": "file:///srv/package", "dir_info": {}}, "file:///srv/package"),
        (
            {"url": "https://git.example/p.git", "vcs_info": {"vcs": "git", "commit_id": "c" * 40}},
            f"git+https://git.example/p.git@{'c' * 40}",
        ),
        (
            {"url": "https://token@git.example/p.git", "vcs_info": {"vcs": "git", "commit_id": "c" * 40}},
            f"git+https://git.example/p.git@{'c' * 40}",
        ),
        (
            {
                "url": "ssh://git:secret@git.example/p",
                "subdirectory": "x",
                "vcs_info": {"vcs": "git", "commit_id": "1"},
            },
            "git+ssh://git@git.example/p@1#subdirectory=x",
        ),
        (
            {"url": "https://u:p@files.example/p.whl", "archive_info": {"hashes": {"sha256": "ab"}}},
            "https://files.example/p.whl#sha256=ab",
        ),
    ],
    ids=["folder", "git", "token", "ssh", "archive"],
)
def test_a_project_gets_the_package_from_where_this_one_came(told: dict[str, Any], line: str):
    assert origin.address(told) == line


def test_in_a_checkout_it_is_the_checkout():
    assert origin.requirement() == f"pulumi-cloudflare-sandbox @ {ROOT.as_uri()}"
