"""The cache is complete or absent, whatever happens."""

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

print(cache.entry("tool-1", produce, board=Board()))
"""


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Board:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return Board()


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
    assert sorted(path.name for path in (cache_root() / "tool-1").iterdir()) == ["one", "two"]
    assert sum("tool-1 is being worked on already" in errors for _, errors in outputs) == 1


@pytest.mark.usefixtures("board")
def test_a_killed_set_up_leaves_no_half_and_the_next_one_goes_on(tmp_path: Path):
    log = tmp_path / "log"
    killed = start(log, 60)
    assert killed.stdout
    assert killed.stdout.readline() == "halfway\n"
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert not (cache_root() / "tool-1").exists()

    started = time.monotonic()
    following = start(log, 0)
    _, errors = following.communicate(timeout=30)
    assert following.returncode == 0, errors
    assert time.monotonic() - started < 20
    assert sorted(path.name for path in (cache_root() / "tool-1").iterdir()) == ["one", "two"]
    assert not list(cache_root().glob(".tool-1.*"))
