"""BuildKit for the local stack: a daemon for the time of one run, known to buildx as a remote builder.

It takes base images from the emulator's registry, which has stand-ins for the official ones under the same names: the
Dockerfile that is built here is the one that is built for an account. Where BuildKit cannot run, the reason is given
instead, and a stand-in is deployed as a ready image.
"""

import base64
import contextlib
import json
import os
import platform
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tools import interrupt
from tools.emulated import Emulated
from tools.toolchain import Toolchain

NAME: Final = "cloudflare-sandbox-local"
_BASE: Final = "cloudflare/sandbox"
_VARIANTS: Final = ("python", "opencode", "musl")
_SERVER: Final = "/container-server/sandbox"
_START_SECONDS: Final = 30
_STOP_SECONDS: Final = 20


@dataclass(frozen=True)
class Builder:
    """A builder that serves, by its name; or none, and why."""

    name: str = ""
    reason: str = ""


@contextmanager
def serving(toolchain: Toolchain, registry: str, docker_config: Path) -> Iterator[Builder]:
    """Serve while the block runs. `registry` is the emulator's host and port, `docker_config` where buildx looks."""
    reason = _reason(toolchain)
    if reason or toolchain.buildkit is None:
        yield Builder(reason=reason)
        return
    # A folder of its own: the path of a socket must be short, and what is unpacked there is not to be kept.
    folder = Path(tempfile.mkdtemp(prefix="bk-"))
    instance = docker_config / "buildx" / "instances" / NAME
    process = None
    try:
        process = _start(toolchain.buildkit, registry, folder)
        died = _wait(process, folder)
        if died:
            yield Builder(reason=died)
            return
        instance.parent.mkdir(parents=True, exist_ok=True)
        instance.write_text(_description(folder), encoding="utf-8")
        yield Builder(name=NAME)
    finally:
        instance.unlink(missing_ok=True)
        if process:
            _stop(process)
        shutil.rmtree(folder, ignore_errors=True)


def seed(cloudflare: Emulated, version: str) -> str:
    """Put a stand-in for the official image of this SDK version into the emulator; give it as a ready reference.

    The stand-in has no operating system: files can be copied into it, packages cannot be installed.
    """
    server = b"#!/bin/sh\necho 'a stand-in has no sandbox server' >&2\nexit 1\n"
    body = {
        "repository": _BASE,
        "tags": [version, *(f"{version}-{each}" for each in _VARIANTS)],
        "env": [f"SANDBOX_VERSION={version}"],
        "entrypoint": [_SERVER],
        "files": {_SERVER: {"content": base64.b64encode(server).decode(), "mode": 0o755}},
    }
    address = cloudflare.base_url.removesuffix("/client/v4") + "/_emulator/registry/images"
    headers = {"Authorization": f"Bearer {cloudflare.token}", "Content-Type": "application/json"}
    request = urllib.request.Request(  # noqa: S310 - loopback
        address, data=json.dumps(body).encode(), headers=headers, method="POST"
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - as above
        made: Any = json.load(answer)["result"]
    return f"docker.io/{_BASE}@{made['digest']}"


def _reason(toolchain: Toolchain) -> str:
    """Say why BuildKit cannot run here; empty when it may."""
    if platform.system() != "Linux" or toolchain.buildkit is None:
        return "BuildKit needs Linux"
    return "" if os.geteuid() == 0 else "BuildKit needs root"


def _start(programs: Path, registry: str, folder: Path) -> subprocess.Popen[bytes]:
    settings = folder / "buildkitd.toml"
    mirror = f'[registry."docker.io"]\n  mirrors = ["{registry}"]\n[registry."{registry}"]\n  http = true\n'
    settings.write_text(mirror, encoding="utf-8")
    command = [
        *_ending_with_parent(),
        str(programs / "buildkitd"),
        *("--addr", _address(folder), "--root", str(folder / "root"), "--config", str(settings)),
        # Works on any file system, also inside a container.
        "--oci-worker-snapshotter=native",
    ]
    env = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
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


def _ending_with_parent() -> tuple[str, ...]:
    """Have Linux end the program when the process that started it dies, even by a signal nobody can catch."""
    program = shutil.which("setpriv")
    return (program, "--pdeathsig", "TERM", "--") if program else ()


def _wait(process: subprocess.Popen[bytes], folder: Path) -> str:
    """Wait until it serves; give the reason when it does not."""
    until = time.monotonic() + _START_SECONDS
    while not (folder / "socket").exists():
        interrupt.check()
        if process.poll() is not None or time.monotonic() > until:
            said = (folder / "log").read_text(errors="replace").strip().splitlines()
            return f"BuildKit did not start ({said[-1] if said else 'it said nothing'})"
        time.sleep(0.02)
    return ""


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
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
