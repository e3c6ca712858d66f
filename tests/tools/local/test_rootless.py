"""What an ordinary user's programs are started with, and the sentence where nothing helps."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.local import rootless
from tools.local.rootless import Namespaces


@pytest.fixture(autouse=True)
def ordinary_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)


def put(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_a_system_without_user_namespaces_is_one_clear_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    put(tmp_path, "unshare", "echo 'unshare: unshare failed: Operation not permitted' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert rootless.namespaces() == Namespaces(
        reason="BuildKit needs root, or a system that lets users have user namespaces; "
        "unshare: unshare failed: Operation not permitted"
    )


@pytest.mark.parametrize("has_all", [True, False])
def test_subordinate_ids_are_used_where_they_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_all: bool):
    put(tmp_path, "unshare", f'case "$*" in *--map-auto*) exit {0 if has_all else 1};; esac')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = rootless.namespaces()
    assert found.all_ids is has_all
    assert ("--map-auto" in found.command) is has_all
    assert "--kill-child=KILL" in found.command


def test_inside_the_user_is_root_and_sees_only_what_runs_there():
    found = rootless.namespaces()
    shown = subprocess.run([*found.command, "sh", "-c", "id -u; echo $$"], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["0", "1"]


def test_what_only_the_user_inside_may_remove_is_removed(tmp_path: Path):
    found = rootless.namespaces()
    folder = tmp_path / "folder"
    subprocess.run([*found.command, "sh", "-c", f"mkdir -p {folder}/closed/in && chmod 0 {folder}/closed"], check=True)
    found.remove(folder)
    assert not folder.exists()


def test_runc_with_one_id_gets_no_group_of_terminals(tmp_path: Path):
    programs, bundle = tmp_path / "programs", tmp_path / "a bundle"
    programs.mkdir()
    bundle.mkdir()
    put(programs, "buildkit-runc", 'printf "%s\\n" "$@"')
    settings = {"mounts": [{"type": "devpts", "options": ["nosuid", "mode=0620", "gid=5"]}]}
    (bundle / "config.json").write_text(json.dumps(settings, separators=(",", ":")))
    (option,) = Namespaces().runc(tmp_path, programs)
    script = option.removeprefix("--oci-worker-binary=")
    arguments = ["--log", "x y", "run", "--bundle", str(bundle), "name"]
    done = subprocess.run([script, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == arguments
    assert json.loads((bundle / "config.json").read_text())["mounts"][0]["options"] == ["nosuid", "mode=0620"]


def test_with_all_ids_runc_is_left_alone(tmp_path: Path):
    assert Namespaces(all_ids=True).runc(tmp_path, tmp_path) == ()
    assert shutil.which("runc-with-one-id", path=tmp_path) is None
