"""The real wrangler, installed once from its lock file, pointed at an emulator.

`wrangler` (fixture) runs commands in a project folder: `wrangler("deploy", cwd=folder)`. It fails the test when the
command fails, unless told `ok=False`. Nothing of the machine's own wrangler set-up is seen: its home is a fresh folder.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from emulator.testing import Running
from testbed.loopback import CLOSED, with_registries
from tools.paths import LOCAL

_LOCKED = Path(__file__).parent
_FILES = ("package.json", "package-lock.json")
_CACHE = LOCAL / "wrangler"
_TIMEOUT = 120
_YOUNG_MIB = 64
_QUICKER = (f"--min-semi-space-size={_YOUNG_MIB}", f"--max-semi-space-size={_YOUNG_MIB}")
"""wrangler is 15 MB of one file: what it makes while it is loaded has room without being swept again and again."""


def install(node: Path) -> Path:
    """Install what the lock file says, once for all processes; the folder with `node_modules`."""
    digest = hashlib.sha256(b"".join((_LOCKED / name).read_bytes() for name in _FILES)).hexdigest()[:16]
    folder = _CACHE / digest
    folder.mkdir(parents=True, exist_ok=True)
    with (_CACHE / f"{digest}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            for name in _FILES:
                shutil.copy(_LOCKED / name, folder / name)
            path = f"{node}{os.pathsep}{os.environ['PATH']}"
            command = [str(node / "npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            env = {**with_registries(os.environ), "PATH": path}
            done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"npm ci failed:\n{done.stdout}\n{done.stderr}"
            (folder / "complete").touch()
    return folder


@dataclass
class Wrangler:
    """Runs wrangler against one emulator."""

    node: Path
    program: Path
    emulator: Running
    home: Path
    shared: dict[str, str] = field(default_factory=dict)
    """Further variables of its environment."""

    def __call__(
        self,
        *arguments: str,
        cwd: Path,
        ok: bool = True,
        env: Mapping[str, str] | None = None,
        stdin: str = "",
        timeout: float = _TIMEOUT,
    ) -> subprocess.CompletedProcess[str]:
        """Run one command; what Node has compiled for one is kept for the next."""
        done = subprocess.run(
            [self.node / "node", *_QUICKER, self.program, *arguments],
            cwd=cwd,
            env={**self.environment(), "NODE_COMPILE_CACHE": str(_CACHE / "compiled"), **(env or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if ok:
            assert done.returncode == 0, f"wrangler {' '.join(arguments)} failed:\n{done.stdout}\n{done.stderr}"
        return done

    def environment(self) -> dict[str, str]:
        """All that wrangler sees."""
        return {
            **CLOSED,
            "PATH": f"{self.node}{os.pathsep}/usr/bin{os.pathsep}/bin",
            "HOME": str(self.home),
            "CI": "true",
            "NO_COLOR": "1",
            "WRANGLER_SEND_METRICS": "false",
            "WRANGLER_SEND_ERROR_REPORTS": "false",
            "CLOUDFLARE_API_BASE_URL": self.emulator.url,
            "CLOUDFLARE_API_TOKEN": self.emulator.token,
            "CLOUDFLARE_ACCOUNT_ID": self.emulator.account_id,
            **self._secure(),
            **self.shared,
        }

    def _secure(self) -> dict[str, str]:
        """How it reaches the registry by HTTPS, if the emulator speaks it."""
        if self.emulator.certificate is None:
            return {}
        host = self.emulator.secure_url.removeprefix("https://").partition("/")[0]
        return {"CLOUDFLARE_CONTAINER_REGISTRY": host, "NODE_EXTRA_CA_CERTS": str(self.emulator.certificate.file)}

    def project(self, folder: Path, config: Mapping[str, Any], files: Mapping[str, str]) -> Path:
        """Write a project: `wrangler.json` and sources. Again, to change it."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "wrangler.json").write_text(json.dumps(config))
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)
        return folder
