"""Runs the Pulumi CLI by itself: home, backend, passphrase and Docker config are folders given to it.

Nothing of the user's own Pulumi login, Docker config, Cloudflare credentials or API keys reaches such a run or is
changed by it.
"""

import os
import secrets
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TextIO

from tools import locks, pins
from tools.local import bridged
from tools.paths import IS_CHECKOUT, venv_python, write_whole
from tools.setup.toolchain import Toolchain

_FOREIGN = (
    "PULUMI_",
    "CLOUDFLARE_",
    "CF_",
    "DOCKER_",
    "BUILDX_",
    "SANDBOX_API_",  # where clients find another deployment's Worker, and the key for it
    "PYTHONDONTWRITEBYTECODE",  # program and plugins would be compiled anew in every run
)


@dataclass(frozen=True)
class Engine:
    """The CLI with its environment."""

    program: Path
    env: Mapping[str, str]

    def run(self, *arguments: str, cwd: Path, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        """Run to the end with output captured; the caller judges the exit code."""
        return subprocess.run(
            [str(self.program), *arguments, "--non-interactive"],
            cwd=cwd,
            env=dict(self.env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def show(self, *arguments: str, cwd: Path, out: TextIO) -> int:
        """Run with its words on `out`, in a group of its own: we pass on what should end it, once each."""
        argv = [str(self.program), *arguments]
        out.flush()
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(self.env),
            stdin=subprocess.DEVNULL,
            stdout=out,
            process_group=0,
            pass_fds=locks.held(),
        )
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                process.send_signal(signal.SIGINT)  # the engine saves its state, then ends; a second one ends it now


def isolated(toolchain: Toolchain, folder: Path, *, extra: Mapping[str, str] | None = None) -> Engine:
    """Make an engine with everything of its own below `folder`; `extra` are further variables its runs see."""
    home, backend, docker = (folder / name for name in ("pulumi-home", "state", "docker"))
    for path in (home, backend, docker):
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(0o700)
    # The SDK asks for a plugin of its own version, which is the pinned one in a checkout.
    version = pins.DOCKER_BUILD if IS_CHECKOUT else metadata.version("pulumi-docker-build")
    _link_plugin(home, "docker-build", toolchain.docker_build / "pulumi-resource-docker-build", version)
    _link_plugin(home, "cloudflare", bridged.plugin(Path.home()), bridged.version())
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(_FOREIGN)}
    search = [toolchain.engine, venv_python().parent, toolchain.node, inherited.get("PATH", os.defpath)]
    settings = {
        "DOCKER_CONFIG": str(docker),
        "PATH": os.pathsep.join(map(str, search)),
        "PULUMI_BACKEND_URL": backend.as_uri(),
        "PULUMI_CONFIG_PASSPHRASE_FILE": str(_passphrase(folder)),
        # Plugins are in place or stood in for; without this the engine tries downloads at every run.
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_HOME": str(home),
        # The engine would take a plugin on PATH, of whatever version, before the one that is linked here.
        "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        # The stand-in of a plugin runs with it.
        "SANDBOX_STACK_PYTHON": str(venv_python()),
    }
    return Engine(toolchain.engine / "pulumi", inherited | settings | dict(extra or {}))


def _link_plugin(home: Path, name: str, program: Path, version: str) -> None:
    folder = home / "plugins" / f"resource-{name}-v{version}"
    link = folder / program.name
    if link.is_symlink() and link.readlink() == program:
        return
    folder.mkdir(parents=True, exist_ok=True)
    scratch = folder / f".{os.getpid()}"
    scratch.symlink_to(program)
    scratch.replace(link)


def _passphrase(folder: Path) -> Path:
    """Return the file with the passphrase that encrypts secrets, made once, readable by its owner."""
    path = folder / "passphrase"
    if not path.exists():
        write_whole(path, secrets.token_urlsafe(32))
    return path
