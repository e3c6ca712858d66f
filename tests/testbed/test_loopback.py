"""Nothing but loopback is ever addressed: by this process, or by what tests start."""

import ast
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from testbed import loopback
from tools.local import engine
from tools.paths import ROOT
from tools.setup import toolchain

STRANGER = "192.0.2.1"  # a host that no network has


@pytest.mark.parametrize(
    "call",
    [
        lambda: socket.create_connection((STRANGER, 80), timeout=1),
        lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"hello", (STRANGER, 53)),
        lambda: socket.socket(type=socket.SOCK_DGRAM).sendmsg([b"hello"], [], 0, (STRANGER, 53)),
        lambda: socket.getaddrinfo("stranger.example", 443),
        lambda: socket.gethostbyname("stranger.example"),
        lambda: httpx.get(f"http://{STRANGER}/", trust_env=False, timeout=1),
        lambda: urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"http://{STRANGER}/", timeout=1),
    ],
    ids=["socket", "datagram", "message", "look-up", "old look-up", "httpx", "urllib"],
)
def test_a_stranger_is_not_addressed(call: Callable[[], object]):
    with pytest.raises((OSError, httpx.HTTPError, urllib.error.URLError)):
        call()
    assert loopback.addressed() in ([STRANGER], ["stranger.example"])


@pytest.mark.parametrize("call", [lambda name: socket.getaddrinfo(name, 443), socket.gethostbyname])
def test_a_name_that_nobody_can_have_is_unknown_and_nobody_is_asked(call: Callable[[str], object]):
    with pytest.raises(socket.gaierror, match="Name or service not known"):
        call("no-such-name.invalid")
    assert loopback.addressed() == []


@pytest.mark.parametrize("name", ["invalid.example", "notinvalid", "no-such-name.invalid.example"])
def test_a_name_that_merely_looks_so_is_a_strangers(name: str):
    with pytest.raises(loopback.AddressedError):
        socket.getaddrinfo(name, 443)
    assert loopback.addressed() == [name]


def programs() -> list[tuple[str, ast.If]]:
    """Return what is run as a program beside the tests, with the block that is run."""
    return [
        (path.relative_to(ROOT).as_posix(), node)
        for folder in ("bench", "docs/generators", "testbed", "tests")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"
    ]


def test_every_program_closes_itself_before_anything_else():
    found = programs()
    assert len(found) > 15
    assert [name for name, block in found if ast.unparse(block.body[0]) != "loopback.enforce()"] == []


def test_every_program_of_the_makefile_is_among_them():
    named = re.findall(r"^\t\$\(RUN\) ((?:bench|docs)[\w.]*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert len(named) > 10
    known = {name.removesuffix(".py").removesuffix("/__main__").replace("/", ".") for name, _ in programs()}
    assert [name for name in named if name not in known] == []


QUIET = f"""
import socket
def test_quiet():
    try:
        socket.create_connection(({STRANGER!r}, 80), timeout=1)
    except OSError:
        pass
"""


def test_an_address_that_somebody_swallows_fails_the_test(tmp_path: Path):
    (tmp_path / "test_quiet.py").write_text(QUIET)
    argv = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "1 passed, 1 error" in done.stdout
    assert f"assert ['{STRANGER}'] == []" in done.stdout


@pytest.mark.parametrize("host", ["localhost", "api.sandbox.localhost", "127.0.0.1", "127.8.9.1", "::1"])
def test_this_machine_may_be_addressed(host: str):
    assert loopback.is_here(host)


FETCH = {
    "python": [sys.executable, "-c", f"import urllib.request as u; u.urlopen('http://{STRANGER}/', timeout=20)"],
    "node": ["node", "-e", f"fetch('http://{STRANGER}/').catch(e => {{ console.error(e); process.exit(7); }})"],
    "npm": ["npm", "ping", f"--registry=http://{STRANGER}/", "--fetch-retries=0"],
}


@pytest.mark.parametrize("client", FETCH)
def test_what_is_started_does_not_get_out(client: str, tools_provided: toolchain.Toolchain):
    env = {**os.environ, "PATH": f"{tools_provided.node}{os.pathsep}{os.environ['PATH']}"}
    begun = time.monotonic()
    done = subprocess.run(FETCH[client], env=env, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode != 0
    assert "refused" in (done.stdout + done.stderr).lower() or "127.0.0.1:9" in done.stdout + done.stderr
    assert time.monotonic() - begun < 30, "it was refused, and did not wait for an answer"


def test_the_engine_and_its_plugins_do_not_get_out_either(isolated_engine: engine.Engine):
    assert {name: isolated_engine.env.get(name) for name in loopback.CLOSED} == loopback.CLOSED


def test_only_what_fetches_packages_is_let_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SANDBOX_TESTS_PROXIES", '{"HTTPS_PROXY": "http://proxy.of.the.house:3128"}')
    with loopback.registries():
        opened = {name: os.environ.get(name) for name in loopback.CLOSED}
    assert {name: value for name, value in opened.items() if value} == {"HTTPS_PROXY": "http://proxy.of.the.house:3128"}
    assert {name: os.environ.get(name) for name in loopback.CLOSED} == loopback.CLOSED
