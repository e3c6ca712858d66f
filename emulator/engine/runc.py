"""Runs runc inside a sandbox's namespaces, and reads what it says."""

import contextlib
import json
import os
from dataclasses import dataclass

from .confine import STAGE, close_all_but

NAME = "sandbox"
STATE = f"{STAGE}/state"
_REASON = f"{STAGE}/reason"
_PREAMBLE = "runc run failed: unable to start container process: "


@dataclass(frozen=True)
class Runc:
    """How it is run: within the group of its sandbox, by open `cgroup.procs` files, where there is one."""

    groups: tuple[int, ...]

    def begin(self, command: list[str], stdio: tuple[int, int, int]) -> int:
        """Begin a command of it; its process id. Output of -1 is nothing."""
        pid = os.fork()
        if pid:
            return pid
        try:
            for handle in self.groups:
                os.write(handle, b"0")
            null = os.open("/dev/null", os.O_RDWR)
            for target, handle in enumerate(stdio):
                os.dup2(null if handle < 0 else handle, target)
            close_all_but(())
            argv = ["runc", "--root", STATE, "--log", _REASON, "--log-format", "json", *command]
            os.execve(f"{STAGE}/runc", argv, {"PATH": os.defpath})  # noqa: S606 - there is no shell to prefer
        finally:
            os._exit(127)


def reason(program: str) -> str:
    """Why runc did not start a program, in its own words."""
    with contextlib.suppress(OSError, ValueError):
        with open(_REASON, encoding="utf-8") as file:
            said = [json.loads(line) for line in file]
        told = [each["msg"] for each in said if each["level"] in ("error", "fatal")]
        if told:
            return str(told[-1]).removeprefix(_PREAMBLE)
    return f"runc did not start {program} and did not say why"


def forget_reason() -> None:
    """Remove what it has said; the stage is small."""
    with contextlib.suppress(FileNotFoundError):
        os.truncate(_REASON, 0)


def exit_code(status: int) -> int:
    """The exit code of a process that was waited for, or 128 and the signal that ended it."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
