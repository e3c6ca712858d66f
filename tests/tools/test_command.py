import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tools import command, interrupt
from tools.errors import SetupError


@pytest.fixture(autouse=True)
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(command, "LOGS", tmp_path / "logs")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "logs"


def run(program: str, tmp_path: Path) -> None:
    command.run([sys.executable, "-c", program], what="cannot do it", log="it", cwd=tmp_path)


def test_success_is_silent_and_logged(tmp_path: Path, logs: Path, capfd: pytest.CaptureFixture[str]):
    run("print('chatter')", tmp_path)
    assert capfd.readouterr() == ("", "")
    assert (logs / "it.log").read_text() == "chatter\n"


def test_a_failure_says_what_why_and_where_to_look(tmp_path: Path):
    with pytest.raises(SetupError) as caught:
        run("print('hello'); print('ERROR: bad pin'); print('bye'); raise SystemExit(3)", tmp_path)
    expected = "cannot do it: ERROR: bad pin (exit code 3). The whole output is in logs/it.log"
    assert str(caught.value) == expected


def test_no_package_access_is_recognised(tmp_path: Path):
    with pytest.raises(SetupError, match="Check the network and the package index settings"):
        run("print('ERROR: No matching distribution found for six==1'); raise SystemExit(1)", tmp_path)


def test_a_full_disk_is_recognised(tmp_path: Path):
    with pytest.raises(SetupError, match=r"^cannot do it: the disk is full\. Free a few GB"):
        run("print('write /x: no space left on device'); raise SystemExit(1)", tmp_path)


def test_stopping_ends_what_runs_at_once_and_starts_nothing_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(interrupt, "stopping", threading.Event())
    ready = tmp_path / "ready"
    script = f"import subprocess; subprocess.run(['sh', '-c', 'touch {ready}; sleep 60'])"
    with ThreadPoolExecutor() as pool:
        running = pool.submit(run, script, tmp_path)
        while not ready.exists():
            time.sleep(0.01)
        stopped = time.monotonic()
        command.stop_all()
        with pytest.raises(SetupError, match="it was ended by signal 15"):
            running.result(timeout=60)
        assert time.monotonic() - stopped < 30
    with pytest.raises(SetupError, match="stopped: another step failed"):
        run(f"open({str(tmp_path / 'never')!r}, 'w')", tmp_path)
    assert not (tmp_path / "never").exists()


def test_a_program_that_cannot_start_is_one_sentence(tmp_path: Path):
    with pytest.raises(SetupError, match="No such file or directory: '/nowhere'"):
        command.run(["/nowhere"], what="cannot do it", log="it", cwd=tmp_path)


def test_too_little_space_is_refused_before_work_starts(tmp_path: Path):
    with pytest.raises(SetupError, match=r"has [\d.]+ GB free and 1e\+09 GB are needed\. Free space there"):
        command.require_space(tmp_path / "not" / "there" / "yet", 1e9, what="cannot build it")


def test_versions_are_read_from_what_programs_print(tmp_path: Path):
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho go version go1.26.8 linux/amd64\n")
    tool.chmod(0o755)
    assert command.version_of([str(tool)]) == (1, 26, 8)
    assert command.version_of([sys.executable, "-c", "print('none')"]) is None
    assert command.version_of(["/nowhere"]) is None


def test_an_old_program_on_path_is_not_suitable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho v20.20.2\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert command.suitable_on_path("tool", "--version", (22, 0, 0)) is None
    assert command.suitable_on_path("tool", "--version", (20, 20, 2)) == tool
    assert command.suitable_on_path("absent", "--version", (1,)) is None
