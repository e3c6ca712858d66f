"""The cache is complete or absent, whatever happens."""

import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools import cache
from tools.paths import cache_root
from tools.progress import Board

ROOT = Path(__file__).resolve().parents[2]

# Writes two halves of a tool with a pause between them, and a line in a log each time it really works.
SLOW = """
import sys, time
from pathlib import Path
from tools import cache
from tools.progress import Board

def produce(folder):
    with open(sys.argv[1], "a") as log:
        log.write("work\\n")
    (folder / "one").write_text("1")
    print("halfway", flush=True)
    time.sleep(float(sys.argv[2]))
    (folder / "two").write_text("2")

print(cache.entry("tool-1", produce, board=Board()), flush=True)
"""


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Board:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return Board()


def entry_folder() -> Path:
    return cache_root() / f"tool-1-{platform.system().lower()}-{platform.machine()}"


def start(log: Path, seconds: float) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", SLOW, str(log), str(seconds)]
    return subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_an_entry_is_made_once(board: Board):
    calls = []

    def produce(folder: Path) -> None:
        calls.append(folder)
        (folder / "tool").touch()

    first = cache.entry("tool-1", produce, board=board)
    assert cache.entry("tool-1", produce, board=board) == first
    assert len(calls) == 1
    assert (first / "tool").exists()


def test_a_failed_entry_leaves_nothing(board: Board):
    def produce(folder: Path) -> None:
        (folder / "half").touch()
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        cache.entry("tool-1", produce, board=board)
    assert not [path for path in cache_root().iterdir() if path.suffix != ".lock"]


@pytest.mark.usefixtures("board")
def test_two_set_ups_at_once_do_the_work_once(tmp_path: Path):
    log = tmp_path / "log"
    both = [start(log, 0.5), start(log, 0.5)]
    outputs = [process.communicate(timeout=30) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert log.read_text() == "work\n"
    assert sorted(path.name for path in entry_folder().iterdir()) == ["one", "two"]
    assert sum("tool-1 is being worked on already" in errors for _, errors in outputs) == 1


@pytest.mark.usefixtures("board")
def test_a_killed_set_up_leaves_no_half_and_the_next_one_goes_on(tmp_path: Path):
    log = tmp_path / "log"
    killed = start(log, 60)
    assert killed.stdout
    assert killed.stdout.readline() == "halfway\n"
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert not entry_folder().exists()
    assert list(cache_root().glob(".tool-1*")), "the half is still there, under another name"

    started = time.monotonic()
    following = start(log, 0)
    _, errors = following.communicate(timeout=30)
    assert following.returncode == 0, errors
    assert time.monotonic() - started < 20
    assert sorted(path.name for path in entry_folder().iterdir()) == ["one", "two"]
    assert not list(cache_root().glob(".tool-1*"))


# Starts a program that outlives it, as a build does when set-up is killed.
WITH_CHILD = """
import sys
from pathlib import Path
from tools import cache, command
from tools.progress import Board

def produce(folder):
    script = f"echo started > {sys.argv[1]}; sleep {sys.argv[2]}; echo late > {folder}/late"
    command.run(["sh", "-c", script], what="it", log="it", cwd=folder)

print(cache.entry("tool-1", produce, board=Board()), flush=True)
"""


@pytest.mark.usefixtures("board")
def test_what_a_killed_set_up_started_keeps_the_lock_until_it_ends(tmp_path: Path):
    started = tmp_path / "started"
    killed = subprocess.Popen([sys.executable, "-c", WITH_CHILD, str(started), "3"], cwd=ROOT)
    deadline = time.monotonic() + 20
    while not started.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    began = time.monotonic()
    killed.kill()
    killed.wait()
    following = start(tmp_path / "log", 0)
    _, errors = following.communicate(timeout=30)
    assert "tool-1 is being worked on already" in errors
    assert time.monotonic() - began > 2
    assert sorted(path.name for path in entry_folder().iterdir()) == ["one", "two"]


@pytest.mark.usefixtures("board")
def test_waiting_for_another_set_up_can_be_interrupted(tmp_path: Path):
    log = tmp_path / "log"
    working = start(log, 60)
    assert working.stdout
    assert working.stdout.readline() == "halfway\n"
    waiting = start(log, 0)
    assert waiting.stderr
    assert "already" in waiting.stderr.readline()
    waiting.send_signal(signal.SIGINT)
    waiting.communicate(timeout=5)
    assert waiting.returncode != 0
    working.kill()
    working.communicate()
