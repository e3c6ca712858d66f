"""What a user can get wrong with any command ends with one message and the exit code for it, never with a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from components import cli
from components.commands.exits import Exit

ROOT = Path(__file__).resolve().parents[3]
COMMANDS: list[list[str]] = [
    ["check"],
    ["check", "--exceptions"],
    ["check", "--severity"],
    ["cost"],
    ["cost", "--preview"],
    ["cost", "--stack"],
    ["doctor"],
    ["doctor", "--stack"],
    ["export"],
    ["export", "--stack"],
    ["import"],
    ["import", "--into"],
    ["orphans"],
    ["orphans", "--project"],
    ["orphans", "--yes", "--delete-listed"],
    ["smoke", "http://127.0.0.1:9", "--key-file"],
    ["smoke"],
    ["local", "up", "--worker"],
]
"""Each takes what is wrong as its last argument."""
WRONG = ["no/such", "empty", "binary", "loop", "a\nb", "x" * 5000, "caf\u00e9", "\udcff", "1" * 400]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("wrong", WRONG, ids=lambda text: ascii(text[:8]))
def test_a_mistake_is_told_and_refused(
    command: list[str], wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    for name in ("SANDBOX_API_KEY", "CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "empty").mkdir()
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    (tmp_path / "loop").symlink_to("loop")
    assert cli.main([*command, wrong]) == Exit.REFUSED
    told = capsys.readouterr().err
    assert told.strip()
    assert "Traceback" not in told


@pytest.mark.parametrize("wrong", ["binary/below", "loop/below", "loop", "x" * 5000, "shut/below"])
@pytest.mark.parametrize(
    "command",
    [["export", "--out"], ["import", "--into"], ["init", "--yes"], ["cost", "--workload", "--svg"]],
    ids=" ".join,
)
def test_a_place_that_cannot_be_written_is_told_and_refused(
    command: list[str], wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "binary").write_bytes(b"0")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "shut").mkdir(mode=0o500)
    if wrong.startswith("shut") and os.access(tmp_path / "shut", os.W_OK):
        pytest.skip("nothing is shut to this user")
    (tmp_path / "Pulumi.yaml").write_text("name: box\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config:\n  box:settings:\n    environment: throw-away\n")
    (tmp_path / "wrangler.json").write_text('{"name": "box", "main": "a.js"}')
    assert cli.main([*command, wrong]) == Exit.REFUSED
    told = capsys.readouterr().err
    assert wrong.partition("/")[0][:40] in told
    assert "Traceback" not in told


@pytest.mark.parametrize("option", ["--project", "--folder"])
def test_links_in_a_circle_are_told_and_refused(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    assert cli.main(["local", "up", option, "loop"]) == Exit.REFUSED
    assert capsys.readouterr().err.startswith("loop: ")


def test_a_file_of_the_package_that_is_missing_is_no_mistake_of_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("components.bundle.packaged.file", lambda name: tmp_path / "gone" / name)
    with pytest.raises(FileNotFoundError):
        cli.main(["init", "--yes", "new"])


def test_an_output_that_is_closed_is_no_traceback():
    command = [sys.executable, "-m", "components", "check", "--help"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
