"""A Pulumi project on the real engine, as tests drive it."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.local.engine import Engine

PATIENCE = 300
"""Seconds for a command, many times what it takes: only one that hangs may fail for want of time."""


@dataclass(frozen=True)
class Project:
    """A Pulumi project with a stack `test` on the real engine."""

    folder: Path
    pulumi: Engine

    def run(self, *arguments: str, timeout: float = PATIENCE) -> subprocess.CompletedProcess[str]:
        return self.pulumi.run(*arguments, cwd=self.folder, timeout=timeout)

    def succeed(self, *arguments: str, timeout: float = PATIENCE) -> str:
        done = self.run(*arguments, timeout=timeout)
        assert done.returncode == 0, f"pulumi {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def fail(self, *arguments: str, timeout: float = PATIENCE) -> str:
        done = self.run(*arguments, timeout=timeout)
        assert done.returncode != 0, f"pulumi {' '.join(arguments)} should have failed\n{done.stdout}"
        return done.stdout + done.stderr

    @contextmanager
    def started(self, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
        """Start the CLI and go on; it is killed in the end, and what it says is not kept."""
        command = [str(self.pulumi.program), *arguments, "--non-interactive"]
        silent = subprocess.DEVNULL
        env = dict(self.pulumi.env)
        with subprocess.Popen(command, cwd=self.folder, env=env, stdin=silent, stdout=silent, stderr=silent) as process:
            yield process
            process.kill()

    def up(self, *arguments: str) -> str:
        return self.succeed("up", "--yes", "--skip-preview", *arguments)


MakeProject = Callable[..., Project]
