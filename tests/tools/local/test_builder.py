"""BuildKit of the local stack: it serves while a run lasts, ends with it, and says why where it cannot run."""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tools import locks
from tools.local import builder
from tools.local.builder import NAME, Builder
from tools.paths import ROOT
from tools.setup.toolchain import Toolchain

REGISTRY = "127.0.0.1:1"
# Root starts the daemon as it is; it can also do as an ordinary user does, who has no such choice.
USERS = sorted({os.geteuid(), 1000})


def toolchain(buildkit: Path | None) -> Toolchain:
    nowhere = Path("/nonexistent")
    return Toolchain(nowhere, nowhere, buildkit, nowhere)


def program(folder: Path, script: str) -> Toolchain:
    """A daemon as this script."""
    path = folder / "buildkitd"
    path.write_text(f"#!/bin/sh\n{script}")
    path.chmod(0o755)
    return toolchain(folder)


def served(docker_config: Path) -> Path:
    """Folder of the daemon that buildx is told of."""
    described = json.loads((docker_config / "buildx" / "instances" / NAME).read_text())
    assert described["Driver"] == "remote"
    return Path(described["Nodes"][0]["Endpoint"].removeprefix("unix://")).parent


def processes(folder: Path) -> int:
    """How many processes were started for a folder."""
    found = 0
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += str(folder).encode() in each.read_bytes()
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    ("system", "user", "buildkit", "reason"),
    [
        ("Darwin", 0, Path("/x"), "BuildKit needs Linux"),
        ("Linux", 0, None, "BuildKit needs Linux"),
        ("Linux", 1000, Path("/x"), "BuildKit needs root, or util-linux's unshare and setpriv on PATH"),
    ],
)
def test_where_it_cannot_run_the_reason_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, user: int, *, buildkit: Path | None, reason: str
):
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setenv("PATH", str(tmp_path))
    with builder.serving(toolchain(buildkit), REGISTRY, tmp_path) as found:
        assert found == Builder(reason=reason)
    assert list(tmp_path.iterdir()) == []


def test_a_daemon_that_dies_is_a_reason_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with builder.serving(program(tmp_path, "echo first; echo no cgroups here; exit 1"), REGISTRY, tmp_path) as found:
        assert found == Builder(reason="BuildKit did not start (no cgroups here)")


def test_what_it_ends_with_is_the_reason_not_where_that_is_in_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    failing = "echo 'buildkitd: mkdir /x: permission denied'; echo main.main; echo '  main.go:1'; exit 1"
    with builder.serving(program(tmp_path, failing), REGISTRY, tmp_path) as found:
        assert found.reason == "BuildKit did not start (buildkitd: mkdir /x: permission denied)"


@pytest.mark.engine
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("ending", [None, KeyboardInterrupt, RuntimeError])
def test_it_serves_and_leaves_nothing(
    tools_provided: Toolchain,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ending: type[BaseException] | None,
    user: int,
):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    folders = []

    def run() -> None:
        with builder.serving(tools_provided, REGISTRY, tmp_path) as found:
            assert (found.name, found.reason) == (NAME, "")
            folders.append(served(tmp_path))
            assert processes(folders[0]) >= 1
            if ending:
                raise ending

    if ending:
        with pytest.raises(ending):
            run()
    else:
        run()
    assert processes(folders[0]) == 0
    assert not folders[0].exists()
    assert list((tmp_path / "buildx" / "instances").iterdir()) == []


@pytest.mark.engine
@pytest.mark.parametrize("user", USERS)
def test_it_ends_with_a_run_that_was_killed(tools_provided: Toolchain, tmp_path: Path, user: int):
    assert tools_provided.buildkit
    script = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from tools.local import builder\nfrom tools.setup import toolchain\n"
        f"os.geteuid = lambda: {user}\n"
        f"with builder.serving(toolchain.load(), {REGISTRY!r}, Path({str(tmp_path)!r})) as found:\n"
        "    print(found.name, flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout
        assert run.stdout.readline().strip() == NAME
        folder = served(tmp_path)
        try:
            assert processes(folder) >= 1
            run.kill()
            until = time.monotonic() + 60
            while processes(folder) and time.monotonic() < until:
                time.sleep(0.05)
            assert processes(folder) == 0
        finally:
            shutil.rmtree(folder)


def test_folders_of_runs_that_were_killed_are_removed_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    daemon, precious = tmp_path / "daemon", tmp_path / "precious"
    for each in (tmp_path / "sandbox-buildkit-left" / "root", tmp_path / "sandbox-buildkit-used", daemon, precious):
        each.mkdir(parents=True)
    (tmp_path / "sandbox-buildkit-link").symlink_to(precious)
    (tmp_path / "sandbox-buildkit-file").touch()
    used = locks.claim(tmp_path / "sandbox-buildkit-used")
    assert used is not None
    with builder.serving(program(daemon, "exit 1"), REGISTRY, tmp_path / "docker"):
        assert not (tmp_path / "sandbox-buildkit-left").exists()
        assert len(list(tmp_path.glob("sandbox-buildkit-*"))) == 4  # that of this run is there
    os.close(used)
    left = sorted(each.name for each in tmp_path.iterdir())
    assert left == ["daemon", "precious", *(f"sandbox-buildkit-{each}" for each in ("file", "link", "used"))]


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives folders away")
def test_folders_of_other_users_are_theirs(tmp_path: Path):
    os.chown(tmp_path, 1, 1)
    assert locks.claim(tmp_path) is None


def test_a_daemon_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(builder, "_STOP_SECONDS", 0.3)
    stubborn = program(tmp_path, 'trap "" TERM\necho running server on it\nwhile :; do sleep 0.1; done')
    with builder.serving(stubborn, REGISTRY, tmp_path / "docker") as found:
        assert found.name == NAME
        folder = served(tmp_path / "docker")
        assert processes(folder) >= 1
    assert processes(folder) == 0


@pytest.mark.parametrize(
    ("mirror", "expected"),
    [
        ("", '[registry."127.0.0.1:1"]\n  http = true\n'),
        (
            "http://127.0.0.1:1",
            '[registry."docker.io"]\n  mirrors = ["127.0.0.1:1"]\n[registry."127.0.0.1:1"]\n  http = true\n',
        ),
        (
            "https://mirror.example",
            '[registry."docker.io"]\n  mirrors = ["mirror.example"]\n[registry."127.0.0.1:1"]\n  http = true\n',
        ),
    ],
)
def test_docker_hub_is_asked_unless_another_takes_its_place(mirror: str, expected: str):
    assert builder._settings(REGISTRY, mirror) == expected
