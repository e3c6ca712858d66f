"""A Pulumi project on the real engine, as tests drive it."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.engine import Engine


@dataclass(frozen=True)
class Project:
    """A Pulumi project with a stack `test` on the real engine."""

    folder: Path
    pulumi: Engine

    def run(self, *arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        return self.pulumi.run(*arguments, cwd=self.folder, timeout=timeout)

    def succeed(self, *arguments: str, timeout: float = 120) -> str:
        done = self.run(*arguments, timeout=timeout)
        assert done.returncode == 0, f"pulumi {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def fail(self, *arguments: str, timeout: float = 120) -> str:
        done = self.run(*arguments, timeout=timeout)
        assert done.returncode != 0, f"pulumi {' '.join(arguments)} should have failed\n{done.stdout}"
        return done.stdout + done.stderr

    def up(self, *arguments: str) -> str:
        return self.succeed("up", "--yes", "--skip-preview", *arguments)


MakeProject = Callable[..., Project]
