"""BuildKit of the local stack: it serves while a run lasts, ends with it, and says why where it cannot run."""

import json
import os
import platform
from pathlib import Path

import httpx
import pytest

from emulator.testing import running
from tools import builder
from tools.builder import NAME, Builder
from tools.emulated import Emulated
from tools.toolchain import Toolchain

REGISTRY = "127.0.0.1:1"


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
        ("Linux", 1000, Path("/x"), "BuildKit needs root"),
    ],
)
def test_where_it_cannot_run_the_reason_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, user: int, *, buildkit: Path | None, reason: str
):
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    with builder.serving(toolchain(buildkit), REGISTRY, tmp_path) as found:
        assert found == Builder(reason=reason)
    assert list(tmp_path.iterdir()) == []


def test_a_daemon_that_dies_is_a_reason_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with builder.serving(program(tmp_path, "echo first; echo no cgroups here; exit 1"), REGISTRY, tmp_path) as found:
        assert found == Builder(reason="BuildKit did not start (no cgroups here)")


@pytest.mark.engine
@pytest.mark.parametrize("ending", [None, KeyboardInterrupt, RuntimeError])
def test_it_serves_and_leaves_nothing(tools_provided: Toolchain, tmp_path: Path, ending: type[BaseException] | None):
    folders = []

    def run() -> None:
        with builder.serving(tools_provided, REGISTRY, tmp_path) as found:
            assert found == Builder(name=NAME)
            folders.append(served(tmp_path))
            assert processes(folders[0]) == 1
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


def test_a_daemon_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(builder, "_STOP_SECONDS", 0.3)
    serve = 'for each; do case $each in unix://*) : > "${each#unix://}";; esac; done'
    stubborn = program(tmp_path, f'trap "" TERM\n{serve}\nwhile :; do sleep 0.1; done')
    with builder.serving(stubborn, REGISTRY, tmp_path / "docker") as found:
        assert found.name == NAME
        folder = served(tmp_path / "docker")
        assert processes(folder) >= 1
    assert processes(folder) == 0


def test_the_stand_in_says_what_it_is_and_belongs_to_no_account(tmp_path: Path):
    with running(tmp_path) as emulator:
        reference = builder.seed(Emulated(emulator.url, emulator.account_id, emulator.token), "0.12.10")
        again = builder.seed(Emulated(emulator.url, emulator.account_id, emulator.token), "0.12.10")
        assert again == reference
        name, _, digest = reference.partition("@")
        assert name == "docker.io/cloudflare/sandbox"
        base = f"{emulator.origin}/v2/cloudflare/sandbox"
        manifest = httpx.get(f"{base}/manifests/{digest}").json()
        for tag in ("0.12.10", "0.12.10-python", "0.12.10-opencode", "0.12.10-musl"):
            assert httpx.head(f"{base}/manifests/{tag}").headers["docker-content-digest"] == digest
        config = httpx.get(f"{base}/blobs/{manifest['config']['digest']}").json()
        assert config["config"]["Labels"]["stand-in"] == "true"
        assert config["config"]["Entrypoint"] == ["/container-server/sandbox"]
        assert "SANDBOX_VERSION=0.12.10" in config["config"]["Env"]
        headers = {"authorization": f"Bearer {emulator.token}"}
        state = httpx.get(f"{emulator.origin}/_emulator/state", headers=headers).json()["result"]
        assert state["deployed"] == {}
