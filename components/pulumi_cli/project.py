"""Runs the `pulumi` on PATH in a project's folder, with the user's own login, backend and passphrase.

A run that fails is told as a mistake with what Pulumi said; a missing program or folder with its remedy.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from ..errors import UserError
from .state import State, read_state


class PulumiError(UserError):
    """A run of Pulumi that did not end well; the message has what it said."""


@dataclass(frozen=True)
class PulumiProject:
    """A project's folder and one of its stacks; without a name, the one that is selected."""

    folder: Path
    stack: str | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)

    def run(self, *arguments: str, timeout: float | None = None) -> subprocess.CompletedProcess[str]:
        """Run to the end with output captured; the caller judges the exit code."""
        return subprocess.run(
            self._command(arguments),
            cwd=self.folder,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def succeed(self, *arguments: str, timeout: float | None = None) -> str:
        """Run and return what it printed; a failure is a mistake that is told."""
        done = self.run(*arguments, timeout=timeout)
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip()).removeprefix("error: ")
            raise PulumiError(f"pulumi {arguments[0]}: {said or f'ended with {done.returncode}'}")
        return done.stdout

    def show(self, *arguments: str, out: TextIO, errors: TextIO | None = None) -> int:
        """Run with its words on a stream as they come; an interruption lets the engine save its state first.

        Where `errors` is given, what it says of a run that it refuses goes there.
        """
        out.flush()
        process = subprocess.Popen(
            self._command(arguments),
            cwd=self.folder,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=errors,
            process_group=0,
        )
        interrupted = False
        while True:
            try:
                code = process.wait()
            except KeyboardInterrupt:
                interrupted = True
                process.send_signal(signal.SIGINT)
                continue
            if interrupted:
                raise KeyboardInterrupt
            return code

    def state(self) -> State:
        """Return what the stack's state says."""
        return read_state(self.succeed("stack", "export"), str(self.folder))

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        if not (self.folder / "Pulumi.yaml").is_file():
            raise UserError(f"{self.folder}: has no Pulumi.yaml; go to the folder of a project, or name it")
        program = shutil.which("pulumi", path=self.environment.get("PATH", os.defpath))
        if program is None:
            raise UserError("pulumi: is not on PATH; install it, or run `sandbox-stack local env` for the one here")
        chosen = ["--stack", self.stack] if self.stack else []
        return [program, *arguments, *chosen, "--non-interactive"]
