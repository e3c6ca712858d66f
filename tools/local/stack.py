"""One stack of one project on this machine: where everything of it lies, and which stacks share its emulator."""

import re
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.locks import locked
from tools.paths import LOCAL, ROOT
from tools.progress import Board

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,100}")


def is_name(text: str) -> bool:
    """Tell whether the engine takes it for the name of a project or a stack; it is part of paths here."""
    return bool(_NAME.fullmatch(text)) and text not in (".", "..")


@dataclass
class LocalStack:
    """A stack and its folder, which holds its emulator, its state and its keys: all that is not built in the project.

    `command` is what people type before `up` and `down`; `port` is empty for where the emulator served last, or the
    usual one.
    """

    project: Path
    project_name: str
    name: str
    folder: Path
    command: str
    port: str = ""

    def __post_init__(self) -> None:
        """Lay out the folder."""
        self.qualified = f"{self.project_name}/{self.name}"  # as the backend knows it
        self.settings = self.project / f"Pulumi.{self.name}.yaml"  # as people write them
        self.builds = self.project / ".sandbox-build"  # as `components.stack` names it
        self.logs = self.folder / "logs"
        self.emulator = self.folder / "emulator"  # the emulated account
        self.record = self.folder / "emulator.json"  # which process the emulator is, and where it serves
        self.backend = self.folder / "state" / ".pulumi"  # where the engine keeps states
        self.docker = self.folder / "docker"  # where builders are looked for
        self.key_file = self.folder / "api-key"  # the API key that was made for this machine
        # A project of the same name, for this stack alone, in which the engine may write its settings.
        self.project_copy = self.folder / "project" / self.project_name / self.name
        self.settings_copy = self.project_copy / self.settings.name
        self.taken = self.project_copy / "taken.json"  # which settings of the copy came from the original
        self.report = self.project_copy / "up.json"  # what the last `up` has told

    def locked(self) -> AbstractContextManager[None]:
        """Keep others from deploying, destroying or saving meanwhile."""
        return locked(self.folder / "stack.lock", board=Board(), waiting_for="the local stack")

    def known(self) -> list[str]:
        """Return the stacks whose state is in the folder, as `project/stack`, from files alone."""
        return sorted(f"{path.parent.name}/{path.stem}" for path in (self.backend / "stacks").glob("*/*.json"))

    def is_up(self) -> bool:
        """Tell whether the backend knows the stack."""
        return self.qualified in self.known()

    def others(self) -> list[str]:
        """Return the others that run on the same emulator: of this project, or programs of yours."""
        return [name for name in self.known() if name != self.qualified]

    @property
    def with_port(self) -> str:
        """What people type to have the emulator serve elsewhere."""
        return "make up EMULATOR_PORT=8788" if self is CHECKOUT else f"{self.command} up --port 8788"

    def shown(self, path: Path) -> str:
        """Name a place of it as seen from the project."""
        return str(path.relative_to(self.project)) if path.is_relative_to(self.project) else str(path)


CHECKOUT: Final = LocalStack(ROOT, "sandbox-stack", "local", LOCAL, "make")
"""The stack of `make up`."""
