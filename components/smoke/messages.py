"""What goes to the Worker, what comes back, and the three ways a step can end. Holds no secrets: `wire` adds those."""

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

# What a request may prove itself with: everything given, the Access service token alone, or nothing.
Credential = Literal["all", "access", "none"]
_SHOWN: Final = 160


@dataclass(frozen=True)
class Request:
    """One request; `host` names a preview host where it is not for the API."""

    method: str
    path: str
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    credential: Credential = "all"
    host: str | None = None


@dataclass(frozen=True)
class Answer:
    """What came back; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def media_type(self) -> str:
        """The content type without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def text(self) -> str:
        """The body as text; what is not UTF-8 is marked."""
        return self.body.decode("utf-8", "replace")

    @property
    def json(self) -> Any:
        """The body as JSON, or nothing."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def problem(self) -> str:
        """The code of a problem, or nothing where it is none."""
        found = self.json if self.media_type == "application/problem+json" else None
        return str(found.get("code", "")) if isinstance(found, dict) else ""

    @property
    def detail(self) -> str:
        """What a problem says of itself."""
        return printable(str(self.json.get("detail", ""))) if self.problem else ""

    def __str__(self) -> str:
        shown = f"{self.problem}: {self.detail}" if self.problem else printable(self.text)
        place = self.headers.get("location", "").partition("?")[0]
        parts = [
            str(self.status),
            f"to {printable(place)}, redirects are not followed" if place else shown or "no body",
        ]
        if request_id := self.headers.get("x-request-id"):
            parts.append(f"(request id {printable(request_id)})")
        return " ".join(parts)


def printable(text: str) -> str:
    """Text from outside as one short line that cannot steer a terminal."""
    line = "".join(each if each.isprintable() else " " for each in text[: 4 * _SHOWN])
    line = " ".join(line.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


class FailedError(Exception):
    """The deployment did not answer as it must."""

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(f"expected {expected}; got {got}")
        self.expected = expected
        self.got = got


class NotRunError(Exception):
    """A step cannot be taken: what is missing, and how to get it."""

    def __init__(self, missing: str, remedy: str) -> None:
        super().__init__(f"{missing}; {remedy}")
        self.missing = missing
        self.remedy = remedy


class NoAnswerError(Exception):
    """No whole answer came back."""


class UnreachableError(NoAnswerError):
    """Nobody answers at that address."""


# A step asks by yielding requests, is given the answers, and returns what later steps need to know.
Talk = Generator[Request, Answer, dict[str, str]]
