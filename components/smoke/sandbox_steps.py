"""The steps that need a container: one sandbox of the run's own, everything it can do, and its end.

Each is a generator that yields requests and judges the answers; see `messages.Talk`.
"""

import json
from typing import Any, Final
from urllib.parse import urlsplit

from . import expect
from .messages import Answer, FailedError, NotRunError, Request, Talk
from .steps import Known, Step

_PORT: Final = 8080
_FOLDER: Final = "/workspace/smoke"
_FILE: Final = f"{_FOLDER}/file"
_SERVER: Final = (
    "require('http').createServer((_, response) => response.end(process.env.SMOKE)).listen(Number(process.env.PORT))"
)


def _at(known: Known, rest: str) -> str:
    return f"/v1/sandboxes/{known['name']}{rest}"


def _sandbox(known: Known) -> Talk:
    answer = yield Request("POST", "/v1/sandboxes", {"name": known["name"]})
    return {"id": expect.text_of(answer, expect.holds(answer, 201, name=known["name"]), "id")}


def _exec(known: Known) -> Talk:
    body = {"command": 'printf %s "$SMOKE"; exit 7', "env": {"SMOKE": known["name"]}}
    answer = yield Request("POST", _at(known, "/exec"), body)
    expect.holds(answer, 200, success=False, exit_code=7, stdout=known["name"])
    return {}


def _stream(known: Known) -> Talk:
    answer = yield Request("POST", _at(known, "/exec/stream"), {"argv": ["printf", "%s", known["name"]]})
    expect.printed(answer, known["name"], 0)
    return {}


def _read(known: Known) -> Request:
    return Request("GET", _at(known, f"/files?path={_FILE}"))


def _files(known: Known) -> Talk:
    answer = yield Request("POST", _at(known, "/files/mkdir"), {"path": _FOLDER, "recursive": True})
    expect.succeeded(answer, 204)
    answer = yield Request("PUT", _at(known, "/files"), {"path": _FILE, "content": known["name"]})
    expect.succeeded(answer, 204)
    answer = yield _read(known)
    expect.holds(answer, 200, content=known["name"])
    answer = yield Request("GET", _at(known, f"/files/list?path={_FOLDER}"))
    if [each.get("name") for each in expect.rows(answer, expect.holds(answer, 200), "files")] != ["file"]:
        raise FailedError("a list of the one file", str(answer))
    answer = yield Request("GET", _at(known, f"/files?path={_FOLDER}/none"))
    expect.problem(answer, 404, "not_found")
    return {}


def _sessions(known: Known) -> Talk:
    body = {"id": "smoke", "env": {"SMOKE": known["name"]}}
    answer = yield Request("POST", _at(known, "/sessions"), body)
    expect.holds(answer, 201, session="smoke")
    answer = yield Request("POST", _at(known, "/exec"), {"command": "cd /usr && export kept=yes", "session": "smoke"})
    expect.holds(answer, 200, exit_code=0)
    command = 'printf "%s %s %s" "$PWD" "$kept" "$SMOKE"'
    answer = yield Request("POST", _at(known, "/exec"), {"command": command, "session": "smoke"})
    expect.holds(answer, 200, stdout=f"/usr yes {known['name']}")
    answer = yield Request("DELETE", _at(known, "/sessions/smoke"))
    expect.succeeded(answer, 204)
    return {}


def _idempotency(known: Known) -> Talk:
    request = Request(
        "POST", _at(known, "/sessions"), {"id": "once"}, headers={"idempotency-key": f"{known['name']}-once"}
    )
    answer = yield request
    expect.holds(answer, 201, session="once")
    answer = yield request
    expect.holds(answer, 201, session="once")
    if answer.headers.get("idempotency-replayed") != "true":
        raise FailedError("the first answer again, marked idempotency-replayed", str(answer))
    return {}


def _node(known: Known) -> Talk:
    answer = yield Request("POST", _at(known, "/exec"), {"command": "command -v node"})
    exit_code = expect.holds(answer, 200).get("exit_code")
    if not isinstance(exit_code, int):
        raise FailedError("exit_code in the answer", str(answer))
    if exit_code != 0:
        raise NotRunError("no node in the image", "use an official image, or install node in yours")
    return {}


def _code(known: Known) -> Talk:
    answer = yield Request("POST", _at(known, "/code/contexts"), {"language": "javascript"})
    context = expect.text_of(answer, expect.holds(answer, 201, language="javascript"), "context")
    answer = yield Request("POST", _at(known, "/code"), {"context": context, "code": "var n = 6"})
    expect.holds(answer, 200)
    answer = yield Request("POST", _at(known, "/code"), {"context": context, "code": "console.log(n * 7)"})
    found = expect.holds(answer, 200, stdout="42\n")
    if "error" in found:
        raise FailedError("a run without error", str(answer))
    return {}


def _process(known: Known) -> Talk:
    answer = yield Request("POST", _at(known, "/processes"), {"id": "short", "argv": ["echo", known["name"]]})
    expect.holds(answer, 201, process="short")
    answer = yield Request("GET", _at(known, "/processes/short/logs/stream"))
    expect.printed(answer, f"{known['name']}\n", 0)
    answer = yield Request("POST", _at(known, "/processes"), {"id": "long", "argv": ["sleep", "300"]})
    expect.holds(answer, 201, process="long")
    answer = yield Request("GET", _at(known, "/processes/long"))
    expect.holds(answer, 200, process="long", status="running")
    answer = yield Request("DELETE", _at(known, "/processes/long"))
    expect.succeeded(answer, 204)
    return {}


def _port(known: Known) -> Talk:
    environment = {"SMOKE": known["name"], "PORT": str(_PORT)}
    body: dict[str, Any] = {"id": "server", "argv": ["node", "-e", _SERVER], "env": environment}
    answer = yield Request("POST", _at(known, "/processes"), body)
    expect.holds(answer, 201, process="server")
    answer = yield Request("POST", _at(known, "/processes/server/wait"), {"port": _PORT, "timeout_ms": 20_000})
    expect.succeeded(answer, 204)
    answer = yield Request("POST", _at(known, "/ports"), {"port": _PORT})
    host = urlsplit(expect.text_of(answer, expect.holds(answer, 201, port=_PORT), "url")).hostname or ""
    if not host.startswith(f"{_PORT}-") or not host.endswith(f".{known.get('preview_host', '')}".rstrip(".")):
        raise FailedError(f"a URL of {_PORT}-… below the preview host", str(answer))
    answer = yield Request("GET", _at(known, "/ports"))
    if [each.get("port") for each in expect.rows(answer, expect.holds(answer, 200), "ports")] != [_PORT]:
        raise FailedError(f"a list of the one port {_PORT}", str(answer))
    return {"preview": host}


def _visit(known: Known, host: str) -> Request:
    # A service token goes only where the caller said that previews are, not wherever an answer points.
    return Request("GET", "/", credential="access" if "preview_host" in known else "none", host=host)


def _preview(known: Known) -> Talk:
    answer = yield _visit(known, known["preview"])
    expect.preview_open(answer)
    if expect.succeeded(answer, 200).text != known["name"]:
        raise FailedError(f"what the server in the sandbox says, {json.dumps(known['name'])}", str(answer))
    return {}


def _preview_token(known: Known) -> Talk:
    label, dot, domain = known["preview"].partition(".")
    answer = yield _visit(known, f"{label.rpartition('-')[0]}-wrong{dot}{domain}")
    expect.preview_open(answer)
    _refused(answer)
    answer = yield Request("DELETE", _at(known, f"/ports/{_PORT}"))
    expect.succeeded(answer, 204)
    answer = yield _visit(known, known["preview"])
    _refused(answer)
    return {}


def _refused(answer: Answer) -> None:
    # The sandbox answers here, in the SDK's own words.
    if answer.status != 404:
        raise FailedError("404", str(answer))


def _backup(known: Known) -> Talk:
    body = {"directory": _FOLDER, "name": known["name"], "ttl_seconds": 600}
    answer = yield Request("POST", _at(known, "/backups"), body)
    backup = expect.text_of(answer, expect.holds(answer, 201, directory=_FOLDER, name=known["name"]), "backup")
    answer = yield Request("DELETE", _at(known, f"/files?path={_FILE}"))
    expect.succeeded(answer, 204)
    answer = yield Request("POST", _at(known, f"/backups/{backup}/restore"))
    expect.holds(answer, 200, backup=backup)
    answer = yield _read(known)
    expect.holds(answer, 200, content=known["name"])
    return {}


def _destroy(known: Known) -> Talk:
    answer = yield Request("DELETE", _at(known, ""))
    expect.succeeded(answer, 204)
    return {}


SANDBOX_STEPS: Final = (
    Step("sandbox", "a sandbox starts", ("key",), _sandbox),
    Step("exec", "a command runs with its environment; output and exit code come back", ("sandbox",), _exec),
    Step("stream", "output comes as events", ("sandbox",), _stream),
    Step("files", "a file is written, read and listed", ("sandbox",), _files),
    Step("sessions", "a session keeps folder and variables", ("sandbox",), _sessions),
    Step("idempotency", "the same request twice is done once", ("sandbox", "artifact bucket"), _idempotency),
    Step("node", "the image has node, which the next steps use", ("sandbox",), _node),
    Step("code", "the interpreter runs code and keeps its state", ("node",), _code),
    Step("process", "processes run in the background, are followed and killed", ("sandbox",), _process),
    Step("port", "a server in the sandbox gets a preview URL", ("node",), _port),
    Step("preview", "the preview URL leads to the server", ("port",), _preview),
    Step("preview token", "a wrong token and a closed port are 404", ("preview",), _preview_token),
    Step("backup", "a folder is backed up and comes back", ("files", "backup bucket"), _backup),
)
DESTROY: Final = Step("destroy", "the sandbox is gone", ("sandbox",), _destroy)
