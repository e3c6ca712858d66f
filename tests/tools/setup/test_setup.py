"""Set-up as a whole: quick and silent when done, one sentence when not possible."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.loopback import with_registries
from tools.errors import SetupError
from tools.paths import ROOT
from tools.setup import golang, python_env, toolchain
from tools.setup.toolchain import Toolchain


def setup(checkout: Path, **env: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "tools", "setup"]
    inherited = {key: value for key, value in with_registries(os.environ).items() if not key.startswith("PIP_")}
    return subprocess.run(argv, cwd=checkout, env=inherited | env, capture_output=True, text=True, check=False)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout in which set-up has never run."""
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT / "tools", folder / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "requirements.lock", folder)
    return folder


@pytest.mark.engine
def test_set_up_that_is_complete_is_silent_and_starts_nothing():
    script = (
        "import sys, subprocess\n"
        "def audit(event, args):\n"
        "    if event in ('subprocess.Popen', 'socket.connect', 'os.posix_spawn'): raise SystemExit(event)\n"
        "sys.addaudithook(audit)\n"
        "from tools.__main__ import main\n"
        "sys.exit(main(['setup']))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_package_access_is_one_clear_sentence(checkout: Path, tmp_path: Path):
    nowhere = "http://127.0.0.1:9/simple"
    env = {"PIP_INDEX_URL": nowhere, "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1"}
    env |= {"PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path / "cache"), "GOPROXY": "off"}
    done = setup(checkout, **env)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("error: cannot install the Python packages: ERROR: No matching distribution found for")
    assert "Check the network and the package index settings, then run it again" in last


def test_an_environment_that_broke_half_way_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    broken = tmp_path / ".venv"
    monkeypatch.setattr(python_env, "VENV", broken)
    monkeypatch.setattr(python_env, "_STAMP", broken / ".complete")
    monkeypatch.setattr(python_env, "venv_python", lambda: broken / "bin" / "python")
    python_env.create()
    for pip in broken.glob("lib/python*/site-packages/pip"):
        shutil.rmtree(pip)
    python_env.create()
    subprocess.run([broken / "bin" / "python", "-m", "pip", "--version"], check=True, capture_output=True)

    (broken / "of the old lock file").touch()
    (broken / ".complete").write_text("another lock file")
    python_env.create()
    assert not (broken / "of the old lock file").exists()


def test_an_unwritable_checkout_is_one_clear_sentence(checkout: Path):
    (checkout / ".local").touch()
    done = setup(checkout)
    assert done.returncode == 1
    assert re.fullmatch(r"error: cannot write to \S+/\.local: File exists\. Make the folder writable.*\n", done.stderr)


def test_the_record_is_refused_when_something_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(toolchain, "_RECORD", tmp_path / "toolchain.json")
    monkeypatch.setattr(toolchain, "LOCAL", tmp_path)
    folder = tmp_path / "bin"
    folder.mkdir()
    programs = ("pulumi", "pulumi-language-python", "pulumi-resource-docker-build", "node", "npm", "buildkitd")
    for program in (*programs, "sandbox-layers", "runc"):
        (folder / program).touch()
    full = Toolchain(folder, folder, folder, folder, folder)
    toolchain.record(full)
    assert toolchain.load() == full
    toolchain.record(Toolchain(folder, folder, None, folder))
    assert (toolchain.load().buildkit, toolchain.load().containers) == (None, None)

    (folder / "node").unlink()
    with pytest.raises(SetupError, match="Run `make setup`"):
        toolchain.load()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"key": 1}', '{"key": "x", "parts": {"engine": null}}'])
def test_a_damaged_record_counts_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str):
    monkeypatch.setattr(toolchain, "_RECORD", tmp_path / "toolchain.json")
    (tmp_path / "toolchain.json").write_text(content)
    assert toolchain.recorded() is None


@pytest.mark.engine
def test_a_changed_pin_makes_the_record_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    record = json.loads((ROOT / ".local" / "toolchain.json").read_text())
    stale = tmp_path / "toolchain.json"
    stale.write_text(json.dumps(record | {"key": "of other pins"}))
    monkeypatch.setattr(toolchain, "_RECORD", stale)
    assert toolchain.recorded() is None


def test_a_changed_lock_file_makes_the_environment_incomplete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert python_env.is_complete()
    changed = tmp_path / "requirements.lock"
    changed.write_text(python_env.LOCK.read_text() + "\n# changed")
    monkeypatch.setattr(python_env, "LOCK", changed)
    assert not python_env.is_complete()


def test_build_leftovers_stay_while_another_set_up_uses_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with golang._in_use():
        golang.drop_leftovers()
        assert golang._go_cache().is_dir()
    golang.drop_leftovers()
    assert not golang._go_cache().exists()
    golang.drop_leftovers()
