"""A sandbox of a deployed stack, through the API of this package's Worker (docs/worker/api.md)."""

from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from ..smoke.address import parse
from ..smoke.messages import Answer, Request
from ..smoke.wire import Secrets, Wire

_SECONDS: Final = 120


class SandboxError(Exception):
    """The Worker has refused something; the message has its words."""


@dataclass(frozen=True)
class Result:
    """What a command has come to."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def success(self) -> bool:
        """Whether it ended well."""
        return self.exit_code == 0


@dataclass(frozen=True)
class Sandbox:
    """A sandbox by its name; it starts with the first thing that is asked of it."""

    api_url: str
    api_key: str = field(repr=False)
    name: str

    def exec(self, command: str | list[str], *, timeout: float = 60) -> Result:
        """Run a line of the shell, or a program with its arguments."""
        given = {"command": command} if isinstance(command, str) else {"argv": command}
        found = self.ask("POST", "/exec", {**given, "timeout_ms": int(timeout * 1000)}).json
        return Result(found["exit_code"], found["stdout"], found["stderr"])

    def write_file(self, path: str, content: str) -> None:
        """Write a text file."""
        self.ask("PUT", "/files", {"path": path, "content": content})

    def read_file(self, path: str) -> str:
        """Read a text file."""
        return str(self.ask("GET", f"/files?path={quote(path)}").json["content"])

    def destroy(self) -> None:
        """End it and forget what it holds; one that never started is fine."""
        self.ask("DELETE", "")

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        """Ask for anything of the API below `/v1/sandboxes/NAME`; raise SandboxError where it is refused."""
        wire = Wire(parse(self.api_url), Secrets(self.api_key), _SECONDS)
        answer = wire(Request(method, f"/v1/sandboxes/{quote(self.name)}{path}", body))
        if not 200 <= answer.status < 300:
            what = f"{answer.status} {answer.problem}".strip()
            raise SandboxError(f"{method} {path or '/'} of the sandbox {self.name}: {what}: {answer.detail}")
        return answer
