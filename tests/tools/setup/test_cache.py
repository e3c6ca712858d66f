"""The cache is complete or absent, whatever happens."""

import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.orphans import eventually
from tools.paths import ROOT, cache_root
from tools.progress import Board
from tools.setup import cache

# Writes the second half of a tool when a file says so, and a line in a log each time it really works.
SLOW = """
import sys, time
from pathlib import Path
from tools.setup import cache
from tools.progress import Board

def produce(folder):
    with open(sys.argv[1], "a") as log:
        log.write("work\\n")
    (folder / "one").write_text("1")
    print("halfway", flush=True)
    while not Path(sys.argv[2]).exists():
        time.sleep(0.02)
    (folder / "two").write_text("2")

print(cache.entry("tool-1", produce, board=Board()), flush=True)
"""


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Board:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return Board()


def entry_folder() -> Path:
    return cache_root() / f"tool-1-{platform.system().lower()}-{platform.machine()}"


def start(log: Path, go_on: Path) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", SLOW, str(log), str(go_on)]
    return subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def waits(process: subprocess.Popen[str]) -> bool:
    """Read the first line it complains of."""
    assert process.stderr
    return "tool-1 is being worked on already" in process.stderr.readline()


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
    log, go_on = tmp_path / "log", tmp_path / "go-on"
    one = start(log, go_on)
    assert one.stdout
    assert one.stdout.readline() == "halfway\n"
    other = start(log, go_on)
    assert waits(other)
    go_on.touch()
    outputs = [process.communicate(timeout=60) for process in (one, other)]
    assert [one.returncode, other.returncode] == [0, 0], outputs
    assert log.read_text() == "work\n"
    assert sorted(path.name for path in entry_folder().iterdir()) == ["one", "two"]
    assert outputs[0][1] == ""


@pytest.mark.usefixtures("board")
def test_a_killed_set_up_leaves_no_half_and_the_next_one_goes_on(tmp_path: Path):
    log = tmp_path / "log"
    killed = start(log, tmp_path / "never")
    assert killed.stdout
    assert killed.stdout.readline() == "halfway\n"
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert not entry_folder().exists()
    assert list(cache_root().glob(".tool-1*")), "the half is still there, under another name"

    following = start(log, log)
    _, errors = following.communicate(timeout=60)
    assert following.returncode == 0, errors
    assert sorted(path.name for path in entry_folder().iterdir()) == ["one", "two"]
    assert not list(cache_root().glob(".tool-1*"))


# Starts a program that outlives it, as a build does when set-up is killed.
WITH_CHILD = """
import sys
from pathlib import Path
from tools import command
from tools.setup import cache
from tools.progress import Board

def produce(folder):
    wait = f"while [ ! -e {sys.argv[2]} ]; do sleep 0.05; done"
    script = f"echo started > {sys.argv[1]}; {wait}; echo late > {folder}/late"
    command.run(["sh", "-c", script], what="it", log="it", cwd=folder)

print(cache.entry("tool-1", produce, board=Board()), flush=True)
"""


@pytest.mark.usefixtures("board")
def test_what_a_killed_set_up_started_keeps_the_lock_until_it_ends(tmp_path: Path):
    started, end, log = tmp_path / "started", tmp_path / "end", tmp_path / "log"
    killed = subprocess.Popen([sys.executable, "-c", WITH_CHILD, str(started), str(end)], cwd=ROOT)
    assert eventually(started.exists)
    killed.kill()
    killed.wait()
    following = start(log, tmp_path)
    assert waits(following)
    assert not log.exists()
    end.touch()
    _, errors = following.communicate(timeout=60)
    assert following.returncode == 0, errors
    assert sorted(path.name for path in entry_folder().iterdir()) == ["one", "two"]


@pytest.mark.usefixtures("board")
def test_waiting_for_another_set_up_can_be_interrupted(tmp_path: Path):
    log = tmp_path / "log"
    working = start(log, tmp_path / "never")
    assert working.stdout
    assert working.stdout.readline() == "halfway\n"
    waiting = start(log, log)
    assert waits(waiting)
    waiting.send_signal(signal.SIGINT)
    waiting.communicate(timeout=60)
    assert waiting.returncode != 0
    working.kill()
    working.communicate()
