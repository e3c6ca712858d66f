"""A stand-in for a deployed Worker: it knows the answers the smoke steps ask for, and can be broken in one place.

It is no Worker: commands are recognised, not run. `Deployment` is the stand-in, `serving` puts it on a loopback port.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

KEY = "sbx_the-key-of-the-stand-in"
API = "api.sandbox.localhost"
PREVIEW = "preview.sandbox.localhost"
ID = "smoke-abcdefghijklmnopqrstuvwxyz"
TOKEN = "goodtoken"
OPERATIONS = ("createSandbox", "exec", "readFile", "createSession", "runCode", "startProcess", "exposePort")
STATUS = {
    "containers_missing": 503,
    "forbidden": 403,
    "internal": 500,
    "invalid_request": 400,
    "not_configured": 501,
    "not_found": 404,
    "unauthenticated": 401,
    "unavailable": 503,
    "unknown_kind": 400,
}


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    method: str
    host: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any

    def __str__(self) -> str:
        short = re.sub(r"/smoke-[0-9a-z]+", "", self.path.removeprefix("/v1/sandboxes"))
        return f"{self.method} {short or '/'}"


Break = Callable[[Reply], Reply | None]


def as_json(value: Any, status: int = 200) -> Reply:
    return Reply(status, json.dumps(value).encode(), {"content-type": "application/json"})


def as_problem(code: str, detail: str = "", **more: Any) -> Reply:
    found = {"status": STATUS[code], "code": code, "detail": detail or f"It is {code}.", **more}
    return Reply(STATUS[code], json.dumps(found).encode(), {"content-type": "application/problem+json"})


def as_output(text: str) -> Reply:
    events = (("start", {}), ("stdout", {"data": text}), ("complete", {"exit_code": 0}))
    stream = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
    return Reply(200, stream.encode(), {"content-type": "text/event-stream"})


def as_result(stdout: str, exit_code: int = 0) -> Reply:
    found = {"success": exit_code == 0, "exit_code": exit_code, "stdout": stdout, "stderr": "", "duration_ms": 1}
    return as_json(found)


class Deployment:
    """The answers. `breaks` changes the answer to the n-th request (from 1) of the run."""

    def __init__(self, *, containers: bool = True, lacking: tuple[str, ...] = (), scopes: str = "*") -> None:
        self.containers = containers
        self.lacking = lacking
        self.scopes = scopes
        self.breaks: dict[int, Break] = {}
        self.asked: list[Asked] = []
        self.files: dict[str, str] = {}
        self.saved: dict[str, str] = {}
        self.kept: dict[str, Reply] = {}
        self.exposed = False
        self.name = ""
        self.lock = threading.Lock()

    def answer(self, asked: Asked) -> Reply | None:
        """The answer to a request; none closes the connection."""
        with self.lock:
            self.asked.append(asked)
            reply = self._preview(asked) if asked.host.endswith(PREVIEW) else self._api(asked)
            common = {"x-content-type-options": "nosniff", "cache-control": "no-store"}
            common["x-request-id"] = asked.headers.get("x-request-id", "request-1")
            reply = replace(reply, headers={**common, **reply.headers})
            change = self.breaks.get(len(self.asked))
            return change(reply) if change else reply

    def _api(self, asked: Asked) -> Reply:
        if asked.path == "/health":
            return as_json({"status": "ok"})
        if asked.headers.get("authorization") != f"Bearer {KEY}":
            return as_problem("unauthenticated")
        if asked.path.startswith("/v1/sandboxes"):
            return self._once(asked)
        fixed = {
            "/v1/openapi.json": as_json(
                {"openapi": "3.1.0", "paths": {"/": [{"operationId": each} for each in OPERATIONS]}}
            ),
            "/v1/backups": as_problem("not_configured") if "backups" in self.lacking else as_json({"backups": []}),
            "/v1/conversations": as_problem("not_configured" if "conversations" in self.lacking else "not_found"),
        }
        return fixed.get(str(asked).removeprefix("GET "), as_problem("not_found"))

    def _once(self, asked: Asked) -> Reply:
        key = asked.headers.get("idempotency-key")
        if key is None:
            return self._sandbox(asked)
        if "artifacts" in self.lacking:
            return as_problem("not_configured", "Idempotency-Key needs the bucket ARTIFACTS_BUCKET.")
        if key in self.kept:
            return replace(self.kept[key], headers={**self.kept[key].headers, "idempotency-replayed": "true"})
        reply = self._sandbox(asked)
        if reply.status < 400:
            self.kept[key] = reply
        return reply

    def _sandbox(self, asked: Asked) -> Reply:
        body = asked.body or {}
        if body.get("kind"):
            return as_problem("unknown_kind")
        if body.get("command") == 1:
            return as_problem("invalid_request", errors=[{"path": "body.command", "message": "expected string"}])
        if self.scopes != "*":
            return as_problem("forbidden", "This needs the scope lifecycle.")
        if not self.containers:
            return as_problem("containers_missing", "Sandboxes cannot start on this machine: there is no runc.")
        self.name = asked.path.removeprefix("/v1/sandboxes").strip("/").partition("/")[0] or body["name"]
        # mkdir, wait, and every deletion that is not in the table, change nothing that is asked for later.
        return ROUTES.get(str(asked), lambda *_: Reply(204))(self, asked, body)

    def run_command(self, _: Asked, body: dict[str, Any]) -> Reply:
        known = {
            "command -v node": as_result("", 1) if "node" in self.lacking else as_result("/usr/bin/node\n"),
            "cd /usr && export kept=yes": as_result(""),
            'printf "%s %s %s" "$PWD" "$kept" "$SMOKE"': as_result(f"/usr yes {self.name}"),
            'printf %s "$SMOKE"; exit 7': as_result(self.name, 7),
        }
        return known[body["command"]]

    def read(self, asked: Asked, _: dict[str, Any]) -> Reply:
        path = asked.query["path"]
        return as_json({"path": path, "content": self.files[path]}) if path in self.files else as_problem("not_found")

    def write(self, _: Asked, body: dict[str, Any]) -> Reply:
        self.files[body["path"]] = body["content"]
        return Reply(204)

    def delete(self, asked: Asked, _: dict[str, Any]) -> Reply:
        del self.files[asked.query["path"]]
        return Reply(204)

    def expose(self, _: Asked, body: dict[str, Any]) -> Reply:
        self.exposed = True
        return as_json({"port": body["port"], "url": f"http://8080-{ID}-{TOKEN}.{PREVIEW}/"}, 201)

    def unexpose(self, _: Asked, __: dict[str, Any]) -> Reply:
        self.exposed = False
        return Reply(204)

    def back_up(self, _: Asked, body: dict[str, Any]) -> Reply:
        if "backup credentials" in self.lacking:
            return as_problem("not_configured", "Backups need keys for R2.")
        self.saved = dict(self.files)
        return as_json({"backup": "backup-1", "directory": body["directory"], "name": body["name"]}, 201)

    def restore(self, _: Asked, __: dict[str, Any]) -> Reply:
        self.files = dict(self.saved)
        return as_json({"backup": "backup-1", "directory": "/workspace/smoke"})

    def _preview(self, asked: Asked) -> Reply:
        if "access" in self.lacking:
            return as_problem("unauthenticated", "This preview is behind Cloudflare Access.")
        if asked.host == f"8080-{ID}-{TOKEN}.{PREVIEW}" and self.exposed:
            return Reply(200, self.name.encode(), {"content-type": "text/plain"})
        return as_problem("not_found")


Route = Callable[[Deployment, Asked, dict[str, Any]], Reply]
ROUTES: dict[str, Route] = {
    "POST /": lambda _, __, body: as_json({"name": body["name"], "kind": "default", "id": ID}, 201),
    "POST /exec": Deployment.run_command,
    "POST /exec/stream": lambda _, __, body: as_output(body["argv"][2]),
    "GET /files": Deployment.read,
    "PUT /files": Deployment.write,
    "DELETE /files": Deployment.delete,
    "GET /files/list": lambda *_: as_json({"files": [{"name": "file"}]}),
    "POST /sessions": lambda _, __, body: as_json({"session": body["id"]}, 201),
    "POST /code/contexts": lambda _, __, body: as_json({"context": "context-1", "language": body["language"]}, 201),
    "POST /code": lambda _, __, body: as_json({"stdout": "42\n" if "n * 7" in body["code"] else "", "results": []}),
    "POST /processes": lambda _, __, body: as_json({"process": body["id"], "status": "running"}, 201),
    "GET /processes/short/logs/stream": lambda self, *_: as_output(f"{self.name}\n"),
    "GET /processes/long": lambda *_: as_json({"process": "long", "status": "running"}),
    "POST /ports": Deployment.expose,
    "GET /ports": lambda *_: as_json({"ports": [{"port": 8080}]}),
    "DELETE /ports/8080": Deployment.unexpose,
    "POST /backups": Deployment.back_up,
    "POST /backups/backup-1/restore": Deployment.restore,
}


class _Handler(BaseHTTPRequestHandler):
    deployment: Deployment

    def _serve(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        host = (self.headers["host"] or "").partition(":")[0]
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.deployment.answer(Asked(self.command, host, parts.path, query, headers, body))
        if reply is None:
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 - the names the library calls

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that goes away is part of some tests."""


@contextmanager
def serving(deployment: Deployment) -> Iterator[str]:
    """Return the URL of the API while the stand-in listens on a loopback port."""
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"deployment": deployment}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://{API}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
