"""What both stand-ins share: a server on loopback that is strict about what it is sent, and a journal.

They refuse what the real APIs refuse: no or a wrong token, a missing right, a body that is not JSON or has not the
fields, pages past what is allowed. Nobody's forge is asked.
"""

import json
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

LONGEST = 65_536
"""Characters of a comment on GitHub; GitLab takes more, which nobody here needs."""
PAGE = 100


@dataclass
class Comment:
    """A comment on a request."""

    id: int
    number: int
    body: str
    author: str
    by_stranger: bool = False


@dataclass(frozen=True)
class Asked:
    """One request in the journal."""

    method: str
    path: str
    status: int


class RefusedError(Exception):
    """A refusal, with what the API says."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


@dataclass
class Forge(ABC):
    """The state of a repository: requests by number, and their comments."""

    token: str = "stand_in_token_0123456789"
    me: str = "sandbox[bot]"
    may_write: bool = True
    requests: dict[int, str] = field(default_factory=dict)
    comments: list[Comment] = field(default_factory=list)
    journal: list[Asked] = field(default_factory=list)
    failing: int = 0
    """How many of the next requests end with 502."""
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)
    prefix: ClassVar[str] = ""
    routes: ClassVar[Sequence[tuple[str, str, str]]] = ()
    """Method, pattern of the path, and the handler's name."""

    def say(self, number: int, body: str, author: str, *, by_stranger: bool = False) -> Comment:
        """Add a comment."""
        made = Comment(len(self.comments) + 1, number, body, author, by_stranger)
        self.comments.append(made)
        return made

    def on(self, number: int) -> list[str]:
        """What is said on a request."""
        return [each.body for each in self.comments if each.number == number]

    def stumble(self) -> None:
        """Fail for a moment, where it was told to."""
        if self.failing:
            self.failing -= 1
            raise RefusedError(502, "Bad Gateway")

    def answer(self, call: "Call") -> tuple[int, Any, dict[str, str]]:
        """Answer a request; raise RefusedError to refuse it."""
        self.check(call)
        for method, pattern, name in self.routes:
            found = re.fullmatch(self.prefix + pattern, call.path)
            if found and method == call.method:
                answered: tuple[int, Any, dict[str, str]] = getattr(self, name)(call, *found.groups())
                return answered
        raise RefusedError(404, "Not Found")

    @abstractmethod
    def check(self, call: "Call") -> None:
        """Refuse who may not ask, or does not ask as one has to."""

    def write(self, call: "Call") -> str:
        """Return the text that is to be written."""
        if not self.may_write:
            raise RefusedError(403, "Resource not accessible")
        if call.headers.get("content-type", "").partition(";")[0] != "application/json":
            raise RefusedError(400, "Problems parsing JSON")
        try:
            body = json.loads(call.content)
        except ValueError:
            raise RefusedError(400, "Problems parsing JSON") from None
        said = body.get("body") if isinstance(body, dict) and set(body) == {"body"} else None
        if not isinstance(said, str) or not said.strip() or len(said) > LONGEST:
            raise RefusedError(422, "Validation Failed")
        return said

    def request(self, number: str) -> int:
        """Return the number of a request that there is."""
        if int(number) not in self.requests:
            raise RefusedError(404, "Not Found")
        return int(number)


@dataclass(frozen=True)
class Call:
    """A request to a stand-in."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    content: bytes

    def page(self, found: Sequence[Any], default: int) -> tuple[list[Any], int | None]:
        """Return the page that is asked for, and the number of the next one."""
        size = min(int(self.query.get("per_page", default)), PAGE)
        number = int(self.query.get("page", 1))
        if size < 1 or number < 1:
            raise RefusedError(400, "page and per_page begin with 1")
        return list(found[(number - 1) * size : number * size]), number + 1 if len(found) > number * size else None


@contextmanager
def serving(forge: Forge) -> Iterator[Forge]:
    """Serve a stand-in while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def serve(self) -> None:
            """Answer one request."""
            place = urlsplit(self.path)
            content = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            call = Call(self.command, place.path, dict(parse_qsl(place.query)), headers, content)
            with forge.lock:
                more: dict[str, str] = {}
                try:
                    forge.stumble()
                    status, said, more = forge.answer(call)
                except RefusedError as refused:
                    status, said = refused.status, {"message": refused.text}
                forge.journal.append(Asked(call.method, self.path, status))
            told = json.dumps(said).encode()
            self.send_response(status)
            for name, value in {"content-type": "application/json", "content-length": str(len(told)), **more}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, *_: Any) -> None:
            """Say nothing: the journal has it."""

    for verb in ("GET", "POST", "PATCH", "PUT", "DELETE"):
        setattr(Handler, f"do_{verb}", Handler.serve)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    forge.url = f"http://127.0.0.1:{server.server_port}{forge.prefix}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield forge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
