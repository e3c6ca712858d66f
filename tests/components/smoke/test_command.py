"""The command line: what it prints, how it ends, and that the lines it prints work as pasted."""

import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from components.cli import main
from components.smoke import address, curl
from tests import ports
from tests.components.smoke.stand_in import KEY, PREVIEW, Deployment, Reply, as_problem, serving
from tools.paths import ROOT

GOLDEN = Path(__file__).parent / "golden"
SECRETS = ("SANDBOX_API_KEY", "CF_ACCESS_CLIENT_ID", "CF_ACCESS_CLIENT_SECRET")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in SECRETS:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.fixture
def key_file(tmp_path: Path) -> str:
    (tmp_path / "key").write_text(f"{KEY}\n")
    return str(tmp_path / "key")


def broken() -> Deployment:
    found = Deployment(lacking=("node",))
    found.breaks[13] = lambda _: as_problem("internal", "Something went wrong.")
    return found


def settled(text: str, key_file: str) -> str:
    """What differs from run to run, made equal."""
    text = re.sub(r"smoke-[0-9a-f]{16}", "smoke-NAME", text.replace(key_file, "KEY-FILE"))
    text = re.sub(r"localhost:\d+", "localhost:PORT", text)
    text = re.sub(r'"ms": \d+', '"ms": 1', text)
    return re.sub(r"^(.{15}  (?:passed |failed |not run|result )) +(?:\d+|ms)?  ", r"\1  ", text, flags=re.MULTILINE)


CASES: dict[str, tuple[Callable[[], Deployment], int]] = {
    "whole": (Deployment, 0),
    "without-containers": (lambda: Deployment(containers=False), 0),
    "broken": (broken, 1),
}


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("name", CASES)
def test_what_is_printed(name: str, form: str, key_file: str, capsys: pytest.CaptureFixture):
    deployment, code = CASES[name]
    with serving(deployment()) as url:
        assert main(["smoke", url, "--key-file", key_file, "--preview-host", PREVIEW, "--format", form]) == code
    printed = capsys.readouterr()
    assert printed.err == ""
    assert KEY not in printed.out
    golden = GOLDEN / f"{name}.{'txt' if form == 'text' else 'json'}"
    assert settled(printed.out, key_file) == golden.read_text(encoding="utf-8")


def test_the_command_loads_nothing_heavy():
    probe = "import sys, components.commands.smoke; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"pulumi", "pydantic", "cloudflare", "httpx", "yaml"} & set(done.stdout.split())


def test_strict_fails_what_was_not_run(key_file: str):
    with serving(Deployment(containers=False)) as url:
        assert main(["smoke", url, "--key-file", key_file, "--strict"]) == 1


def test_without_a_key_the_command_does_not_succeed(capsys: pytest.CaptureFixture):
    with serving(Deployment()) as url:
        assert main(["smoke", url, "--preview-host", PREVIEW]) == 2
    assert (
        "To run the rest: no API key: give --key-file FILE, or the key in SANDBOX_API_KEY." in capsys.readouterr().out
    )


def test_the_key_may_come_from_the_environment(environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture):
    environment.setenv("SANDBOX_API_KEY", KEY)
    with serving(Deployment()) as url:
        assert main(["smoke", url, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["failed"] == 0


def test_each_run_has_a_sandbox_of_its_own(key_file: str):
    deployment = Deployment()
    with serving(deployment) as url:
        main(["smoke", url, "--key-file", key_file])
        main(["smoke", url, "--key-file", key_file])
    names = {asked.body["name"] for asked in deployment.asked if asked.path == "/v1/sandboxes"}
    assert len(names) == 2


def test_nobody_there_ends_with_2(capsys: pytest.CaptureFixture):
    with ports.reserved() as port:
        url = f"http://api.sandbox.localhost:{port}"
        assert main(["smoke", url]) == 2
    wanted = (
        f"{url} cannot be reached: no connection to 127.0.0.1:{port}: Connection refused; was the emulator stopped?\n"
    )
    assert capsys.readouterr() == ("", wanted)


@pytest.mark.parametrize(
    ("arguments", "given", "message"),
    [
        (["nowhere"], {}, "'nowhere' is not a URL such as https://sandbox.example.com"),
        (
            ["http://a.example"],
            {"SANDBOX_API_KEY": KEY},
            "http://a.example: the key would travel in clear; use https",
        ),
        (
            ["http://a.example"],
            {"CF_ACCESS_CLIENT_ID": "i", "CF_ACCESS_CLIENT_SECRET": "s"},
            "http://a.example: the key would travel in clear; use https",
        ),
        (
            ["https://a.example"],
            {"CF_ACCESS_CLIENT_ID": "i"},
            "CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET belong together: set both or neither",
        ),
        (
            ["https://a.example"],
            {"SANDBOX_API_KEY": "two words\r\nx: y"},
            "a key is 1 to 512 visible ASCII characters without spaces; what was given is not",
        ),
        (["https://a.example", "--key-file", "none/key"], {}, "--key-file none/key: No such file or directory"),
    ],
)
def test_usage(
    arguments: list[str],
    given: dict[str, str],
    message: str,
    environment: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
):
    for name, value in given.items():
        environment.setenv(name, value)
    assert main(["smoke", *arguments]) == 2
    assert capsys.readouterr() == ("", f"{message}\n")


@pytest.mark.parametrize("timeout", ["0", "-1", "soon", "nan", "99999"])
def test_a_timeout_that_is_none(timeout: str, capsys: pytest.CaptureFixture):
    with pytest.raises(SystemExit, match="2"):
        main(["smoke", "https://a.example", "--timeout", timeout])
    assert f"{timeout!r} is not a number of seconds from 0 to 3600" in capsys.readouterr().err


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_told_to_end_destroys_its_sandbox_and_says_130(sent: signal.Signals, key_file: str):
    deployment = Deployment()
    waiting, ended = threading.Event(), threading.Event()

    def hang(reply: Reply) -> Reply:
        deployment.lock.release()
        waiting.set()
        ended.wait(20)
        deployment.lock.acquire()
        return reply

    deployment.breaks[14] = hang
    with serving(deployment) as url:
        argv = [sys.executable, "-m", "components", "smoke", url, "--key-file", key_file, "--preview-host", PREVIEW]
        process = subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert waiting.wait(20)
            process.send_signal(sent)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
            ended.set()
    assert (process.returncode, err) == (130, "")
    assert [str(asked) for asked in deployment.asked].count("DELETE /") == 1
    assert re.search(r"^exec +passed ", out, re.MULTILINE)
    assert re.search(r"^stream +not run +the run was interrupted$", out, re.MULTILINE)


def pasted(line: str) -> str:
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True, timeout=30)
    assert done.stderr == ""
    return done.stdout


def test_the_printed_lines_work_as_pasted(tmp_path: Path):
    key_file = tmp_path / "a key's file"
    key_file.write_text(f"{KEY}\n")
    with serving(Deployment()) as url:
        # By its own name, which curl knows to be this machine, and by a name that leads nowhere.
        port = url.rpartition(":")[2]
        for place in (address.parse(url), address.parse("http://api.example.test", f"127.0.0.1:{port}")):
            lines = curl.lines(place, str(key_file))
            assert all(KEY not in line for line in lines)
            health, described, refused = [pasted(line) for line in lines]
            assert json.loads(health) == {"status": "ok"}
            assert json.loads(described)["openapi"] == "3.1.0"
            assert refused.startswith("HTTP/1.0 401 ")
            assert '"code": "unauthenticated"' in refused


def test_lines_for_a_deployment_outside():
    assert curl.lines(address.parse("https://a.example")) == [
        "curl -sS https://a.example/health",
        "printf 'Authorization: Bearer %s' \"$SANDBOX_API_KEY\" | curl -sS -H @- https://a.example/v1/openapi.json",
        "curl -sS -i https://a.example/v1/openapi.json",
    ]
