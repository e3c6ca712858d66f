"""What Pulumi installs the plugin from: the archives, their first start, and the folder for git addresses."""

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from tools import plugin
from tools.paths import ROOT

FOLDER = ROOT / "plugin"
ARCHIVE = FOLDER / "archive"


def test_an_archive_is_the_same_whoever_makes_it():
    made = plugin.archive({"b": b"two", plugin.PROGRAM: b"one"})
    assert made == plugin.archive({plugin.PROGRAM: b"one", "b": b"two"})
    with tarfile.open(fileobj=io.BytesIO(made)) as members:
        seen = [(each.name, each.mode, each.mtime, each.uid, each.uname) for each in members]
    assert seen == [("b", 0o644, 0, 0, ""), (plugin.PROGRAM, 0o755, 0, 0, "")]


def locked(path: Path) -> dict[str, str]:
    """Each package's lines, its marker left out: that says who asked for it."""
    entries = re.split(r"^(?=[a-z])", path.read_text(), flags=re.MULTILINE)
    found = (re.match(r"([a-z0-9_-]+)==(\S+)[^\n]*\n(.*)", each, re.DOTALL) for each in entries)
    return {match[1]: match[2] + match[3] for match in found if match}


def test_its_packages_are_those_that_are_tested():
    whole, mine = locked(ROOT / "requirements.lock"), locked(FOLDER / "requirements.txt")
    assert {name: text for name, text in mine.items() if whole.get(name) != text} == {}, "run `make lock`"
    assert all("--hash=sha256:" in text for text in mine.values())


def test_its_packages_are_all_that_it_needs():
    asked = [Requirement(line) for line in (ROOT / "requirements.txt").read_text().splitlines() if line[:1] != "#"]
    found: set[str] = set()
    while asked:
        name = asked.pop().name.lower().replace("_", "-")
        if name not in found:
            found.add(name)
            further = map(Requirement, metadata.requires(name) or [])
            asked += [each for each in further if not each.marker or each.marker.evaluate({"extra": ""})]
    assert found - {"pip"} <= set(locked(FOLDER / "requirements.txt"))


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """What an archive leaves, without the wheel."""
    for name, path in plugin.PARTS.items():
        shutil.copy(path, tmp_path / name)
    return tmp_path


def start(unpacked: Path, **env: str) -> subprocess.CompletedProcess[str]:
    argv = [unpacked / plugin.PROGRAM, "127.0.0.1:1"]
    return subprocess.run(argv, env={"PATH": os.environ["PATH"], **env}, capture_output=True, text=True, check=False)


def test_once_prepared_it_starts_at_once(unpacked: Path):
    python = unpacked / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$@"\n')
    python.chmod(0o755)
    (unpacked / ".venv" / ".complete").touch()
    done = start(unpacked, PYTHON="/nowhere")
    assert (done.stdout, done.stderr) == ("-P -m pulumi_cloudflare_sandbox.provider 127.0.0.1:1\n", "")


def test_without_python_it_says_one_sentence(unpacked: Path):
    done = start(unpacked, PYTHON="/nowhere")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: PYTHON is /nowhere, which is not a Python 3.11 or newer that runs.")
    assert done.stderr.count("\n") == 1


def test_packages_that_cannot_be_had_are_one_sentence_and_the_next_start_tries_again(unpacked: Path):
    (unpacked / "requirements.txt").write_text("annotated-types==0.0.0 --hash=sha256:" + "0" * 64 + "\n")
    (unpacked / ".venv" / "half").mkdir(parents=True)
    done = start(unpacked, PYTHON=sys.executable, PIP_NO_INDEX="1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: cannot prepare the plugin cloudflare-sandbox: No matching distribution found for annotated-types==0.0.0"
        ". pip's settings (PIP_INDEX_URL, PIP_FIND_LINKS, HTTPS_PROXY …) say where packages come from\n"
    )
    assert not (unpacked / ".venv" / "half").exists()
    assert not (unpacked / ".venv" / ".complete").exists()


def test_a_folder_that_cannot_be_written_to_is_one_sentence(unpacked: Path):
    (unpacked / ".preparing").mkdir()
    done = start(unpacked, PYTHON=sys.executable)
    assert done.returncode == 1
    assert done.stderr == (
        f"error: cannot prepare the plugin cloudflare-sandbox: {unpacked}/.preparing: is a directory. "
        "Fix that and try again\n"
    )


def test_the_folder_for_git_addresses_serves_the_plugin(tmp_path: Path):
    project = yaml.safe_load((FOLDER / "PulumiPlugin.yaml").read_text())
    assert project["runtime"]["name"] == "python"
    argv = [sys.executable, "-u", str(FOLDER)]
    with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip().isdigit()
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == ""
