"""A checkout of its own, as a newcomer has it, for tests of the make targets and the documentation."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx

from testbed.loopback import with_registries
from testbed.worker_build import share_packages
from tools.paths import ROOT


class Checkout:
    """A copy of the files that shares this checkout's packages and tools, with a home that must stay empty."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "checkout"
        self.home = folder / "home"
        self.home.mkdir()
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, self.folder / name)
        self.local.mkdir()
        shutil.copy(ROOT / ".local" / "toolchain.json", self.local)
        (self.folder / ".venv").symlink_to(ROOT / ".venv")
        share_packages(self.folder)

    def with_program(self, program: str) -> "Checkout":
        """Let another program stand for this repository's own."""
        (self.folder / "__main__.py").write_text(program)
        return self

    @property
    def local(self) -> Path:
        return self.folder / ".local"

    @property
    def env(self) -> dict[str, str]:
        strangers = {"PULUMI_ACCESS_TOKEN": "of another login", "PULUMI_BACKEND_URL": "https://elsewhere.example"}
        strangers |= {"CLOUDFLARE_API_TOKEN": "of a real account", "PULUMI_STACK": "production"}
        strangers |= {"PULUMI_CONFIG_PASSPHRASE": "of another stack", "DOCKER_HOST": "unix:///elsewhere"}
        strangers |= {"CLOUDFLARE_API_KEY": "of a real account"}
        # Nobody answers there: what a test deploys must not depend on whether this machine reaches Docker Hub.
        strangers |= {"DOCKER_HUB_MIRROR": "http://127.0.0.1:9"}
        # Any free port: several checkouts are up at once when tests run in parallel.
        # `make test` runs these tests from a make of its own; theirs must not take themselves for its offspring.
        # What belongs to set-up fetches packages; what it sets up has the emulator's address from it.
        inherited = {k: v for k, v in with_registries(os.environ).items() if not k.startswith(("MAKE", "MFLAGS"))}
        return (
            inherited
            | {
                "HOME": str(self.home),
                "npm_config_cache": str(ROOT / ".local" / "npm"),
                "XDG_CACHE_HOME": str(ROOT / ".local" / "cache"),
                "EMULATOR_PORT": "0",
            }
            | strangers
        )

    def emulator(self, path: str, body: object = None, method: str = "") -> Any:
        """Ask the checkout's emulator, which `make up` has started."""
        base = json.loads((self.local / "emulator.json").read_text())["base_url"]
        token = (self.local / "emulator" / "token").read_text()
        headers = {"Authorization": f"Bearer {token}"}
        address = base.removesuffix("/client/v4") + path
        done = httpx.request(method or ("POST" if body else "GET"), address, json=body, headers=headers)
        return done.raise_for_status().json()["result"]

    def make(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        argv = ["make", *arguments]
        return subprocess.run(
            argv, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )

    def succeed(self, *arguments: str) -> str:
        done = self.make(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def by_hand(self, command: str) -> str:
        script = f'eval "$(make -s env)" && {command}'
        done = subprocess.run(
            ["sh", "-c", script], cwd=self.folder, env=self.env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
