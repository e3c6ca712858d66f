"""The emulator as a program: start, stop, crash, files, refusals."""

import contextlib
import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from emulator.registry import load_services
from emulator.settings import Settings
from emulator.state import State
from emulator.table import fidelity_table
from testbed.emulator.workers_upload import parts
from tools.paths import ROOT

TOKEN = "process_test_token_0123456789_0123456789"
ENV = {**os.environ, "CLOUDFLARE_API_TOKEN": TOKEN}


def _command(state: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "emulator", "--port", "0", "--state", str(state), *options]


@contextmanager
def _program(
    state: Path, *options: str, env: dict[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen(
        _command(state, *options),
        cwd=ROOT,
        env=env or ENV,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _call(url: str, path: str, method: str = "GET", token: str = TOKEN, **options: Any) -> httpx.Response:
    return httpx.request(method, url + path, headers={"authorization": f"Bearer {token}"}, **options)


def _account(url: str, token: str = TOKEN) -> str:
    return str(_call(url, "/accounts", token=token).json()["result"][0]["id"])


def _processor_seconds() -> float:
    """What ended children have used, which does not depend on how busy the machine is."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_starts_quickly_prints_its_address_and_stops_silently(tmp_path: Path):
    used: list[float] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        before = _processor_seconds()
        with _program(tmp_path) as (process, url):
            assert url.startswith("http://127.0.0.1:")
            assert url.endswith("/client/v4")
            assert _call(url, "/user/tokens/verify").status_code == 200
            process.send_signal(number)
            assert process.wait(60) == 0
            used.append(_processor_seconds() - before)  # from start to end, with one call between
            assert process.stderr is not None
            assert process.stderr.read() == ""
    # Measured: 0.3 to 0.6 s. Neighbours on the processor only ever add, so this finds what is much slower.
    assert min(used) < 1.0


def test_state_survives_kill(tmp_path: Path):
    with _program(tmp_path) as (process, url):
        account = _account(url)
        for number in range(20):
            body = {"queue_name": f"q{number}"}
            assert _call(url, f"/accounts/{account}/queues", "POST", json=body).status_code == 200
        control = url.removesuffix("/client/v4")
        _call(control, "/_emulator/clock", "POST", json={"advance": 1000})
        process.kill()
        process.wait()
    with _program(tmp_path) as (_, url):
        queues = _call(url, f"/accounts/{account}/queues").json()["result"]
        assert [queue["queue_name"] for queue in queues] == [f"q{number}" for number in range(20)]
        clock = _call(url.removesuffix("/client/v4"), "/_emulator/clock").json()["result"]
        assert clock["offset_seconds"] == 1000


def test_a_kill_in_the_middle_of_writing_loses_nothing_acknowledged(tmp_path: Path):
    acknowledged: list[str] = []
    with _program(tmp_path) as (process, url):
        account = _account(url)

        def write() -> None:
            with httpx.Client(headers={"authorization": f"Bearer {TOKEN}"}) as client:
                for number in range(100_000):
                    name = f"q{number}"
                    client.post(f"{url}/accounts/{account}/queues", json={"queue_name": name}).raise_for_status()
                    acknowledged.append(name)

        def write_until_killed() -> None:
            with contextlib.suppress(httpx.TransportError):
                write()

        writer = threading.Thread(target=write_until_killed)
        writer.start()
        while len(acknowledged) < 50:
            time.sleep(0.01)
        process.kill()
        writer.join(10)
    state = State(Settings(), tmp_path)
    assert state.store.complaints() == []
    stored = {queue["queue_name"] for queue in state.store.select("queue", account)}
    state.close()
    assert set(acknowledged) <= stored
    assert len(stored) <= len(acknowledged) + 1


def test_a_port_in_use_is_said_in_one_sentence(tmp_path: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "emulator", "--port", str(port), "--state", str(tmp_path)]
        done = subprocess.run(command, cwd=ROOT, env=ENV, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"Port {port} on 127.0.0.1 is in use; choose another with --port.\n"


@pytest.mark.parametrize("port", ["99999", "-1", "x"])
def test_a_port_that_is_none_is_said_in_one_sentence(tmp_path: Path, port: str):
    command = [sys.executable, "-m", "emulator", "--port", port, "--state", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=ENV, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    told = done.stderr.splitlines()[-1]
    assert told.endswith(f"argument --port: {port} is not a port: it must be a number from 0 to 65535")


def test_a_state_folder_serves_one_emulator(tmp_path: Path):
    with _program(tmp_path):
        done = subprocess.run(_command(tmp_path), cwd=ROOT, env=ENV, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, f"The state folder {tmp_path} is in use by another emulator.\n")


def test_secrets_are_not_in_the_clear_on_disk(tmp_path: Path):
    with _program(tmp_path) as (_, url):
        account = _account(url)
        made = _call(url, f"/accounts/{account}/access/service_tokens", "POST", json={"name": "ci"}).json()["result"]
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    content = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert made["client_secret"].encode() not in content
    assert TOKEN.encode() not in content
    assert made["client_id"].encode() in content


def test_a_folder_open_to_others_stays_open_and_its_files_are_the_owner_s(tmp_path: Path):
    tmp_path.chmod(0o755)
    env = {name: value for name, value in ENV.items() if name != "CLOUDFLARE_API_TOKEN"}
    with _program(tmp_path, env=env) as (_, url):
        token = (tmp_path / "token").read_text()
        account = _account(url, token)
        files = parts({"bindings": [{"type": "secret_text", "name": "S", "text": "hidden"}]})
        path = f"/accounts/{account}/workers/scripts/w"
        assert _call(url, path, "PUT", token, files=files).status_code == 200
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
        modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in tmp_path.rglob("*")}
    assert {"key", "lock", "token", "state.sqlite3", "state.sqlite3-wal", "state.sqlite3-shm", "blobs"} <= set(modes)
    assert not {name: oct(mode) for name, mode in modes.items() if mode & 0o077}


def test_a_new_folder_is_the_owner_s(tmp_path: Path):
    with _program(tmp_path / "state"):
        assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700


def test_without_a_token_one_is_made_for_the_owner_only(tmp_path: Path):
    env = {name: value for name, value in ENV.items() if name != "CLOUDFLARE_API_TOKEN"}
    with _program(tmp_path, env=env) as (_, url):
        token = (tmp_path / "token").read_text()
        assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
        assert _call(url, "/user/tokens/verify", token=token).status_code == 200


def test_accounts_zones_and_tokens_from_a_file(tmp_path: Path):
    secret = tmp_path / "reader"
    secret.write_text("r" * 40 + "\n")
    config = tmp_path / "config.json"
    config.write_text(
        json.dumps(
            {
                "accounts": [{"id": "a" * 32, "name": "First", "zones": ["first.example"]}, {"id": "b" * 32}],
                "tokens": [{"name": "reader", "file": str(secret), "permissions": ["Queues Read"]}],
            }
        )
    )
    with _program(tmp_path / "state", "--account-config", str(config)) as (_, url):
        assert [found["id"] for found in _call(url, "/accounts").json()["result"]] == ["a" * 32, "b" * 32]
        assert [zone["name"] for zone in _call(url, "/zones").json()["result"]] == ["first.example"]
        queues = f"/accounts/{'a' * 32}/queues"
        assert _call(url, queues, token="r" * 40).status_code == 200
        assert _call(url, queues, "POST", token="r" * 40, json={"queue_name": "q"}).status_code == 403


def test_a_bad_configuration_is_told_whole(tmp_path: Path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"accounts": [{"id": "short"}], "nonsense": 1}))
    command = _command(tmp_path / "state", "--account-config", str(config))
    done = subprocess.run(command, cwd=ROOT, env=ENV, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    problems = "accounts[0].id has an invalid format; nonsense is not a known field"
    assert done.stderr == f"Account configuration {config}: {problems}\n"


def test_a_token_clients_would_refuse_is_refused(tmp_path: Path):
    env = {**ENV, "CLOUDFLARE_API_TOKEN": "short"}
    done = subprocess.run(_command(tmp_path), cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "must be 40 to 80 letters, digits, - or _" in done.stderr


def test_the_table_comes_from_the_declarations():
    command = [sys.executable, "-m", "emulator", "table"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    services = load_services()
    assert done.stdout == fidelity_table(services)
    for service in services:
        for operation in service.operations:
            if operation.base == "/client/v4":
                assert f"| `{operation.method} {operation.path}` | {operation.fidelity} |" in done.stdout


def test_a_state_that_cannot_be_used_is_one_sentence(tmp_path: Path):
    (tmp_path / "state.sqlite3").write_bytes(b"not a database, whatever its name says" * 100)
    done = subprocess.run(_command(tmp_path), cwd=ROOT, env=ENV, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"Cannot use the state folder {tmp_path}: file is not a database. Fix it, or name another.\n"


def test_it_may_open_many_files(tmp_path: Path):
    """Whatever limit it was started with, as far as that may be raised."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    try:
        with _program(tmp_path) as (process, _):
            assert resource.prlimit(process.pid, resource.RLIMIT_NOFILE) == (min(65_536, before[1]), before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
