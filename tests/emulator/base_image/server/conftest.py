"""The stand-in server's sources with their packages installed, and what its tests need beside them."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from testbed.loopback import registries
from tools.paths import ROOT
from tools.progress import Board
from tools.setup import base_image, toolchain

SOURCES = ROOT / "emulator" / "base_image" / "server"
# What an image has and a machine may not: watches and backups are made with it.
_PACKAGES = ("inotify-tools", "libinotifytools0", "squashfs-tools", "squashfuse", "libsquashfuse0", "fuse-overlayfs")
_PACKAGES_BESIDE = ("libfuse3-3", "fuse3", "liblzo2-2")
_TIMEOUT = 280


def run(command: Sequence[str | Path], env: dict[str, str], cwd: Path = SOURCES) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@dataclass(frozen=True)
class ServerSources:
    """Runs Node programs in the server's folder."""

    node: Path
    tools: Path | None

    @property
    def env(self) -> dict[str, str]:
        own = {"PATH": f"{self.node}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
        return {**os.environ, **own, **({"SANDBOX_TEST_TOOLS": str(self.tools)} if self.tools else {})}

    def run(self, *arguments: str | Path, env: dict[str, str] | None = None) -> str:
        return run([self.node / "node", *arguments], {**self.env, **(env or {})})


def _install(sources: ServerSources) -> None:
    digest = hashlib.sha256((SOURCES / "package-lock.json").read_bytes()).hexdigest()
    installed = SOURCES / "node_modules" / ".installed-lock"
    with (SOURCES / ".install.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not installed.exists() or installed.read_text() != digest:
            run([sources.node / "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], sources.env)
            installed.write_text(digest)


def _debian_tools(folder: Path) -> Path | None:
    """Unpack Debian's packages without installing them; nothing on other systems, where the machine's own are used."""
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        return None
    state = folder / "apt"
    for sub in ("state/lists/partial", "cache/archives/partial"):
        (state / sub).mkdir(parents=True)
    (state / "status").touch()
    options = ["-o", f"Dir::State={state}/state", "-o", f"Dir::State::status={state}/status"]
    options += ["-o", f"Dir::Cache={state}/cache", "-o", "APT::Sandbox::User=", "-o", "Debug::NoLocking=1"]
    environment = dict(os.environ)
    run(["apt-get", *options, "-qq", "update"], environment, state)
    run(["apt-get", *options, "-qq", "download", *_PACKAGES, *_PACKAGES_BESIDE], environment, state)
    for package in sorted(state.glob("*.deb")):
        run(["dpkg-deb", "-x", package, folder / "root"], environment, state)
    return folder / "root"


@pytest.fixture(scope="session")
def server_sources(tools_provided: toolchain.Toolchain, tmp_path_factory: pytest.TempPathFactory) -> ServerSources:
    with registries():
        tools = None if shutil.which("inotifywait") else _debian_tools(tmp_path_factory.mktemp("tools"))
        sources = ServerSources(tools_provided.node, tools)
        _install(sources)
    return sources


@pytest.fixture(scope="session")
def server_program(server_sources: ServerSources, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("server") / "sandbox"
    server_sources.run("build.mjs", "--node", server_sources.node / "node", "--out", out)
    shutil.copy(base_image.launcher(Board()), out.with_name("launcher"))
    return out
