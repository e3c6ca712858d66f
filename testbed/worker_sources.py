"""The Worker's sources and their packages, installed once for all processes and again when the lock file changes."""

import fcntl
import hashlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed.loopback import with_registries
from tools.paths import ROOT

SOURCES = ROOT / "worker_src"
_TIMEOUT = 600


@dataclass(frozen=True)
class WorkerSources:
    """Runs Node programs in `worker_src/`."""

    folder: Path
    node: Path

    def run(
        self,
        *arguments: str | Path,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        ok: bool = True,
        patience: float = _TIMEOUT,
    ) -> subprocess.CompletedProcess[str]:
        """Run node with these arguments."""
        path = f"{self.node}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "NO_COLOR": "1", **(env or {})}
        return _run([self.node / "node", *arguments], cwd or self.folder, environment, ok, patience)


def _run(
    command: Sequence[str | Path], cwd: Path, env: Mapping[str, str], ok: bool, patience: float = _TIMEOUT
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=patience, check=False)
    if ok:
        assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done


def install(node: Path) -> WorkerSources:
    """Have the packages installed."""
    lock_file = SOURCES / "package-lock.json"
    digest = hashlib.sha256(lock_file.read_bytes()).hexdigest()
    installed = SOURCES / "node_modules" / ".installed-lock"
    with (SOURCES / ".install.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if installed.exists() and installed.read_text() == digest:
            return WorkerSources(SOURCES, node)
        env = {**with_registries(os.environ), "PATH": f"{node}{os.pathsep}{os.environ['PATH']}"}
        _run([node / "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], SOURCES, env, True)
        installed.write_text(digest)
    return WorkerSources(SOURCES, node)
