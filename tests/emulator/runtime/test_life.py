"""How running Workers come and go: uploads, deletions, migrations, crashes, and what stays of their data."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.emulator.runtime import COUNTING, TRIVIAL, latencies, under_load
from testbed.emulator.control import Control
from testbed.emulator.runtime_stage import PACKAGES, SECRET, SOURCE, Stage
from tools.paths import ROOT
from tools.setup import toolchain

pytestmark = [pytest.mark.workerd, pytest.mark.usefixtures("workerd_fetched")]

TOKEN = "runtime_test_token_0123456789_0123456789"

TOO_NEW = (
    'This Worker requires compatibility date "2026-11-15", but the newest date supported by this server binary '
    'is "2026-11-11". On this machine the Worker runs with that date or an earlier one.'
)


def objects(stage: Stage) -> list[str]:
    """Namespaces that have objects on disk."""
    folder = stage.emulator.state.folder / "runtime" / "objects"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_new_upload_replaces_the_running_version(stage: Stage):
    stage.deploy("1")
    assert (stage.ask("/").json()["release"], stage.ask("/count/a").text) == ("1", "1")
    first = stage.status()
    stage.deploy("2")
    assert (stage.ask("/").json()["release"], stage.ask("/count/a").text) == ("2", "2")
    second = stage.status()
    assert (first["state"], second["state"], second["restarts"]) == ("running", "running", 0)
    assert first["pid"] != second["pid"]
    assert first["version_id"] != second["version_id"]
    assert not Path(f"/proc/{first['pid']}").exists()


def test_a_changed_secret_reaches_the_worker(stage: Stage):
    stage.deploy()
    stage.ask("/")
    path = f"/accounts/{stage.account}/workers/scripts/app/secrets"
    body = {"name": "SECRET", "type": "secret_text", "text": "another"}
    stage.raw.api("PUT", path, json=body).raise_for_status()
    assert stage.ask("/").json()["secret"] == "another"


def test_requests_under_way_are_answered_by_the_version_they_began_with(stage: Stage):
    stage.deploy("1")
    stage.ask("/")
    with stage.http.stream("GET", f"{stage.emulator.origin}/slow?ms=300", headers={"host": "app.localhost"}) as slow:
        pieces = slow.iter_bytes()
        assert next(pieces) == b"one "
        stage.deploy("2")
        assert b"".join(pieces) == b"two three"
    assert stage.ask("/").json()["release"] == "2"


def test_redeploys_under_load_lose_nothing(stage: Stage):
    """The short form of `python -m bench.emulator.runtime`."""
    counter = {"type": "durable_object_namespace", "name": "COUNTER", "class_name": "Counter"}
    given = {"compatibility_date": "2026-10-01", "bindings": [counter]}
    migrations = {"new_tag": "v1", "new_sqlite_classes": ["Counter"]}
    stage.uploads.put("app", COUNTING.replace("RELEASE", "1"), **given, migrations=migrations)

    def redeploy(release: str) -> None:
        stage.uploads.put("app", COUNTING.replace("RELEASE", release), **given)

    port = int(stage.emulator.origin.rpartition(":")[2])
    load = asyncio.run(under_load(port, "app.localhost", redeploy, 3, 2))
    assert load["requests"] >= 600
    assert (load["failed"], load["lost"]) == ([], 0)
    assert load["releases"] <= {"1", "2", "3"}  # on a busy machine the first two may be gone before they answered
    assert stage.ask("/get/x").text.startswith("3 ")


def test_a_deleted_script_stops_and_loses_its_objects(stage: Stage):
    stage.deploy()
    stage.ask("/count/a")
    pid = stage.status()["pid"]
    assert objects(stage) == [stage.uploads.classes("app")["Counter"]["id"]]
    stage.raw.api("DELETE", f"/accounts/{stage.account}/workers/scripts/app").raise_for_status()
    assert stage.ask("/").status_code == 404
    _until(lambda: not Path(f"/proc/{pid}").exists())
    _until(lambda: objects(stage) == [])


def test_a_renamed_class_keeps_its_objects_and_a_deleted_one_does_not(stage: Stage):
    stage.deploy()
    assert stage.ask("/count/a").text == "1"
    kept = stage.uploads.classes("app")["Counter"]["id"]
    code = SOURCE.replace("class Counter", "class Tally")
    others = [each for each in stage.bindings() if each["name"] != "COUNTER"]
    tally = {"type": "durable_object_namespace", "name": "COUNTER", "class_name": "Tally"}
    renamed = {"old_tag": "v1", "new_tag": "v2", "renamed_classes": [{"from": "Counter", "to": "Tally"}]}
    given = {"compatibility_date": "2026-10-01"}
    stage.uploads.put("app", code, bindings=[*others, tally], migrations=renamed, **given)
    assert stage.ask("/count/a").text == "2"
    assert objects(stage) == [kept]
    deleted = {"old_tag": "v2", "new_tag": "v3", "deleted_classes": ["Tally"]}
    stage.uploads.put(
        "app", code.replace("export class Tally", "class Tally"), bindings=others, migrations=deleted, **given
    )
    again = {"old_tag": "v3", "new_tag": "v4", "new_sqlite_classes": ["Tally"]}
    stage.uploads.put("app", code, bindings=[*others, tally], migrations=again, **given)
    assert stage.ask("/count/a").text == "1"
    assert objects(stage) == [stage.uploads.classes("app")["Tally"]["id"]]


def test_a_transferred_class_keeps_its_objects(stage: Stage):
    stage.deploy()
    assert stage.ask("/count/a").text == "1"
    moved = {"new_tag": "v1", "transferred_classes": [{"from": "Counter", "from_script": "app", "to": "Counter"}]}
    stage.deploy(name="heir", migrations=moved)
    assert stage.ask("/count/a", "heir.localhost").text == "2"


def test_a_reset_ends_everything(stage: Stage):
    stage.deploy()
    stage.ask("/count/a")
    pid = stage.status()["pid"]
    stage.raw.control("POST", "/reset")
    assert stage.ask("/").status_code == 404
    _until(lambda: not Path(f"/proc/{pid}").exists())
    _until(lambda: objects(stage) == [])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"code": "export default { fetch( { }"}, "service broken: Uncaught SyntaxError: Unexpected end of input"),
        ({"code": "throw new Error('boom'); export default { fetch() {} };"}, "service broken: Uncaught Error: boom"),
        (
            {"compatibility_date": "2026-11-15"},
            TOO_NEW,
        ),
    ],
)
def test_a_worker_that_cannot_start_says_why(stage: Stage, change: dict[str, Any], reason: str):
    code = change.pop("code", "export default { fetch() { return new Response('well') } };")
    given = {"compatibility_date": "2026-10-01", **change}
    if "Unexpected" in reason:  # the upload itself would be refused: a version is stored beside it
        stage.uploads.put("broken", "export default { fetch() {} };", **given)
        _replace_module(stage, code)
    else:
        stage.uploads.put("broken", code, **given)
    answer = stage.ask("/", "broken.localhost")
    assert answer.status_code == 500
    assert answer.text.startswith("error code: 1101\n\nThe Worker broken does not start: service broken: ")
    assert reason in answer.text
    told = stage.status("broken")
    assert (told["state"], told["pid"]) == ("failed", None)
    assert reason in told["error"]
    stage.uploads.put("broken", "export default { fetch() { return new Response('fixed') } };")
    assert stage.ask("/", "broken.localhost").text == "fixed"


def _replace_module(stage: Stage, code: str) -> None:
    state = stage.emulator.state
    digest = state.store.everywhere("worker_version")[0][2]["modules"][0]["sha256"]
    state.blobs.path(digest).write_text(code)


def test_a_killed_workerd_comes_back_with_its_objects(stage: Stage):
    stage.deploy()
    assert stage.ask("/count/a").text == "1"
    for turn in (2, 3):
        os.kill(stage.status()["pid"], signal.SIGKILL)
        assert _answered(stage, "/count/a") == str(turn)
    assert stage.status()["restarts"] == 2


def test_half_an_answer_is_not_taken_for_a_whole_one(stage: Stage):
    stage.deploy()
    stage.ask("/")
    pid = stage.status()["pid"]
    with stage.http.stream("GET", f"{stage.emulator.origin}/slow?ms=60000", headers={"host": "app.localhost"}) as slow:
        pieces = slow.iter_bytes()
        assert next(pieces) == b"one "
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(httpx.RemoteProtocolError):
            next(pieces)


def _answered(stage: Stage, path: str) -> str:
    """The first answer of the new process: one that comes before the end was noticed is a 502 that says so."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        answer = stage.ask(path)
        if answer.status_code == 200:
            return answer.text
        expected = "error code: 1101\n\nThe runtime of the Worker app ended before it answered.\n"
        assert (answer.status_code, answer.text) == (502, expected)
    raise AssertionError("it did not come back")


def _until(holds: Any) -> None:
    for _ in range(1200):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen within a minute")


@contextmanager
def program(state: Path) -> Iterator[tuple[subprocess.Popen[str], Stage]]:
    """The emulator as a program."""
    argv = [sys.executable, "-m", "emulator", "--port", "0", "--state", str(state)]
    process = subprocess.Popen(
        [*argv, "--packages", str(PACKAGES), "--node", str(toolchain.load().node)],
        cwd=ROOT,
        env={**os.environ, "CLOUDFLARE_API_TOKEN": TOKEN},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        url = process.stdout.readline().strip()
        headers = {"authorization": f"Bearer {TOKEN}"}
        account = httpx.get(f"{url}/accounts", headers=headers).json()["result"][0]["id"]
        handle = _Handle(url, account)
        yield process, Stage(Control(handle, TOKEN))  # type: ignore[arg-type]
    finally:
        process.kill()
        process.communicate()


class _Handle:
    """As much of a running emulator as a stage needs."""

    def __init__(self, url: str, account: str) -> None:
        self.url = url
        self.account_id = account
        self.token = TOKEN
        self.origin = url.removesuffix("/client/v4")


def test_a_killed_emulator_takes_workerd_along_and_comes_back_whole(tmp_path: Path):
    with program(tmp_path) as (process, stage):
        stage.prepare()
        stage.deploy()
        stage.ask("/count/a")
        stage.ask("/r2/thing", method="PUT", content=b"kept")
        stage.ask("/kv/note", method="PUT", content=b"kept too")
        pid = stage.status()["pid"]
        process.send_signal(signal.SIGKILL)
        process.wait()
        _until(lambda: not Path(f"/proc/{pid}").exists())
    with program(tmp_path) as (process, stage):
        time.sleep(1.2)  # until the sweep has removed what nobody needs
        assert stage.ask("/count/a").text == "2"
        assert stage.ask("/r2/thing").text == "kept"
        assert stage.ask("/kv/note").json()["value"] == "kept too"
        pid = stage.status()["pid"]
        process.terminate()
        assert process.wait(60) == 0
        assert not Path(f"/proc/{pid}").exists()


def test_the_router_takes_less_than_a_millisecond_of_a_processor(tmp_path: Path):
    """So a thousand requests a second leave one of two cores to workerd; time on the clock depends on the machine."""
    count = 2000
    with program(tmp_path) as (process, stage):
        stage.uploads.put("trivial", TRIVIAL, compatibility_date="2026-10-01")
        port = int(stage.emulator.origin.rpartition(":")[2])
        asyncio.run(latencies(port, "trivial.localhost", 200))
        before = _processor_seconds(process.pid)
        asyncio.run(latencies(port, "trivial.localhost", count))
        assert (_processor_seconds(process.pid) - before) / count < 0.001


def _processor_seconds(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def test_everything_listens_on_loopback_and_no_secret_is_on_disk(tmp_path: Path):
    with program(tmp_path) as (process, stage):
        stage.prepare()
        stage.deploy()
        assert stage.ask("/").json()["secret"] == SECRET
        pid = stage.status()["pid"]
        listening = [line for each in (process.pid, pid) for line in _listeners(each)]
        assert listening
        assert {address for address, _ in listening} == {"0100007F"}  # 127.0.0.1
        for name in ("cmdline", "environ"):
            assert SECRET.encode() not in Path(f"/proc/{pid}/{name}").read_bytes()
        assert TOKEN.encode() not in Path(f"/proc/{pid}/environ").read_bytes()
        found = [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
        assert found == []


def _listeners(pid: int) -> list[tuple[str, str]]:
    """Addresses a process listens on, in the kernel's hexadecimal."""
    inodes = set()
    for handle in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            inodes.add(str(handle.readlink()).removeprefix("socket:[").removesuffix("]"))
    found = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes and (fields[3] == "0A" or table.startswith("udp")):
                address, _, port = fields[1].partition(":")
                found.append((address, port))
    return found
