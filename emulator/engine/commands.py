"""Commands in a sandbox, from the inside of its namespaces: begun by runc, and then children of the supervisor."""

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field

from . import oci, runc
from .confine import STAGE
from .link import Message
from .runc import Runc

_NOT_EXECUTED = 127  # the exit code of a command that could not be started, as shells have it


@dataclass
class Commands:
    """Those of one sandbox, by the numbers of the requests for them."""

    runc: Runc
    tell: Callable[[Message], None]
    ids: Callable[[str], str]  # those of a user of the image, whom runc does not know by name
    _beginning: dict[int, int] = field(default_factory=dict)  # runc that starts a command: number of the request
    _running: dict[int, int] = field(default_factory=dict)  # command: number of the request
    _strays: dict[int, int] = field(default_factory=dict)  # what has ended before it was known: its exit code

    def execute(self, message: Message, files: list[int]) -> None:
        """Have runc start a command; when runc has ended, the command is this process's own child."""
        number = message["number"]
        stdin, stdout, stderr = files
        options = ["--detach", "--pid-file", _pid_file(number), *(f"--env={each}" for each in message["env"])]
        options += ["--cwd", message["cwd"]] if message["cwd"] else []
        try:
            options += ["--user", self.ids(message["user"])] if message["user"] else []
            pid = self.runc.begin(["exec", *options, runc.NAME, *message["argv"]], (stdin, stdout, stderr))
        except (oci.ImageError, OSError) as error:
            with contextlib.suppress(OSError):
                os.write(stderr, f"{error}\n".encode())
            self.tell({"number": number, "pid": 0, "exit": _NOT_EXECUTED})
        else:
            self._beginning[pid] = number

    def process(self, number: int) -> int | None:
        """The process of a command that has not ended."""
        return next((pid for pid, request in self._running.items() if request == number), None)

    def ended(self, pid: int, code: int) -> None:
        """Take note of a child that has ended."""
        if pid in self._beginning:
            self._begun(self._beginning.pop(pid), code)
        elif pid in self._running:
            self.tell({"event": "done", "of": self._running.pop(pid), "code": code})
        elif self._beginning:
            self._strays[pid] = code

    def _begun(self, number: int, failed: int) -> None:
        """Say that a command has begun, or why not: it has been told so in its error output."""
        pid = 0 if failed else _process_of(number)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_pid_file(number))
        if not pid:
            runc.forget_reason()
            self.tell({"number": number, "pid": 0, "exit": _NOT_EXECUTED})
        else:
            self.tell({"number": number, "pid": _inner_pid(pid)})
            if pid in self._strays:
                self.tell({"event": "done", "of": number, "code": self._strays.pop(pid)})
            else:
                self._running[pid] = number
        if not self._beginning:
            self._strays.clear()


def _pid_file(number: int) -> str:
    return f"{STAGE}/exec-{number}"


def _process_of(number: int) -> int:
    """The process of a command as runc has written it down; 0 where it had no room for that."""
    with contextlib.suppress(OSError, ValueError), open(_pid_file(number), encoding="ascii") as file:
        return int(file.read())
    return 0


def _inner_pid(pid: int) -> int:
    """What the sandbox itself calls one of its processes; 0 when it has ended and cannot be asked."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("NSpid:"):
                return int(line.split()[-1])
    return 0
