"""What Workers reach outside: public addresses only, or a proxy that stands for the internet."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from emulator.testing import running
from testbed.emulator.control import Control
from testbed.emulator.runtime_stage import PACKAGES, Stage
from tools.setup import toolchain

pytestmark = pytest.mark.workerd

ASKS = """export default { async fetch(request) {
  const answer = await fetch(new URL(request.url).searchParams.get("for"), { method: "POST", body: "asked" });
  return new Response(`${answer.status} ${await answer.text()}`);
} };"""


class _Internet(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Say what was asked for."""
        body = f"{self.path} {self.rfile.read(int(self.headers['content-length'])).decode()}".encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def internet() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Internet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_proxy_stands_for_the_internet(tmp_path: Path, internet: str):
    with running(tmp_path, packages=PACKAGES, node=toolchain.load().node, outbound=internet) as emulator:
        stage = Stage(Control(emulator))
        stage.uploads.put("app", ASKS)
        assert stage.ask("/?for=https://model.test/v1?a=1").text == "200 https://model.test/v1?a=1 asked"


def test_without_one_this_machine_is_out_of_reach(stage: Stage, internet: str):
    stage.uploads.put("app", ASKS)
    assert stage.ask(f"/?for=http://{internet}/").status_code == 500
