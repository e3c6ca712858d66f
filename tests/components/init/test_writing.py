"""Writing: all files or none, and what is there stays."""

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from components.init.writing import in_the_way, write
from tools.paths import ROOT

FILES = {"a": "1\n", "b/c": "2\n", "b/d/e": "3\n"}


def tree(folder: Path) -> dict[str, str]:
    return {each.relative_to(folder).as_posix(): each.read_text() for each in folder.rglob("*") if each.is_file()}


@pytest.mark.parametrize("name", ["new", "new/below/others", "with a space", "日本", "-x", "x" * 200])
def test_every_file_is_written_wherever_it_is_asked_for(name: str, tmp_path: Path):
    write(tmp_path / name, FILES)
    assert tree(tmp_path / name) == FILES


def test_what_lies_in_the_way_is_told_all_at_once(tmp_path: Path):
    (tmp_path / "a").write_text("mine")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "d").write_text("a file where a folder has to be")
    (tmp_path / "b" / "c").symlink_to("nowhere")
    assert in_the_way(tmp_path, FILES) == ["a", "b/c", "b/d"]
    assert in_the_way(tmp_path / "a", FILES) == ["."]
    assert in_the_way(tmp_path / "new", FILES) == []


def test_a_link_that_leads_out_is_in_the_way(tmp_path: Path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "b").symlink_to(tmp_path / "outside")
    assert in_the_way(tmp_path / "project", FILES) == ["b"]


def test_a_file_that_comes_between_stays_and_the_rest_is_taken_back(tmp_path: Path):
    (tmp_path / "b" / "d").mkdir(parents=True)
    (tmp_path / "b" / "d" / "e").write_text("mine")
    with pytest.raises(FileExistsError):
        write(tmp_path, FILES)
    assert tree(tmp_path) == {"b/d/e": "mine"}


def test_nothing_is_left_where_nothing_can_be_made():
    with pytest.raises(OSError, match="/sys"):
        write(Path("/sys/new"), FILES)
    assert not Path("/sys/new").exists()


def full_disk() -> None:
    """Let no file become longer than 8 KiB: fails a write as a full disk does."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))


def test_a_disk_that_fills_up_leaves_nothing_and_says_so_in_one_line(tmp_path: Path):
    argv = [sys.executable, "-m", "components", "init", str(tmp_path / "a" / "new"), "--yes", "--worker", "own"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=full_disk)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("cannot be written (File too large); nothing was written\n")
    assert done.stderr.count("\n") == 1
    assert [*tmp_path.iterdir()] == []
