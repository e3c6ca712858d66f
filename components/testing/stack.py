"""A project of yours, deployed to the emulator of a session."""

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .emulator import Account, Emulator, program
from .sandbox import Sandbox


class DeploymentError(Exception):
    """The project was not deployed; the message has what the engine said."""


class Stack:
    """A stack that is up."""

    def __init__(self, emulator: Emulator, project: Path, name: str = "") -> None:
        self._emulator, self._project, self._name = emulator, project, name
        self._told: dict[str, Any] = {}

    @property
    def account(self) -> Account:
        """Where it is deployed to."""
        return self._emulator.account

    @property
    def outputs(self) -> dict[str, Any]:
        """What the program exports; secrets are not shown."""
        return dict(self._told["outputs"])

    @property
    def api_url(self) -> str:
        """Where its Worker answers on this machine."""
        return str(self._told["api_url"])

    @property
    def api_key(self) -> str:
        """The key that was made for this machine and let in by the settings."""
        if not self._told["key_file"]:
            why = "its program takes no settings from its configuration, so no key could be let in"
            raise RuntimeError(f"{self._told['stack']} has no API key of this machine: {why}")
        return Path(self._project, self._told["key_file"]).read_text(encoding="utf-8").strip()

    def up(self) -> None:
        """Deploy it, again after a change; raise DeploymentError where that fails."""
        self._told = json.loads(self._run("up"))

    def down(self) -> None:
        """Destroy it and all that it holds; the emulator goes on."""
        self._run("down", "--force", "--keep-emulator")

    @contextmanager
    def sandbox(self, name: str = "") -> Iterator[Sandbox]:
        """Return a sandbox of a name, or of its own, and destroy it in the end."""
        found = Sandbox(self.api_url, self.api_key, name or f"test-{secrets.token_hex(6)}")
        try:
            yield found
        finally:
            found.destroy()

    def _run(self, action: str, *options: str) -> str:
        chosen = [f"--stack={self._name}"] if self._name else []
        done = program(action, self._emulator.folder, self._project, *chosen, *options)
        if done.returncode:
            raise DeploymentError(done.stderr.strip())
        return done.stdout
