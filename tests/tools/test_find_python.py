"""`tools/python` runs before anything is installed, on whatever Python there is."""

import subprocess
import sys
from pathlib import Path

from tools.paths import ROOT

FINDER = ROOT / "tools" / "python"


def find(path: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    argv = ["/bin/sh", str(FINDER), *arguments]
    return subprocess.run(argv, env={"PATH": f"{path}", **env}, capture_output=True, text=True, check=False)


def old_python(folder: Path, name: str) -> None:
    program = folder / name
    program.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2" && exit 0\nexit 1\n')
    program.chmod(0o755)


def test_a_new_enough_python_runs_the_arguments(tmp_path: Path):
    (tmp_path / "python3.11").symlink_to(sys.executable)
    old_python(tmp_path, "python3")
    assert find(tmp_path, "-c", "print('hello')").stdout == "hello\n"


def test_the_users_choice_comes_first(tmp_path: Path):
    assert find(tmp_path, "-c", "print('hello')", PYTHON=sys.executable).stdout == "hello\n"


def test_a_choice_that_does_not_run_is_refused_and_not_replaced(tmp_path: Path):
    (tmp_path / "python3").symlink_to(sys.executable)
    done = find(tmp_path, "-c", "print('hello')", PYTHON="/no where/python")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: PYTHON is /no where/python, which is not a Python 3.11 or newer that runs. Name another one, or none.\n"
    )


def test_an_old_python_is_one_clear_sentence(tmp_path: Path):
    old_python(tmp_path, "python3")
    done = find(tmp_path, "-c", "print('hello')")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        f"error: Python 3.11 or newer is needed and none was found on PATH (seen: Python 3.9.2 at {tmp_path}/python3). "
        "Install it, or name it: PYTHON=/path/to/python3.11\n"
    )


def test_no_python_at_all_is_one_clear_sentence(tmp_path: Path):
    done = find(tmp_path)
    assert done.returncode == 1
    assert "(seen: none)" in done.stderr
    assert done.stderr.count("\n") == 1
