"""The clients in examples/ and what is built on them, against servers that answer as no deployment should."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tools.paths import ROOT

EXAMPLES = ROOT / "examples"
PYTHON = [sys.executable, "-c", "from sandbox_api import call, run; run(lambda: print(call('GET', '/health')))"]
NODE = [
    "node",
    "--input-type=module",
    "--eval",
    "import { call, run } from './sandbox_api.ts'; run(async () => console.log(await call('GET', '/health')));",
]
CLIENTS = pytest.mark.parametrize(
    "client",
    [pytest.param(PYTHON, id="Python"), pytest.param(NODE, id="TypeScript", marks=pytest.mark.engine)],
    indirect=True,
)
ACCESS = {"CF_ACCESS_CLIENT_ID": "id.access", "CF_ACCESS_CLIENT_SECRET": "hush"}


class Server(HTTPServer):
    """Answers every request alike and keeps what it was asked with."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.asked: list[dict[str, str]] = []
        self.status, self.headers, self.body = 200, {}, {"status": "ok"}  # type: tuple[int, dict[str, str], Any]
        self.key = ""
        """The only key that is let in; empty lets everybody in."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append({name.lower(): value for name, value in self.headers.items()})
        let_in = self.server.key in ("", self.headers["Authorization"].removeprefix("Bearer "))
        self.send_response(self.server.status if let_in else 401)
        body = json.dumps(self.server.body if let_in else {"code": "unauthenticated", "detail": "no"}).encode()
        for name, value in (self.server.headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_DELETE = do_GET  # noqa: N815 - names of http.server

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def client(request: pytest.FixtureRequest) -> list[str]:
    """A program that asks for the health of the API, in one of the two languages."""
    if request.param is NODE:
        request.getfixturevalue("with_node")
    return list(request.param)


@pytest.fixture
def servers() -> Iterator[tuple[Server, Server]]:
    """Two servers, of which only the first is to be asked."""
    both = Server(), Server()
    for each in both:
        Thread(target=each.serve_forever, daemon=True).start()
    yield both
    for each in both:
        each.shutdown()
        each.server_close()


def run(argv: list[str], url: str, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ACCESS}
    env = kept | {"SANDBOX_API_URL": url, "SANDBOX_API_KEY": "sk-own", "PYTHONDONTWRITEBYTECODE": "1"} | more
    return subprocess.run(argv, cwd=EXAMPLES, env=env, capture_output=True, text=True, check=False, timeout=60)


@CLIENTS
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_an_answer_that_leads_elsewhere_is_refused(servers: tuple[Server, Server], client: list[str], status: int):
    server, elsewhere = servers
    server.status, server.headers = status, {"Location": f"{elsewhere.url}/login?token=hidden"}
    done = run(client, server.url, **ACCESS)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        f"{status} redirected: the answer leads to {elsewhere.url}, which is not followed; is SANDBOX_API_URL right"
    )
    assert "hidden" not in done.stderr
    assert len(server.asked) == 1
    assert elsewhere.asked == [], "what holds the key has gone to another server"


@CLIENTS
def test_a_service_token_of_access_is_sent_where_there_is_one(servers: tuple[Server, Server], client: list[str]):
    server, _ = servers
    assert run(client, server.url).returncode == 0
    assert run(client, server.url, **ACCESS).returncode == 0
    names = ("authorization", "cf-access-client-id", "cf-access-client-secret")
    assert [[asked.get(name) for name in names] for asked in server.asked] == [
        ["Bearer sk-own", None, None],
        ["Bearer sk-own", "id.access", "hush"],
    ]


@CLIENTS
@pytest.mark.parametrize("name", ACCESS)
def test_half_a_service_token_is_none(servers: tuple[Server, Server], client: list[str], name: str):
    server, _ = servers
    done = run(client, server.url, **{name: ACCESS[name]})
    assert done.returncode == 1
    assert "CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET belong together: set both or neither" in done.stderr
    assert server.asked == []


@pytest.mark.parametrize(
    ("key", "body", "status", "said"),
    [
        ("sk-own", {"stdout": "works\n"}, 200, ""),
        ("", {"stdout": "works\n"}, 200, "a guessed key is let in\n"),
        ("", {"code": "overloaded", "detail": "later"}, 503, "503 overloaded: later (request )\n"),
        (
            "sk-own",
            {"stdout": "", "stderr": "no shell", "exit_code": 127},
            200,
            "a command ended with 127 and said '': no shell\n",
        ),
    ],
    ids=["well", "everybody is let in", "broken", "no command"],
)
def test_what_verifies_production_fails_where_it_is_not_as_it_should_be(
    servers: tuple[Server, Server], key: str, body: dict[str, object], status: int, said: str
):
    server, _ = servers
    server.key, server.status, server.body = key, status, {"status": "ok"} | body
    done = run([sys.executable, "-m", "production.verify"], server.url)
    assert (done.returncode, done.stderr) == (1 if said else 0, said)


IMPORTED = """
import worker from "./src/index.js";
const [env, authorization] = JSON.parse(process.argv[1]);
const answer = await worker.fetch(new Request("https://runner.example", { headers: { authorization } }), env);
console.log(answer.status);
"""
SDK = """
export class Sandbox {}
export const getSandbox = () => ({ exec: async () => ({ exitCode: 0, stdout: "Linux" }), destroy: async () => {} });
"""


@pytest.mark.parametrize(
    ("env", "authorization", "status"),
    [
        ({"API_KEY": "own"}, "Bearer own", 200),
        ({"API_KEY": "own"}, "Bearer other", 401),
        ({}, "Bearer undefined", 401),
        ({"API_KEY": ""}, "Bearer", 401),
    ],
    ids=["its key", "another key", "no secret", "an empty secret"],
)
@pytest.mark.engine
@pytest.mark.usefixtures("with_node")
def test_a_worker_without_its_secret_lets_nobody_in(
    tmp_path: Path, env: dict[str, str], authorization: str, status: int
):
    package = tmp_path / "node_modules/@cloudflare/sandbox"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"type": "module", "exports": "./index.js"}')
    (package / "index.js").write_text(SDK)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "src").mkdir()
    (tmp_path / "src/index.js").write_text((EXAMPLES / "from-wrangler/src/index.js").read_text())
    argv = ["node", "--input-type=module", "--eval", IMPORTED, json.dumps([env, authorization])]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == f"{status}\n", done.stderr
