"""The steps that need no container: the door, the description and the bindings. In the order they are taken.

Each is a generator that yields requests and judges the answers; see `messages.Talk`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from . import expect
from .messages import Answer, FailedError, NotRunError, Request, Talk

Known = Mapping[str, str]
_OPERATIONS: Final = {"createSandbox", "exec", "readFile", "createSession", "runCode", "startProcess", "exposePort"}
_ACCESS_HOST: Final = ".cloudflareaccess.com"


@dataclass(frozen=True)
class Step:
    """One row of the table: its name, what a pass proves, the steps that must have passed, and the talk."""

    name: str
    proves: str
    needs: tuple[str, ...]
    talk: Callable[[Known], Talk]


def _health(_: Known) -> Talk:
    answer = yield Request("GET", "/health", credential="access")
    expect.holds(answer, 200, status="ok")
    return {}


def _headers(known: Known) -> Talk:
    given = known["name"]
    answer = yield Request("GET", "/health", headers={"x-request-id": given}, credential="access")
    wanted = {"x-request-id": given, "x-content-type-options": "nosniff", "cache-control": "no-store"}
    for name, value in wanted.items():
        if answer.headers.get(name) != value:
            raise FailedError(f"the header {name}: {value}", answer.headers.get(name, "none"))
    return {}


def _refused_by_access(answer: Answer) -> bool:
    host = urlsplit(answer.headers.get("location", "")).hostname or ""
    return answer.status == 403 or (answer.status in {302, 303} and host.endswith(_ACCESS_HOST))


def _no_key(known: Known) -> Talk:
    answer = yield Request("GET", "/v1/openapi.json", credential="none")
    if "access" not in known or not _refused_by_access(answer):
        expect.problem(answer, 401, "unauthenticated")
    return {}


def _wrong_key(known: Known) -> Talk:
    wrong = f"wrong-{known['name']}"
    headers = {"authorization": f"Bearer {wrong}"}
    answer = yield Request("GET", "/v1/openapi.json", headers=headers, credential="access")
    expect.problem(answer, 401, "unauthenticated")
    if wrong in answer.text:
        raise FailedError("an answer that does not repeat the key", str(answer).replace(wrong, "<the wrong key>"))
    return {}


def _key(known: Known) -> Talk:
    if "credential" not in known:
        raise NotRunError("no API key", "give --key-file FILE, or the key in SANDBOX_API_KEY")
    # Strangers learn nothing of what exists: only who is let in is told that there is nothing here. It needs no scope.
    answer = yield Request("GET", f"/{known['name']}")
    expect.problem(answer, 404, "not_found")
    return {}


def _openapi(_: Known) -> Talk:
    answer = yield Request("GET", "/v1/openapi.json")
    expect.holds(answer, 200, openapi="3.1.0")
    missing = sorted(each for each in _OPERATIONS if f'"{each}"' not in answer.text)
    if missing:
        raise FailedError("a description of every operation", f"one without {', '.join(missing)}")
    return {}


def _validation(known: Known) -> Talk:
    answer = yield Request("POST", f"/v1/sandboxes/{known['name']}/exec", {"command": 1})
    errors = expect.rows(answer, expect.problem(answer, 400, "invalid_request").json, "errors")
    if "body.command" not in [each.get("path") for each in errors]:
        raise FailedError("a problem that names body.command", str(answer))
    return {}


def _conversations(known: Known) -> Talk:
    answer = yield Request("GET", f"/v1/conversations/{known['name']}")
    expect.problem(answer, 404, "not_found")
    return {}


def _artifacts(known: Known) -> Talk:
    # The key is claimed in the bucket before the sandbox is looked for, and given back when there is none of that kind.
    headers = {"idempotency-key": f"{known['name']}-kind"}
    answer = yield Request("POST", "/v1/sandboxes", {"name": known["name"], "kind": "smoke-none"}, headers)
    expect.problem(answer, 400, "unknown_kind")
    return {}


def _backups(_: Known) -> Talk:
    answer = yield Request("GET", "/v1/backups")
    expect.rows(answer, expect.holds(answer, 200), "backups")
    return {}


def _preview_host(known: Known) -> Talk:
    if "preview_host" not in known:
        raise NotRunError("no preview host given", "give --preview-host HOST, the domain that preview hosts end in")
    host = f"8080-{known['name']}.{known['preview_host']}"
    answer = yield Request("GET", "/", credential="access", host=host)
    expect.preview_open(answer)
    expect.problem(answer, 404, "not_found")
    return {}


STEPS: Final = (
    Step("health", "/health answers without a key", (), _health),
    Step("headers", "the request id comes back; answers are neither cached nor sniffed", ("health",), _headers),
    Step("no key", "refused with 401", ("health",), _no_key),
    Step("wrong key", "refused with 401, the key is not repeated", ("health",), _wrong_key),
    Step("key", "the key is let in; an unknown address is 404", ("health",), _key),
    Step("openapi", "the API describes itself", ("key",), _openapi),
    Step("validation", "a wrong body is 400 and names the field", ("key",), _validation),
    Step("conversations", "the KV namespace answers", ("key",), _conversations),
    Step("backup bucket", "the R2 bucket of backups answers", ("key",), _backups),
    Step("artifact bucket", "the R2 bucket of artifacts is written", ("key",), _artifacts),
    Step("preview host", "an unknown preview is 404", ("health",), _preview_host),
)
