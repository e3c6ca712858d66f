"""Where a local stack lives: the project that is deployed, and a folder with its emulator, its state and its keys."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.paths import LOCAL, ROOT

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,100}")


def is_name(text: str) -> bool:
    """Tell whether the engine takes it for the name of a project or a stack; it is part of paths here."""
    return bool(_NAME.fullmatch(text)) and text not in (".", "..")


@dataclass(frozen=True)
class World:
    """One stack of one project on this machine."""

    project: Path
    """Folder of the Pulumi project."""
    name: str
    """Name of the project."""
    stack: str
    folder: Path
    """Holds everything that is made for it, apart from what is built beside the project."""
    command: str
    """What people type before `up` and `down`."""
    port: str = ""
    """Where the emulator is to serve; empty for where it did last, or the usual port."""

    @property
    def qualified(self) -> str:
        """The stack as the backend knows it."""
        return f"{self.name}/{self.stack}"

    @property
    def logs(self) -> Path:
        """Folder of what its processes say."""
        return self.folder / "logs"

    @property
    def emulator(self) -> Path:
        """Folder of the emulated account."""
        return self.folder / "emulator"

    @property
    def record(self) -> Path:
        """Says which process the emulator is, and where it serves."""
        return self.folder / "emulator.json"

    @property
    def backend(self) -> Path:
        """Where the engine keeps states."""
        return self.folder / "state" / ".pulumi"

    @property
    def docker(self) -> Path:
        """Where builders are looked for."""
        return self.folder / "docker"

    @property
    def key_file(self) -> Path:
        """Holds the API key that was made for this machine."""
        return self.folder / "api-key"

    @property
    def project_copy(self) -> Path:
        """A project of the same name, for this stack alone, in which the engine may write its settings."""
        return self.folder / "project" / self.name / self.stack

    @property
    def settings_copy(self) -> Path:
        """The stack's settings as the engine sees them."""
        return self.project_copy / f"Pulumi.{self.stack}.yaml"

    @property
    def taken(self) -> Path:
        """Says which settings of the copy came from the original."""
        return self.project_copy / "taken.json"

    @property
    def report(self) -> Path:
        """What the last `up` has told."""
        return self.project_copy / "up.json"

    @property
    def settings(self) -> Path:
        """The stack's settings as people write them."""
        return self.project / f"Pulumi.{self.stack}.yaml"

    @property
    def builds(self) -> Path:
        """Bundles, build contexts and the packages they are made with, as `components.stack` names it."""
        return self.project / ".sandbox-build"

    @property
    def with_port(self) -> str:
        """What people type to have the emulator serve elsewhere."""
        return "make up EMULATOR_PORT=8788" if self is CHECKOUT else f"{self.command} up --port 8788"

    def shown(self, path: Path) -> str:
        """Name a place of it as seen from the project."""
        return str(path.relative_to(self.project)) if path.is_relative_to(self.project) else str(path)


CHECKOUT: Final = World(ROOT, "sandbox-stack", "local", LOCAL, "make")
"""The world of `make up`."""
