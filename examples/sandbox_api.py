"""A client of the sandbox API in one file, with the standard library alone: copy it into your own code.

It takes the address from SANDBOX_API_URL and the key from SANDBOX_API_KEY, and for an API behind Cloudflare Access a
service token from CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET. What the API refuses raises `ApiError`, and so does
an answer that leads elsewhere: the key is for this address and no other.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from http.client import HTTPResponse
from typing import Any, NoReturn
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

TIMEOUT = 300
"""Seconds for one answer: a container may have to start, and a command has up to its own limit."""


class ApiError(Exception):
    """The API has refused a request: `code` is what to act on, `request_id` leads to the Worker's log."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        self.status = status
        self.code = str(problem.get("code", "unknown"))
        self.request_id = str(problem.get("request_id", ""))
        super().__init__(f"{status} {self.code}: {problem.get('detail', 'no reason was given')}")


def call(method: str, path: str, body: object = None) -> Any:
    """Ask the API; the answer as Python has it, None where there is none."""
    content = None if body is None else json.dumps(body).encode()
    text = _send(method, _setting("SANDBOX_API_URL") + path, _credentials(), content)
    return json.loads(text) if text else None


def download(path: str) -> bytes:
    """Ask the API for bytes: a file of a sandbox, an artifact."""
    return _send("GET", _setting("SANDBOX_API_URL") + path, _credentials())


def visit(url: str) -> str:
    """Open a preview as a visitor does: without the key, which is none of its business."""
    return _send("GET", url, {}).decode()


def run(main: Callable[[], None]) -> None:
    """Run a program; what the API refuses is one line on standard error, and the exit code is 1."""
    try:
        main()
    except ApiError as error:
        sys.exit(f"{error} (request {error.request_id})")
    except URLError as error:
        sys.exit(f"{os.environ.get('SANDBOX_API_URL')} does not answer: {error.reason}")


def _credentials() -> dict[str, str]:
    found = {"Authorization": f"Bearer {_setting('SANDBOX_API_KEY')}"}
    client, secret = (os.environ.get(name) for name in ("CF_ACCESS_CLIENT_ID", "CF_ACCESS_CLIENT_SECRET"))
    if bool(client) != bool(secret):
        sys.exit("CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET belong together: set both or neither")
    if client and secret:
        found |= {"CF-Access-Client-Id": client, "CF-Access-Client-Secret": secret}
    return found


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *asked: Any) -> NoReturn:
        *_, status, _message, _headers, url = asked
        where = urlsplit(url)
        remedy = "is SANDBOX_API_URL right, and is a service token set where Cloudflare Access asks for one?"
        detail = f"the answer leads to {where.scheme}://{where.netloc}, which is not followed; {remedy}"
        raise ApiError(status, {"code": "redirected", "detail": detail})


def _send(method: str, url: str, credentials: Mapping[str, str], content: bytes | None = None) -> bytes:
    request = _request(method, url)
    request.data = content
    if content is not None:
        request.add_header("Content-Type", "application/json")
    for name, value in credentials.items():
        request.add_unredirected_header(name, value)
    try:
        answer: HTTPResponse
        with build_opener(_NoRedirects).open(request, timeout=TIMEOUT) as answer:
            return answer.read()
    except HTTPError as refused:
        raise ApiError(refused.code, _problem(refused)) from None


def _request(method: str, url: str) -> Request:
    address = urlsplit(url)
    if not (address.hostname or "").endswith(".localhost"):
        return Request(url, method=method)
    # Such names are always this machine (RFC 6761), which the resolvers of some systems do not know.
    here = address._replace(netloc=f"127.0.0.1:{address.port or 80}").geturl()
    return Request(here, method=method, headers={"Host": address.netloc})


def _problem(refused: HTTPError) -> dict[str, Any]:
    """What came with a refusal; a proxy in between answers with something else than the API does."""
    try:
        problem = json.load(refused)
    except ValueError:
        problem = None
    return problem if isinstance(problem, dict) else {}


def _setting(name: str) -> str:
    try:
        return os.environ[name]
    except KeyError:
        sys.exit(f"{name} is not set; examples/README.md says where to take it from")
