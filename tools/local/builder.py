"""BuildKit for the local stack: a daemon for the time of one run, known to buildx as a remote builder.

The Dockerfile that is built here is the one that is built for an account: its base image comes from Docker Hub, or from
a registry that has it or a stand-in for it under the same name. Where BuildKit cannot run, the reason is given instead.
"""

import contextlib
import json
import os
import platform
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools import interrupt, locks
from tools.local import rootless
from tools.local.rootless import Namespaces
from tools.setup.toolchain import Toolchain

NAME: Final = "cloudflare-sandbox-local"
_ONE_ID: Final = (
    "you have no subordinate ids (newuidmap and a range in /etc/subuid and /etc/subgid), so there is no user but root"
    " while it is built: a base image or a step with files of other users fails"
)
_SERVES: Final = "running server on"
_PREFIX: Final = "sandbox-buildkit-"  # nobody else's: what has this name may be removed
_START_SECONDS: Final = 30
_STOP_SECONDS: Final = 20


@dataclass(frozen=True)
class Builder:
    """A builder that serves, by its name, and what it cannot do; or none, and why."""

    name: str = ""
    reason: str = ""
    limit: str = ""


@contextmanager
def serving(toolchain: Toolchain, registry: str, docker_config: Path, *, mirror: str = "") -> Iterator[Builder]:
    """Serve while the block runs.

    `registry` is the emulator's host and port, `docker_config` where buildx looks. `mirror` is the address of a
    registry that is asked in place of Docker Hub, if one is.
    """
    if platform.system() != "Linux" or toolchain.buildkit is None:
        yield Builder(reason="BuildKit needs Linux")
        return
    inside = rootless.namespaces()
    if inside.reason:
        yield Builder(reason=inside.reason)
        return
    _clear_up(inside)
    folder, claimed = _workplace()
    instance, current = docker_config / "buildx" / "instances" / NAME, docker_config / "buildx" / "current"
    process = None
    try:
        process = _start(toolchain.buildkit, _settings(registry, mirror), folder, inside)
        died = _wait(process, folder)
        if died:
            yield Builder(reason=died)
            return
        instance.parent.mkdir(parents=True, exist_ok=True)
        instance.write_text(_description(folder), encoding="utf-8")
        # As `docker buildx use` has it: programs need not name a builder.
        current.write_text(json.dumps({"Key": "", "Name": NAME, "Global": True}), encoding="utf-8")
        yield Builder(name=NAME, limit="" if inside.all_ids else _ONE_ID)
    finally:
        instance.unlink(missing_ok=True)
        current.unlink(missing_ok=True)
        if process:
            _stop(process)
        inside.remove(folder)
        os.close(claimed)


def _workplace() -> tuple[Path, int]:
    """Make a folder, locked for as long as this run lasts.

    Its own: the path of a socket must be short, and what is unpacked there is not to be kept.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        claimed = locks.claim(folder)
        if claimed is not None:  # else another run has taken it for abandoned before it was locked
            return folder, claimed


def _clear_up(inside: Namespaces) -> None:
    """Remove what runs that were killed have left."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        claimed = locks.claim(folder)
        if claimed is not None:
            inside.remove(folder)
            os.close(claimed)


def _start(programs: Path, settings: str, folder: Path, inside: Namespaces) -> subprocess.Popen[bytes]:
    file = folder / "buildkitd.toml"
    file.write_text(settings, encoding="utf-8")
    command = [
        *inside.command,
        str(programs / "buildkitd"),
        *("--addr", _address(folder), "--root", str(folder / "root"), "--config", str(file)),
        *("--otel-socket-path", str(folder / "traces")),
        *inside.runc(folder, programs),
        # BuildKit tries whether the file system takes overlays. `native`, which works on any, copies the whole base
        # image for every step.
        "--oci-worker-snapshotter=auto",
    ]
    # BuildKit and runc keep more there when they are not for the machine's root, which they tell by its name.
    own = {"HOME": str(folder), "USER": NAME, "XDG_RUNTIME_DIR": str(folder)}
    env = {**os.environ, **own, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
    with (folder / "log").open("wb") as log:
        # A group of its own: Ctrl-C is for the engine, which still needs the builder while it saves its state.
        return subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            process_group=0,
        )


def _settings(registry: str, mirror: str) -> str:
    """Name the registries that speak plain HTTP, and the one to ask in place of Docker Hub."""
    scheme, _, host = mirror.rpartition("://")
    plain = [registry, *([host] if scheme == "http" and host != registry else [])]
    lines = [f'[registry."docker.io"]\n  mirrors = ["{host}"]\n'] if mirror else []
    return "".join([*lines, *(f'[registry."{each}"]\n  http = true\n' for each in plain)])


def _wait(process: subprocess.Popen[bytes], folder: Path) -> str:
    """Wait until it serves; give the reason when it does not."""
    until = time.monotonic() + _START_SECONDS
    # Not the socket's existence: that is there before the daemon knows whether it can work.
    while _SERVES not in (said := (folder / "log").read_text(errors="replace")):
        interrupt.check()
        if process.poll() is not None or time.monotonic() > until:
            return f"BuildKit did not start ({_complaint(said)})"
        time.sleep(0.02)
    return ""


def _complaint(said: str) -> str:
    """Find what it ended with: a line of its own, before the places in its source."""
    lines = said.strip().splitlines()
    return next((line for line in lines if line.startswith("buildkitd: ")), (lines or ["it said nothing"])[-1])


def _stop(process: subprocess.Popen[bytes]) -> None:
    # The group: before the daemon may stand a program that does not pass signals on.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)


def _address(folder: Path) -> str:
    return f"unix://{folder}/socket"


def _description(folder: Path) -> str:
    """Describe the builder as `docker buildx create --driver remote` does."""
    node = {"Name": f"{NAME}0", "Endpoint": _address(folder), "Platforms": None, "DriverOpts": None, "Flags": None}
    return json.dumps({"Name": NAME, "Driver": "remote", "Nodes": [node], "Dynamic": False})
